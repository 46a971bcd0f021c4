-- The keys of the operators' own interface, what operators do to players, and who is suspended.
create table operator (
    name text not null,
    key_hash bytea not null,
    created_at timestamptz not null,
    -- When the present key was made.
    rotated_at timestamptz not null,
    disabled_at timestamptz,
    constraint operator_pkey primary key (name),
    constraint operator_key_hash_key unique (key_hash)
);

-- One row for each player that was ever suspended. A lifted one stays, so that every process reads that it is lifted.
create table player_suspension (
    player_id uuid not null,
    reason text not null,
    begun_at timestamptz not null,
    -- Null: a ban.
    until timestamptz,
    lifted_at timestamptz,
    -- By the database's clock, after the player's row was locked: processes read what has changed.
    changed_at timestamptz not null,
    constraint player_suspension_pkey primary key (player_id),
    constraint player_suspension_player_fkey foreign key (player_id) references player (id) on delete cascade
);
create index player_suspension_changed_idx on player_suspension (changed_at);
-- Those in force, which a process reads first.
create index player_suspension_end_idx on player_suspension (coalesce(until, 'infinity')) where lifted_at is null;

-- The audit log. The name of an operator and not a key of its row: a log outlives what it tells of.
create table operator_act (
    id uuid not null,
    operator text not null,
    act text not null,
    at timestamptz not null,
    -- Null after the player's erasure.
    player_id uuid,
    report_id uuid,
    reason text,
    -- What was changed, as it was before and after.
    before jsonb,
    after jsonb,
    constraint operator_act_pkey primary key (id)
);
create index operator_act_player_idx on operator_act (player_id, id);

alter table player_report add column finding text, add column remark text;
create index player_report_open_idx on player_report (id) where closed_at is null;
create index player_report_closed_idx on player_report (id) where closed_at is not null;

-- Rows are only added; an erasure takes out what is personal.
create function keep_operator_acts() returns trigger language plpgsql as $$
begin
    if tg_op = 'UPDATE' and new.player_id is null and new.reason is null and new.before is null and new.after is null
        and (new.id, new.operator, new.act, new.at) = (old.id, old.operator, old.act, old.at) then
        return new;
    end if;
    raise exception 'operator_act is append-only';
end
$$;
create trigger operator_acts_kept before update or delete on operator_act for each row execute function keep_operator_acts();

create function erase_operator_acts() returns trigger language plpgsql as $$
begin
    update operator_act set player_id = null, report_id = null, reason = null, before = null, after = null where player_id = old.id;
    delete from player_suspension where player_id = old.id;
    return null;
end
$$;
create trigger operator_acts_erased after update of kind on player
    for each row when (new.kind = 'deleted' and old.kind <> 'deleted') execute function erase_operator_acts();
create trigger operator_acts_of_deleted after delete on player for each row execute function erase_operator_acts();
