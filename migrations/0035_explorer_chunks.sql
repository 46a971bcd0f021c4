-- Which games came to a position takes 8 bytes instead of a row and its place in an index: 88 bytes.
--
-- New entries are rows of "explored_game". The job of the explorer packs them into chunks: some hundred entries in binary form, in the order
-- of their positions and, within a position, of their games' ids. A reader looks at both. What servers of the release before store is
-- packed as well; they find only what is in rows.

-- Games that are counted have numbers, which are shorter than their ids. A game that has one is not counted again. Those that a server of the
-- release before counts get theirs when they are packed.
create table explored_number (
    number integer not null,
    game_id uuid not null,
    constraint explored_number_pkey primary key (number)
);

create unique index explored_number_game_idx on explored_number (game_id);

create table explored_chunk (
    -- No entry of the chunk is before this position and, in it, before this game. Those of the next chunk are not before its own. A chunk that
    -- begins with the first game of a position has an id of zeros.
    position bigint not null,
    game_id uuid not null,
    entries bytea not null,
    constraint explored_chunk_pkey primary key (position, game_id)
) with (
    -- Packing replaces chunks, one after the other.
    autovacuum_vacuum_scale_factor = 0.05
);

-- Nothing in it repeats, so it cannot be compressed.
alter table explored_chunk alter column entries set storage external;

-- Those of a reindex, which exchange their names with the tables above.
create table explored_number_next (
    like explored_number,
    constraint explored_number_next_pkey primary key (number)
);

create unique index explored_number_next_game_idx on explored_number_next (game_id);

create table explored_chunk_next (
    like explored_chunk including storage,
    constraint explored_chunk_next_pkey primary key (position, game_id)
) with (autovacuum_vacuum_scale_factor = 0.05);

-- Its rows are deleted soon after they were stored now.
alter table explored_game set (autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 10000);
alter table explored_game_next set (autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 10000);
