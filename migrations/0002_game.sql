-- A game is the fold of its events: every column of "game" follows from the rows of "event", and replaying them gives
-- this row again. The row is kept so that a move is one read and one write, whatever the length of the game.
create table game (
    id uuid not null,

    -- Fixed when the game is created.
    created_at timestamptz not null,
    variant text not null,
    preset text not null,
    -- What differs from the preset, as in a game record: 'seeds=5;pie=true'.
    options text not null,
    -- The rules that the game is pinned to for ever.
    rules_version smallint not null,
    opponent text not null,
    -- Who holds it may take the free seat. Only of games by link.
    join_code text,
    visibility text not null,
    -- The creator's seat. Seat 0 opens the game, seat 1 answers; a seat is a person, and a pie swap does not change it.
    creator_seat smallint not null,

    -- The fold.
    updated_at timestamptz not null,
    started_at timestamptz,
    finished_at timestamptz,
    aborted_at timestamptz,
    -- The last event's seq, and the guard of every append.
    version integer not null,
    -- The number of the last ply.
    ply integer not null,
    seat_0_player_id uuid,
    seat_1_player_id uuid,
    seat_0_moved boolean not null,
    seat_1_moved boolean not null,
    status text not null,
    -- The present position in text notation.
    position text not null,
    -- Present when finished; the winner is absent on a draw.
    result_winner text,
    result_reason text,
    result_score_south smallint,
    result_score_north smallint,

    constraint game_pkey primary key (id),
    constraint game_seat_0_player_fkey foreign key (seat_0_player_id) references player (id),
    constraint game_seat_1_player_fkey foreign key (seat_1_player_id) references player (id)
    -- No check constraints, here and on "event": PostgreSQL reads their text anew in every statement that writes, which
    -- cost a third of the rate of moves. What a column may hold is decided by the domain's types, which write every row,
    -- and checked when a row is read.
) with (
    -- A move changes no indexed column, so that its new row version can stay on its page (a heap-only update) if there
    -- is room: hence the free third of every page, and hence no index on updated_at, version or position.
    fillfactor = 70,
    -- Dead versions are pruned on the page by the next move; vacuum has little left to do, but should do it early.
    autovacuum_vacuum_scale_factor = 0.05
);

-- A player's games, newest first: ids are ordered by time, and seats change once (when somebody joins).
create index game_seat_0_player_idx on game (seat_0_player_id, id desc) where seat_0_player_id is not null;
create index game_seat_1_player_idx on game (seat_1_player_id, id desc) where seat_1_player_id is not null;
-- Everybody's games, newest first, are read from the primary key; those that wait for an opponent are found here without
-- passing all that do not. The condition does not name the status, which the last move of a game changes.
create index game_free_seat_idx on game (id desc)
    where visibility = 'public' and aborted_at is null and (seat_0_player_id is null or seat_1_player_id is null);

-- The log: append-only, never updated, never deleted from. It has no foreign key and no index but its key: both would
-- cost a fifth of the throughput, and an append inserts only for a game that the same statement has just updated.
create table event (
    game_id uuid not null,
    -- Never before the previous event's.
    at timestamptz not null,
    -- 1, 2, 3, … within the game.
    seq integer not null,
    -- Of a move: its number within the game, never used twice. Always less than seq, so a ply is found by the key.
    ply integer,
    -- Who acted; absent where nobody did.
    seat smallint,
    kind text not null,
    -- Of a move: what was played, and the position after it.
    move text,
    position text,
    -- What else 'created', 'joined' and 'finished' say.
    detail jsonb,
    constraint event_pkey primary key (game_id, seq)
);
