-- The logs of finished games at rest: one row of some hundred bytes in place of about a hundred bytes for each event.
--
-- The job "archive" folds the log of a game into a row of "archived_log" some days after its end, and deletes its rows of "event" in the
-- same transaction. What is appended later stands in "event" behind the archive, and is folded in with it another time. So an append
-- needs not know of the archive, and a reader joins both: the archive has the events 1 to "events", and "event" has those after them.
--
-- This migration leaves the release before running. The first archive excludes it: see "archive_state".

create table archived_log (
    game_id uuid not null,
    -- The time of the last event in it, and the transaction that had stored that event. The events of a player are found by them. A reader that
    -- has seen the last event has seen all before it.
    last_at timestamptz not null,
    written_by xid not null,
    -- How many events it has: the seq of the last one.
    events integer not null,
    -- The first byte is the version of the form. It is dense already: PostgreSQL need not try to compress it.
    log bytea not null,
    -- No other index: every query concerns given games. No foreign key, as "event" has none.
    constraint archived_log_pkey primary key (game_id)
);
alter table archived_log alter column log set storage external;

-- Games whose logs cannot be archived: their proof failed. They are left as they are, and tried again later.
create table unarchived_game (
    game_id uuid not null,
    put_off_until timestamptz not null,
    constraint unarchived_game_pkey primary key (game_id)
);

-- One row.
create table archive_state (
    is_only boolean not null default true,
    -- A server archives nothing in the first day after this: while an update is under way, servers of the release before still read "event"
    -- alone.
    migrated_at timestamptz not null default now(),
    -- While any log is archived: what schema_compatibility.least_migration was before. The first archive raises that mark to this
    -- migration, because older binaries would find no moves in an archived game; "unarchive" lowers it.
    least_migration_before bigint,
    constraint archive_state_pkey primary key (is_only),
    constraint archive_state_is_only_check check (is_only)
);
insert into archive_state default values;
