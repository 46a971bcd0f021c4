-- Apps: services of others, each with users of its own, who play here as players of the app.

-- An app has a row in "player" as well, of a kind of its own: it sits in no game, and its webhooks and stored answers belong to that row like
-- those of any player. Rows that are there have older kinds, so they are not read to check the constraint.
alter table player drop constraint player_kind_check;
alter table player add constraint player_kind_check
    check (kind in ('guest', 'account', 'computer', 'imported', 'deleted', 'app')) not valid;

create table app (
    -- The id of its row in "player".
    id uuid not null,
    -- What the operator calls it.
    name text not null,
    -- SHA-256 of its key. 256 random bits need no salt and no slow hash.
    key_hash bytea not null,
    key_since timestamptz not null,
    created_at timestamptz not null,
    disabled_at timestamptz,
    constraint app_pkey primary key (id),
    constraint app_name_key unique (name),
    -- Each call of an app finds it by its key.
    constraint app_key_hash_key unique (key_hash),
    constraint app_player_fkey foreign key (id) references player (id)
);

-- The players of an app, by its own ids of them.
create table app_player (
    app_id uuid not null,
    -- Ordered as bytes, whatever the database's locale: lists and revocations go through an app's players in this order.
    external_id text collate "C" not null,
    player_id uuid not null,
    created_at timestamptz not null,
    -- Of two requests at once for the same id, one creates the player.
    constraint app_player_pkey primary key (app_id, external_id),
    -- A player is of one app. Whether a player is of an app is asked here.
    constraint app_player_player_key unique (player_id),
    constraint app_player_app_fkey foreign key (app_id) references app (id),
    constraint app_player_player_fkey foreign key (player_id) references player (id) on delete cascade
);

-- A trigger, so that no statement that erases a player can leave this out, those of the release before included.
create function erase_app_player() returns trigger language plpgsql as $$
begin
    delete from app_player where player_id = new.id;
    return null;
end
$$;
create trigger app_player_erased after update of kind on player
    for each row when (new.kind = 'deleted' and old.kind <> 'deleted') execute function erase_app_player();

-- Whether a game of these players has notices for webhooks: of one of them, or of a player of an app, whose webhook is for all its players, also
-- for those who had no game when it was made. A function, because each append would otherwise prepare to read these tables, and only a few read
-- them: those that seat a player.
create function players_have_webhooks(players uuid[]) returns boolean language plpgsql stable as $$
begin
    return exists (select from webhook where player_id = any(players) and disabled_at is null)
        or exists (select from app_player where player_id = any(players));
end
$$;
