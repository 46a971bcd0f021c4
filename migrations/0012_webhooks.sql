-- Webhooks: where players have notices of their games sent to, and what is on its way there.
create table webhook (
    id uuid not null,
    player_id uuid not null,
    created_at timestamptz not null,
    url text not null,
    -- The types of notices that are sent; null: all, also those that are yet to be invented.
    events text[],
    -- What signs. It cannot be a hash: the signature is made from it.
    secret bytea not null,
    -- The secret before it signs as well until that moment, so that it can be exchanged without a gap.
    previous_secret bytea,
    previous_until timestamptz,
    -- Since when every attempt has failed; null after a success.
    failing_since timestamptz,
    -- Whether an attempt ever succeeded: who has shown that they answer get more attempts at once.
    is_proven boolean not null default false,
    -- Nothing is sent any more, and why.
    disabled_at timestamptz,
    disabled_reason text,
    -- When there may be something to send: never later than there is, but often earlier. Null while nothing waits.
    due_at timestamptz,
    -- When its player's games are to be flagged once more: those that were being stored when it was made.
    flag_at timestamptz,
    constraint webhook_pkey primary key (id),
    constraint webhook_player_fkey foreign key (player_id) references player (id) on delete cascade
) with (fillfactor = 70);

-- The endpoints of a player, and whether there are any when a game begins.
create index webhook_player_idx on webhook (player_id, id);
-- What is to be sent is looked for endpoint by endpoint, so that the queue of one that does not answer is in nobody's way.
-- Those that have shown that they answer, and do, stand apart from the others: see `webhook_deliveries::take`.
create index webhook_due_idx on webhook ((is_proven and failing_since is null), due_at)
    where due_at is not null and disabled_at is null;
create index webhook_flag_idx on webhook (flag_at) where flag_at is not null;

-- Whether somebody who belongs to the game has a webhook, or once had: only then does an append leave a row below.
alter table game add column has_webhooks boolean not null default false;

-- Appends of which nobody was told yet: the events of a game from one to another.
create table webhook_event (
    game_id uuid not null,
    from_seq integer not null,
    to_seq integer not null,
    constraint webhook_event_pkey primary key (game_id, from_seq)
) with (
    -- Every row is deleted soon after it was stored.
    autovacuum_vacuum_scale_factor = 0.0,
    autovacuum_vacuum_threshold = 1000
);

-- A notice for one endpoint. Its id is the same for every attempt.
create table webhook_delivery (
    id uuid not null,
    webhook_id uuid not null,
    created_at timestamptz not null,
    -- What it is about; null for a ping.
    game_id uuid,
    seq integer,
    type text not null,
    payload text not null,
    -- Whether it waits for those before it in its game. What was asked for by hand does not.
    in_order boolean not null,
    attempts integer not null default 0,
    -- Not before then. Those behind one that is tried again later have its time at least.
    next_attempt_at timestamptz not null,
    -- Whoever sends it has until then; it is also what tells their outcome from that of somebody before.
    leased_until timestamptz,
    last_attempt_at timestamptz,
    last_status integer,
    last_error text,
    -- When it was delivered, or given up.
    ended_at timestamptz,
    is_delivered boolean not null default false,
    constraint webhook_delivery_pkey primary key (id),
    constraint webhook_delivery_webhook_fkey foreign key (webhook_id) references webhook (id) on delete cascade,
    -- An event is told once to each endpoint, however often it is taken from the table above.
    constraint webhook_delivery_notice_key unique (webhook_id, game_id, seq, type)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

-- The log of an endpoint, newest first.
create index webhook_delivery_log_idx on webhook_delivery (webhook_id, id desc);
-- What waits for an endpoint, in the order of its times; and what waits in a game, in the order of its events.
create index webhook_delivery_waiting_idx on webhook_delivery (webhook_id, next_attempt_at) where ended_at is null;
create index webhook_delivery_leased_idx on webhook_delivery (webhook_id, leased_until) where ended_at is null and leased_until is not null;
create index webhook_delivery_order_idx on webhook_delivery (webhook_id, game_id, seq, type) where ended_at is null and in_order;
-- What has ended is deleted some days later.
create index webhook_delivery_ended_idx on webhook_delivery (ended_at) where ended_at is not null;
