-- What brings a player back whose tokens are lost, and what keeps a lost answer from making a second player.

-- A player's recovery code: 125 random bits, so that a plain SHA-256 keeps it. A new one takes the place of the old one.
create table recovery_code (
    player_id uuid not null,
    hash bytea not null,
    created_at timestamptz not null,
    constraint recovery_code_pkey primary key (player_id),
    -- Codes are found by their hash alone.
    constraint recovery_code_hash_key unique (hash),
    constraint recovery_code_player_fkey foreign key (player_id) references player (id) on delete cascade
);

-- The players that were created under an idempotency key, for a day. The caller has no identity yet, so the key is its only proof:
-- it is stored as a hash, and the request as a hash with the key, because it may have a password.
create table player_key (
    key_hash bytea not null,
    request_hash bytea not null,
    player_id uuid not null,
    created_at timestamptz not null,
    constraint player_key_pkey primary key (key_hash),
    constraint player_key_player_fkey foreign key (player_id) references player (id) on delete cascade
) with (
    -- Every row is deleted a day after it was stored.
    autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 1000
);
-- Those that have run out are found here to be deleted, in batches.
create index player_key_created_at_idx on player_key (created_at);
-- Deletion of a player looks here.
create index player_key_player_idx on player_key (player_id);
