-- The columns of "game" in the order in which they change: what a move changes stands together at the end.
--
-- PostgreSQL's log leaves out what the old and the new version of a row have in common before the first difference and
-- after the last. With the moment of the last change at one end of the row and the seat to move at the other, as they
-- were, all the fixed columns between them went into the log with every move: a third of what its update wrote.
-- Servers of an older version wait until this is done, and nothing that they store meanwhile is lost.
lock table game in access exclusive mode;

create table game_in_order (
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
    invited_player_id uuid,
    visibility text not null,
    -- The creator's seat. Seat 0 opens the game, seat 1 answers; a seat is a person, and a pie swap does not change it.
    creator_seat smallint not null,

    -- The fold. What is set once, when somebody joins or when the game ends.
    seat_0_player_id uuid,
    seat_1_player_id uuid,
    started_at timestamptz,
    finished_at timestamptz,
    aborted_at timestamptz,
    -- Present when finished; the winner is absent on a draw. A winner is a side of the board, and a pie swap changes who
    -- sits there: the seat that won stands beside it.
    result_winner text,
    result_reason text,
    result_score_south smallint,
    result_score_north smallint,
    winner_seat smallint,
    status text not null,
    seat_0_moved boolean not null,
    seat_1_moved boolean not null,

    -- What every move changes: in no index.
    updated_at timestamptz not null,
    -- The last event's seq, and the guard of every append.
    version integer not null,
    -- The number of the last ply.
    ply integer not null,
    -- The event since which the rules ask for positions; null where they ask for none.
    history_from_seq integer,
    -- The seat to move while the game is active.
    turn_seat smallint,
    -- The present position in text notation.
    position text not null
) with (
    -- The free third of every page is for the new versions of rows, as it was.
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.05
);

insert into game_in_order
select id, created_at, variant, preset, options, rules_version, opponent, join_code, invited_player_id, visibility,
    creator_seat, seat_0_player_id, seat_1_player_id, started_at, finished_at, aborted_at, result_winner, result_reason,
    result_score_south, result_score_north, winner_seat, status, seat_0_moved, seat_1_moved, updated_at, version, ply,
    history_from_seq, turn_seat, position
from game order by id;

drop table game;
alter table game_in_order rename to game;

-- As they were: what each index is for, the migrations say that first made them.
alter table game
    add constraint game_pkey primary key (id),
    add constraint game_seat_0_player_fkey foreign key (seat_0_player_id) references player (id),
    add constraint game_seat_1_player_fkey foreign key (seat_1_player_id) references player (id);

create index game_invitation_received_idx on game (invited_player_id, id desc)
    where invited_player_id is not null and started_at is null and aborted_at is null;
create index game_invitation_sent_idx on game (coalesce(seat_0_player_id, seat_1_player_id), id desc)
    where invited_player_id is not null and started_at is null and aborted_at is null;
create index game_seat_0_idx on game (seat_0_player_id, game_status(started_at, finished_at, aborted_at), id desc)
    where seat_0_player_id is not null;
create index game_seat_1_idx on game (seat_1_player_id, game_status(started_at, finished_at, aborted_at), id desc)
    where seat_1_player_id is not null and seat_0_player_id is distinct from seat_1_player_id;
create index game_seat_0_finished_idx on game (seat_0_player_id, finished_at desc, id desc)
    include (winner_seat, seat_1_player_id)
    where finished_at is not null;
create index game_seat_1_finished_idx on game (seat_1_player_id, finished_at desc, id desc)
    include (winner_seat)
    where finished_at is not null and seat_0_player_id is distinct from seat_1_player_id;
create index game_pair_idx on game (
    least(seat_0_player_id, seat_1_player_id), greatest(seat_0_player_id, seat_1_player_id), id desc
) where seat_0_player_id is not null and seat_1_player_id is not null;
create index game_public_idx on game (variant, game_status(started_at, finished_at, aborted_at), id desc)
    where visibility = 'public';
create index game_public_finished_idx on game (variant, finished_at desc, id desc)
    where visibility = 'public' and finished_at is not null;

-- A table that is known to be empty would be planned without its indexes for as long as the plans are kept.
do $$
begin
    if exists (select from game) then
        analyze game;
    end if;
end
$$;
