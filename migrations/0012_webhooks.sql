-- Webhooks: where players have notices of their games sent to, and what is on its way there.
create table webhook (
    id uuid not null,
    -- Null once it is deleted, or its player is: then what is left of it goes bit by bit.
    player_id uuid,
    created_at timestamptz not null,
    url text not null,
    -- The types of notices that are sent; null: all, also those that are yet to be invented.
    events text[],
    -- What signs. It cannot be a hash: the signature is made from it.
    secret bytea not null,
    -- Secrets before it, the latest first, each of which signs as well until its moment, so that it can be exchanged without a gap.
    previous_secrets bytea[] not null default '{}',
    previous_until timestamptz[] not null default '{}',
    -- How many attempts in a row have failed, the last of them when, and since when: as long as they come close enough after one another.
    failures integer not null default 0,
    failed_at timestamptz,
    failing_since timestamptz,
    -- Nothing is sent before then, as the last attempt failed.
    paused_until timestamptz,
    -- Apart from others are sent to: 0, those whose last attempt succeeded, and soon; 1, those of which little is known; 2, those that fail.
    lane smallint not null default 1,
    -- Nothing is sent any more, and why.
    disabled_at timestamptz,
    disabled_reason text,
    -- When there may be something to send: never later than there is, but often earlier. Null while nothing waits for a time.
    due_at timestamptz,
    -- Counts what was added or ended: whoever has looked what there is to send says so only if it is the same still.
    touched bigint not null default 0,
    -- When its player's games are to be flagged once more: those that were being stored when it was made.
    flag_at timestamptz,
    constraint webhook_pkey primary key (id),
    constraint webhook_player_fkey foreign key (player_id) references player (id) on delete set null
) with (
    -- Small, and changed with every notice.
    fillfactor = 70, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 1000
);

-- The endpoints of a player, and whether there are any when a game begins.
create index webhook_player_idx on webhook (player_id, id);
-- What is to be sent is looked for endpoint by endpoint, so that the queue of one that does not answer is in nobody's way.
create index webhook_due_idx on webhook (lane, due_at) where due_at is not null and disabled_at is null;
create index webhook_flag_idx on webhook (flag_at) where flag_at is not null;
create index webhook_disabled_idx on webhook (disabled_at) where disabled_at is not null;
create index webhook_left_idx on webhook (id) where player_id is null;

-- Whether somebody who belongs to the game has a webhook, or once had: only then does an append leave a row below.
alter table game add column has_webhooks boolean not null default false;

-- Appends of which nobody was told yet: the events of a game from one to another.
create table webhook_event (
    game_id uuid not null,
    from_seq integer not null,
    to_seq integer not null,
    -- It could not be told, and is tried again then.
    put_off_until timestamptz,
    constraint webhook_event_pkey primary key (game_id, from_seq)
) with (
    -- Every row is deleted soon after it was stored.
    autovacuum_vacuum_scale_factor = 0.0,
    autovacuum_vacuum_threshold = 1000
);

-- A notice for one endpoint. Its id is the same for every attempt. It outlives its webhook until it is purged: in batches, as there may be
-- very many.
create table webhook_delivery (
    id uuid not null,
    webhook_id uuid not null,
    created_at timestamptz not null,
    -- What it is about; null for a ping.
    game_id uuid,
    seq integer,
    type text not null,
    payload text not null,
    -- Whether it waits for those before it in its game. What was asked for by hand does not, nor what is to come at a time.
    in_order boolean not null,
    -- Of a notice that a player's time runs out: when it does. If the game has another deadline, nobody wants to know any more.
    deadline timestamptz,
    -- All that were begun. Whoever made the last one says what became of it.
    attempts integer not null default 0,
    -- Those of them that were made before it was asked for once more.
    attempts_before integer not null default 0,
    -- When to try, or to try again; null for what has ended, and for what waits for one before it in its game.
    next_attempt_at timestamptz,
    -- Whoever sends it has until then, and nobody else tries before.
    leased_until timestamptz,
    last_attempt_at timestamptz,
    last_status integer,
    last_error text,
    -- When it was delivered, or given up.
    ended_at timestamptz,
    is_delivered boolean not null default false,
    constraint webhook_delivery_pkey primary key (id),
    constraint webhook_delivery_ended_check
        check (ended_at is null or (next_attempt_at is null and leased_until is null))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

-- The log of an endpoint, newest first.
create index webhook_delivery_log_idx on webhook_delivery (webhook_id, id desc);
-- What is to be sent to an endpoint, in the order of its times; what is on its way; and what waits in a game, in the order of its events.
create index webhook_delivery_next_idx on webhook_delivery (webhook_id, next_attempt_at) where next_attempt_at is not null;
create index webhook_delivery_leased_idx on webhook_delivery (webhook_id, leased_until) where leased_until is not null;
create index webhook_delivery_order_idx on webhook_delivery (webhook_id, game_id, seq, type) where ended_at is null;
-- That a player's time runs out is told once.
create unique index webhook_delivery_deadline_key on webhook_delivery (webhook_id, game_id, deadline) where deadline is not null;
-- What has ended is deleted some days later.
create index webhook_delivery_ended_idx on webhook_delivery (ended_at) where ended_at is not null;
