-- What was answered to a creation that may be sent again: stored by the statement that creates, so that there is both or
-- neither. A key is its player's own, and good for a day.
create table idempotency_key (
    player_id uuid not null,
    key text not null,
    -- SHA-256 of what was asked for: the same key with something else is a mistake.
    request_hash bytea not null,
    created_at timestamptz not null,
    -- The answer, a 201.
    location text not null,
    etag text not null,
    body text not null,
    constraint idempotency_key_pkey primary key (player_id, key),
    constraint idempotency_key_player_fkey foreign key (player_id) references player (id) on delete cascade
);

-- Those that have run out are found here to be deleted, in batches.
create index idempotency_key_created_at_idx on idempotency_key (created_at);
