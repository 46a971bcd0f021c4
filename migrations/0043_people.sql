-- Friends, and requests to become friends: one row for two players, whichever of them asked.
create table friendship (
    asker_id uuid not null,
    asked_id uuid not null,
    asked_at timestamptz not null,
    -- Null: it is a request.
    accepted_at timestamptz,
    -- A request that was declined, or that a block keeps away. The asker sees it as one that waits, until it lapses as others do: so a refusal is
    -- not told, and none is asked again and again.
    declined_at timestamptz,
    -- The asker has withdrawn it after that, and sees it no more.
    is_withdrawn boolean not null default false,
    constraint friendship_pkey primary key (asker_id, asked_id),
    constraint friendship_asker_fkey foreign key (asker_id) references player (id) on delete cascade,
    constraint friendship_asked_fkey foreign key (asked_id) references player (id) on delete cascade,
    constraint friendship_others_check check (asker_id <> asked_id),
    constraint friendship_answer_check check (accepted_at is null or declined_at is null),
    constraint friendship_withdrawn_check check (not is_withdrawn or declined_at is not null)
);
-- One row for two players, also if both ask at the same moment.
create unique index friendship_pair_key on friendship (least(asker_id, asked_id), greatest(asker_id, asked_id));
-- The friends of a player that were the ones to ask, the requests that it declined, and what goes with a player. The primary key has the others.
create index friendship_asked_idx on friendship (asked_id, accepted_at, declined_at);
-- The requests that wait for a player, the last one first: any number of players may ask one.
create index friendship_received_idx on friendship (asked_id, asked_at desc, asker_id desc)
    where accepted_at is null and declined_at is null;
-- What has lapsed.
create index friendship_asked_at_idx on friendship (asked_at) where accepted_at is null;

-- Players that do not show their friends when they were last seen. A row for each of them, because most do not care.
create table hidden_last_seen (
    player_id uuid not null,
    constraint hidden_last_seen_pkey primary key (player_id),
    constraint hidden_last_seen_player_fkey foreign key (player_id) references player (id) on delete cascade
);

-- A trigger, so that no statement that erases a player can leave this out, those of the release before included.
create function erase_friendships() returns trigger language plpgsql as $$
begin
    delete from friendship where asker_id = new.id or asked_id = new.id;
    delete from hidden_last_seen where player_id = new.id;
    return null;
end
$$;
create trigger player_friendships_erased after update of kind on player
    for each row when (new.kind = 'deleted' and old.kind <> 'deleted') execute function erase_friendships();

-- A block ends what is between the two, in its transaction, whatever stores it. What the blocked player has asked for stays for that player
-- to see, as if it was declined. Servers take a lock of the two before they store a block or change a friendship.
create function end_friendship() returns trigger language plpgsql as $$
begin
    delete from friendship
    where asker_id = new.blocker_id and asked_id = new.blocked_id and declined_at is null
       or asker_id = new.blocked_id and asked_id = new.blocker_id and accepted_at is not null;
    -- Kept, so that no request is repeated by a block that comes and goes.
    update friendship set is_withdrawn = true where asker_id = new.blocker_id and asked_id = new.blocked_id;
    update friendship set declined_at = new.blocked_at
    where asker_id = new.blocked_id and asked_id = new.blocker_id and declined_at is null;
    return null;
end
$$;
create trigger player_block_ends_friendship after insert on player_block
    for each row execute function end_friendship();

-- Whether others find the account by the beginning of its name: only if it says so.
alter table account add column is_findable boolean not null default false;
-- In the order of bytes, so that a beginning is a range. Other accounts are not in it, and cannot be found through it.
create index account_findable_idx on account (name_key collate "C") where is_findable;
