-- Players that a player has blocked: between the two no new game begins, whichever of them asks.
create table player_block (
    blocker_id uuid not null,
    blocked_id uuid not null,
    blocked_at timestamptz not null,
    -- Every question names both players, in either order, or asks for all that one player has blocked: a thousand rows, which are sorted when
    -- they are read.
    constraint player_block_pkey primary key (blocker_id, blocked_id),
    constraint player_block_blocker_fkey foreign key (blocker_id) references player (id) on delete cascade,
    constraint player_block_blocked_fkey foreign key (blocked_id) references player (id) on delete cascade
);
-- Whether anyone has blocked a player, and what goes with a player that is erased, deleted or merged. With both columns, so that a pair is looked
-- up by its whole key whichever index is taken: any number of players may block one player.
create index player_block_blocked_idx on player_block (blocked_id, blocker_id);

-- A trigger, so that no statement that erases a player can leave this out, those of the release before included.
create function erase_player_blocks() returns trigger language plpgsql as $$
begin
    delete from player_block where blocker_id = new.id or blocked_id = new.id;
    return null;
end
$$;
create trigger player_blocks_erased after update of kind on player
    for each row when (new.kind = 'deleted' and old.kind <> 'deleted') execute function erase_player_blocks();
