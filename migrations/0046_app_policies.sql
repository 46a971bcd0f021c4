-- Whose tokens an app's players may exchange for tokens of this server: the issuers that the operator trusts for the app.
create table app_issuer (
    -- The claims "iss" and "aud" of the tokens.
    issuer text not null,
    audience text not null,
    app_id uuid not null,
    -- Where the issuer publishes its keys, or the keys themselves: one of the two. The keys are text, because only the server reads them.
    jwks_url text,
    jwks text,
    created_at timestamptz not null,
    -- A token names one app: no two trust the same issuer for the same audience. Each exchange looks its row up here.
    constraint app_issuer_pkey primary key (issuer, audience),
    constraint app_issuer_app_fkey foreign key (app_id) references app (id)
);
-- The list of apps, and the bound on the issuers of one app.
create index app_issuer_app_idx on app_issuer (app_id);

-- With whom the players of an app play, and the app's quotas; null is the default of the server.
alter table app
    -- Whether they play only with each other and with the computer.
    add column plays_within boolean not null default false,
    add column calls_per_minute integer,
    add column players_per_day integer;
-- Whether there is such an app at all, which is asked before it is asked of two players.
create index app_within_idx on app (id) where plays_within;

-- Whether two people may not play with each other, because one of them plays within an app of which the other is none. It is asked where blocks are:
-- where a game or an offer begins, and where players are found. A function, because the statements that ask would otherwise prepare to read these
-- tables each time, and without such an app none of them is read.
create function players_are_apart(one uuid, other uuid) returns boolean language plpgsql stable as $$
begin
    if not exists (select from app where plays_within) then
        return false;
    end if;
    return (select app.id from app_player join app on app.id = app_id where player_id = one and plays_within)
        is distinct from (select app.id from app_player join app on app.id = app_id where player_id = other and plays_within);
end
$$;
