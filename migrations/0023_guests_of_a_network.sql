-- Guests of one network share: making another guest costs nothing, so what is bounded for each guest is also bounded for all guests of a
-- network together. In the queues of the computer and of analyses they have one place in each round.

alter table player
    -- A keyed hash of the network from which a guest was made: the last 8 bytes of this UUID. The first 8 are zero, so it is no player's
    -- id. Null for accounts, and for guests of a server without rate limits. Deleted with a password, an erasure, and after 90 days.
    add column network uuid;
-- No index on "player": creating one also stores that the table has few rows, and a new database would plan its first joins by that.

-- Running games against the computer: a row is added with the game, and deleted some time after its end. It is no part of "game",
-- because no index on "game" may be used by so few of its rows.
create table computer_game (
    game_id uuid not null,
    player_id uuid not null,
    -- As the player's.
    network uuid,
    constraint computer_game_pkey primary key (game_id)
) with (
    autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 1000
);
-- How many games a player has, and how many the guests of a network have.
create index computer_game_player_idx on computer_game (player_id);
create index computer_game_network_idx on computer_game (network) where network is not null;

insert into computer_game (game_id, player_id)
select id, case invited_player_id when seat_0_player_id then seat_1_player_id else seat_0_player_id end
from game
where opponent = 'computer' and game_status(started_at, finished_at, aborted_at) = 'active';

alter table computer_turn
    -- Whose turn it is in a round: a player's id, or the network of its guests.
    add column round_key uuid,
    -- The order within a round. A guest's turn counts as a little younger than it is.
    add column order_at timestamptz not null default now();
create index computer_turn_order_idx on computer_turn (round, order_at);
create index computer_turn_key_idx on computer_turn (round_key, round);

alter table analysis_request
    add column round_key uuid,
    add column order_at timestamptz not null default now(),
    -- The plies that were judged before the request gave way to others: {"ply", "edition", "done", "plies"}.
    add column partial jsonb;
update analysis_request set round_key = player_id, order_at = requested_at;
create index analysis_request_order_idx on analysis_request (round, order_at) where not has_failed;
create index analysis_request_key_idx on analysis_request (round_key, round) where not has_failed;

-- As the player's: how many webhooks the guests of a network have.
alter table webhook add column network uuid;
create index webhook_network_idx on webhook (network) where network is not null;
