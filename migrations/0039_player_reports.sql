-- What players report about others, to be read by operators.
create table player_report (
    id uuid not null,
    reporter_id uuid not null,
    reported_id uuid not null,
    -- The names at the time of the report, so that a later name hides nothing.
    reporter_name text not null,
    reported_name text not null,
    -- The network of a reporting guest: its guests share a quota.
    network uuid,
    reason text not null,
    note text,
    -- The game that shows it, and its version at that time. No foreign key: checking it would lock a row that moves change.
    game_id uuid,
    game_version integer,
    created_at timestamptz not null,
    closed_at timestamptz,
    constraint player_report_pkey primary key (id),
    constraint player_report_reporter_fkey foreign key (reporter_id) references player (id) on delete cascade,
    constraint player_report_reported_fkey foreign key (reported_id) references player (id) on delete cascade,
    constraint player_report_game_check check ((game_id is null) = (game_version is null))
);
-- Of one player about another and the same game, one report is open.
create unique index player_report_open_key on player_report
    (reporter_id, reported_id, coalesce(game_id, '00000000-0000-0000-0000-000000000000')) where closed_at is null;
-- The quota of a day, of a reporter and of the guests of a network.
create index player_report_reporter_idx on player_report (reporter_id, created_at);
create index player_report_network_idx on player_report (network, created_at) where network is not null;
-- The reports against a player, the last one first, and what goes with that player.
create index player_report_reported_idx on player_report (reported_id, id);

-- A trigger, so that no statement that erases a player can leave this out, those of the release before included.
create function erase_player_reports() returns trigger language plpgsql as $$
begin
    delete from player_report where reporter_id = new.id or reported_id = new.id;
    return null;
end
$$;
create trigger player_reports_erased after update of kind on player
    for each row when (new.kind = 'deleted' and old.kind <> 'deleted') execute function erase_player_reports();
