-- Whether a suspension stops the games that have begun: the player does not move in them, and their clocks stand. `ends_games` excludes it.
alter table player_suspension
    add column stops_games boolean not null default false,
    -- Whether clocks of the player's games may stand for a suspension, so that they are to run again when no suspension stops them.
    add column holds_clocks boolean not null default false,
    add constraint player_suspension_games_check check (not (ends_games and stops_games));

-- Those whose clocks stand: few, and read once a minute.
create index player_suspension_holding_idx on player_suspension (player_id) where holds_clocks;
