-- What was played in each position of public games that ended with a result, and which games came to it.
--
-- Everything here follows from "game" and "event": `mancala-server reindex` forgets it and gathers it anew. No foreign keys: games are
-- never deleted, and whoever writes here has just read them.

-- Games that are yet to be looked at: left by the statement that ends a game. A game is here, or it is counted below, never both.
create table unexplored_game (
    game_id uuid not null,
    -- Games that ended here come first: whoever imports many, of whatever date, keeps no other waiting.
    is_imported boolean not null default false,
    -- In the order in which they came.
    number bigint generated always as identity,
    -- It could not be counted, and is looked at again then.
    put_off_until timestamptz,
    constraint unexplored_game_pkey primary key (game_id)
) with (
    -- Every row is deleted soon after it was stored.
    autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 1000
);

create index unexplored_game_next_idx on unexplored_game (is_imported, number);
create index unexplored_game_put_off_idx on unexplored_game (put_off_until) where put_off_until is not null;

-- What was played in a position, and what came of it. Found by the position alone, which is a hash: its moves lie side by side.
create table explored_move (
    -- The 64 bits of the position's key, as a signed number.
    position bigint not null,
    -- Empty: the game ended there.
    move text not null,
    -- Games in which it was played there, each counted once.
    games integer not null,
    -- Those of them that had not come to the position before with another move: added up, the games that came to it at all.
    first_visits integer not null,
    south_wins integer not null,
    north_wins integer not null,
    -- Games that were played to their end, and the sum of South's lead in them.
    played_out integer not null,
    lead_sum bigint not null,
    last_played_at timestamptz not null,
    -- The newest of the games.
    sample_game_ids uuid[] not null,
    constraint explored_move_pkey primary key (position, move)
) with (
    -- Nearly all rows are written once. Those of openings change with every batch of games, and find room on their page.
    fillfactor = 90
);

-- Which games came to a position, the newest first by reading the key backwards. That nothing is counted twice, the key guards as well.
create table explored_game (
    position bigint not null,
    game_id uuid not null,
    constraint explored_game_pkey primary key (position, game_id)
);
