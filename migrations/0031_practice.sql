-- Whether a game is practice against the computer: true, or null. Not `false` by default, because an import of the release before names
-- no value and stores null. It stands behind the columns that moves change, as all later ones, and never changes itself.
alter table game add column practice boolean;
-- Finished practice of a player, to be subtracted from the counts of finished games: the indexes that count those do not tell it.
create index game_seat_0_practice_idx on game (seat_0_player_id) include (winner_seat)
    where practice and finished_at is not null;
create index game_seat_1_practice_idx on game (seat_1_player_id) include (winner_seat)
    where practice and finished_at is not null;
