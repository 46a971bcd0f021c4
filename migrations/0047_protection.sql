-- How often a player has invited another one within the last day, so that one who declines is not asked again without end. A row of a pair, locked by
-- each invitation. Games would tell it, too, but no index has those of a pair that were declined, and one more on game would cost every new game.
create table invitation_count (
    inviter_id uuid not null,
    invited_id uuid not null,
    -- Those that count, at most as many as a player may make in a day.
    made_at timestamptz[] not null,
    last_at timestamptz not null,
    constraint invitation_count_pkey primary key (inviter_id, invited_id)
    -- No foreign key: a row lives for a day, and no player that has one is deleted as long unseen.
) with (autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 1000);
-- What goes with an erased player, and what has expired.
create index invitation_count_invited_idx on invitation_count (invited_id);
create index invitation_count_last_idx on invitation_count (last_at);

-- A trigger, so that no statement that erases a player can leave this out, those of the release before included.
create function erase_protection() returns trigger language plpgsql as $$
begin
    delete from invitation_count where inviter_id = new.id or invited_id = new.id;
    return null;
end
$$;
create trigger player_protection_erased after update of kind on player
    for each row when (new.kind = 'deleted' and old.kind <> 'deleted') execute function erase_protection();
