-- Which games of files the operator has imported, so that an import that was interrupted can be run again: it stores no
-- game twice. A key is the beginning of the SHA-256 of a game's text, its line in the file and its visibility. It is
-- stored by the transaction that stores the game. The rows stay: one takes about 70 bytes with its place in the index.
create table import_key (
    key uuid not null,
    constraint import_key_pkey primary key (key)
);
