-- A reindex builds the explorer anew beside the one that is in use, and puts it into its place in one step. Until then readers see the
-- former figures, and servers count into them. So an interrupted reindex changes nothing, and `reindex --continue` goes on with it.
--
-- Servers of the release before do not know these tables. They find the explorer by its names, which the new tables get.

-- The new explorer. Its tables exchange their names with "explored_move" and "explored_game", and what was replaced is emptied. Made here
-- and not by the command, so that their owner is that of the others.
create table explored_move_next (
    like explored_move including defaults,
    constraint explored_move_next_pkey primary key (position, is_imported, move)
) with (fillfactor = 90);

create table explored_game_next (
    like explored_game,
    constraint explored_game_next_pkey primary key (position, game_id)
);

-- The reindex that is under way, or the last one: one row.
create table explorer_rebuild (
    is_only boolean not null default true,
    -- Of the process that works on it. Another process that takes over changes it, and then the former one stops.
    token uuid not null,
    -- The form of "visits" below. A binary with another form begins anew.
    form smallint not null,
    -- 'reading': games are read; 'loading': what was read is sorted into the new tables; 'swapped': done.
    step text not null,
    -- How many batches were stored, and the last game that was read. Games are read in the order of their ids.
    batches integer not null,
    last_game_id uuid,
    constraint explorer_rebuild_pkey primary key (is_only)
);

-- The games that were read, in batches. A game that is deleted meanwhile is taken out before the names are exchanged, and one that is
-- missing here is queued then. No index: both are found by reading all rows once.
create table explorer_rebuild_game (
    game_id uuid not null,
    batch integer not null,
    -- Otherwise it is put off in the queue, and counts nowhere.
    is_readable boolean not null
);

-- What the games of a batch add: their visits to positions, in binary form, divided by the first bits of the position. All batches of a
-- range are read together, sorted, and added to the tables and their indexes at the end. So no page is changed at random.
create table explorer_rebuild_visits (
    range smallint not null,
    batch integer not null,
    visits bytea not null,
    constraint explorer_rebuild_visits_pkey primary key (range, batch)
);

-- Half of it is hashes and random ids: it cannot be compressed.
alter table explorer_rebuild_visits alter column visits set storage external;
