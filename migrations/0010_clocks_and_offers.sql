-- Clocks and offers.
--
-- What a move changes stands first, so that it lies beside what a move changed before these columns were there.
alter table game
    -- When the side to move runs out of time; null while no time runs. In no index: every move changes it.
    add column deadline timestamptz,
    -- What else there is to the clock: the seats' banks in microseconds, and a pause. Null where there is none of it.
    add column time jsonb,
    -- The offers that wait for an answer; null if there are none.
    add column offers jsonb,
    -- When the game is to be looked at though nobody does anything. Never after the deadline, or the end of an open game,
    -- but often before: a move changes it only to an earlier moment, so that nearly every move stays a heap-only update,
    -- and whoever looks too early puts it off.
    add column wake_at timestamptz,
    -- The game in which this one was played again.
    add column rematch_game_id uuid,
    -- When an open game ends unless somebody joins.
    add column expires_at timestamptz,
    -- 'per_move 86400', 'bank 259200 3600 604800': seconds for a turn; to begin with, after each turn, and at most. Null where
    -- time is unlimited.
    add column clock text;

-- Read from its beginning, as far as the present moment.
create index game_wake_idx on game (wake_at) where wake_at is not null;

-- Games that are open already end like those that are created from now on.
update game set expires_at = created_at + interval '14 days', wake_at = created_at + interval '14 days'
where started_at is null and aborted_at is null;
