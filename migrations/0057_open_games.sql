-- The lobby: how many open games a network has, and whether their creators are there.

-- The open public games of guests and of new accounts, to count them by player and by network. A row may outlast its game: counting deletes those
-- that are over, and the purge deletes the others when the game would have expired. A table of its own, because a game is kept for ever, and a
-- network is not.
create table open_game (
    game_id uuid not null,
    player_id uuid not null,
    -- That of the player when the game was opened; null if it is not known.
    network uuid,
    expires_at timestamptz not null,
    constraint open_game_pkey primary key (game_id),
    constraint open_game_player_fkey foreign key (player_id) references player (id) on delete cascade
) with (
    -- Every row is deleted soon after it was stored.
    autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 1000
);
create index open_game_player_idx on open_game (player_id);
create index open_game_network_idx on open_game (network) where network is not null;
create index open_game_expiry_idx on open_game (expires_at);

-- A player whose network is forgotten is no longer counted, and of an erased one nothing is kept, whatever release does it.
create function forget_open_games() returns trigger language plpgsql as $$
begin
    delete from open_game where player_id = new.id;
    return null;
end
$$;
create trigger open_games_forgotten after update of network, kind on player
    for each row when (old.network is not null and new.network is null or new.kind = 'deleted' and old.kind <> 'deleted')
    execute function forget_open_games();

-- When a player last got a token. A sign-in of before counts from now on. A player of an app has no sign-in.
alter table refresh_family add column token_at timestamptz not null default now();
alter table app_player add column token_at timestamptz;

-- The sign-ins of a player, as before, and whether one of them got a token of late: a seek asks that of each game that fits, and must not read all
-- sign-ins of a player for it.
create index refresh_family_token_idx on refresh_family (player_id, token_at);
drop index refresh_family_player_idx;
