-- Lists of games, each read off an index in its order and never further than a page, or a bounded scan, goes.

-- The seat that won; absent on a draw, and as long as nobody has. "result_winner" is a side of the board, and a pie swap
-- changes who sits there. Not indexed.
alter table game add column winner_seat smallint;
-- The seat to move while the game is active. A move changes it, so it is in no index: who asks for the games in which it
-- is their turn has at most a thousand active ones to look through.
alter table game add column turn_seat smallint;

-- Seat 0 sits South unless the people have swapped: flag w, the fourth field of a position.
update game
set winner_seat = case when (result_winner = 'south') = (split_part(position, ' ', 4) not like '%w%') then 0 else 1 end
where result_winner is not null;
update game
set turn_seat = case when (split_part(position, ' ', 3) = 'S') = (split_part(position, ' ', 4) not like '%w%') then 0 else 1 end
where status = 'active';

-- What the column "status" says, told from columns that change once: so an index by status is touched when a game starts
-- and when it ends, and by no move.
create function game_status(started_at timestamptz, finished_at timestamptz, aborted_at timestamptz) returns text
    language sql immutable parallel safe
    as $$
        select case
            when aborted_at is not null then 'aborted'
            when finished_at is not null then 'finished'
            when started_at is not null then 'active'
            else 'open'
        end
    $$;

-- A player's games by status, newest first; without a status, the four ranges are merged. Games against oneself are found
-- by the first seat alone, so that no list shows them twice.
drop index game_seat_0_player_idx;
drop index game_seat_1_player_idx;
create index game_seat_0_idx on game (seat_0_player_id, game_status(started_at, finished_at, aborted_at), id desc)
    where seat_0_player_id is not null;
create index game_seat_1_idx on game (seat_1_player_id, game_status(started_at, finished_at, aborted_at), id desc)
    where seat_1_player_id is not null and seat_0_player_id is distinct from seat_1_player_id;

-- A player's finished games, last finished first; with what is needed to count those won and lost without reading the games.
create index game_seat_0_finished_idx on game (seat_0_player_id, finished_at desc, id desc)
    include (winner_seat, seat_1_player_id)
    where finished_at is not null;
create index game_seat_1_finished_idx on game (seat_1_player_id, finished_at desc, id desc)
    include (winner_seat)
    where finished_at is not null and seat_0_player_id is distinct from seat_1_player_id;

-- The games of two players, whoever opened them, newest first.
create index game_pair_idx on game (
    least(seat_0_player_id, seat_1_player_id), greatest(seat_0_player_id, seat_1_player_id), id desc
) where seat_0_player_id is not null and seat_1_player_id is not null;

-- Everybody's public games by variant and status, newest first, and the finished ones, last finished first. Without a
-- variant or status, the ranges of all are merged: there are a handful. This also finds the games that wait for an
-- opponent, as the index that it replaces did.
drop index game_free_seat_idx;
create index game_public_idx on game (variant, game_status(started_at, finished_at, aborted_at), id desc)
    where visibility = 'public';
create index game_public_finished_idx on game (variant, finished_at desc, id desc)
    where visibility = 'public' and finished_at is not null;
