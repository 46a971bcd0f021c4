-- A player: whoever may sit in a game. Ids are UUIDv7, made by the server: ordered by time, so that inserts touch the
-- right edge of the index and not all of it.
create table player (
    id uuid not null,
    -- A player is never deleted while a game shows them: erasing makes the row a 'deleted' one without a name.
    kind text not null,
    -- What others see. Not unique: only the names of accounts will be.
    name text not null,
    created_at timestamptz not null,
    constraint player_pkey primary key (id),
    constraint player_kind_check check (kind in ('guest', 'account', 'computer', 'deleted')),
    constraint player_name_length_check check (char_length(name) between 1 and 32)
);
