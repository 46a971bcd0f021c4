-- The analyses of games: what each ply was worth.

alter table game add column analysed_at timestamptz;
comment on column game.analysed_at is 'When its analysis, which may be of fewer plies than it has by now, was made.';

-- No move touches it, nor does anybody who plays: it lies beside the games.
create table analysis (
    game_id uuid not null,
    -- The last ply that the game had then.
    ply integer not null,
    -- The edition of what judges; one that is not the present one may be asked for anew.
    edition smallint not null,
    analysed_at timestamptz not null,
    -- In the order of play: an object for each ply.
    plies jsonb not null,
    constraint analysis_pkey primary key (game_id)
);

-- Analyses that somebody has asked for and that are not there yet: a few thousand at most.
create table analysis_request (
    game_id uuid not null,
    player_id uuid not null,
    requested_at timestamptz not null,
    -- Players are served in rounds, one game of each in every round: whoever asks for many waits for most of them.
    round integer not null,
    -- The last ply that the game had when it was asked for last.
    ply integer not null,
    -- How many plies there are to judge, and how many are.
    plies integer not null,
    plies_done integer not null default 0,
    -- Somebody is at it; if nothing more was heard of them by then, somebody else may.
    taken_until timestamptz,
    -- How often somebody took it and did not come to an end; and that nobody takes it any more.
    attempts smallint not null default 0,
    has_failed boolean not null default false,
    constraint analysis_request_pkey primary key (game_id)
) with (
    -- Nearly every row is deleted soon after it was stored.
    autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 1000
);
-- Who is next.
create index analysis_request_waits_idx on analysis_request (round, requested_at) where not has_failed;
-- What nobody tries any more.
create index analysis_request_failed_idx on analysis_request (requested_at) where has_failed;
-- What a player has asked for.
create index analysis_request_player_idx on analysis_request (player_id);
