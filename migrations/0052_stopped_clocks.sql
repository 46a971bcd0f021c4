-- What becomes of a suspended player's games that have begun: `play_on`, `stop` or `end`, as with a ban. It takes the place of a column that knew
-- two of them. The last release knows no suspensions.
alter table player_suspension
    add column games text not null default 'play_on',
    add constraint player_suspension_games_check check (games in ('play_on', 'stop', 'end'));
update player_suspension set games = 'end' where ends_games or until is null;
alter table player_suspension drop column ends_games;

-- Games whose clocks may stand for a suspended player. A row is stored before the clock is held, and goes an hour or more later, once it is not. So a
-- job finds each held clock that is to run again, whatever became of the suspension and of the seats.
create table held_game (
    game_id uuid not null,
    since timestamptz not null,
    constraint held_game_pkey primary key (game_id),
    constraint held_game_game_fkey foreign key (game_id) references game (id) on delete cascade
);
