-- The name of the second seat of a game against oneself: of a person at the same device, who is no player. It is no part of the log, because
-- it is erased with its player. Null where there is none, and in rows of the release before.
alter table game add column hotseat_name text;
-- What an erasure finds. The name changes once at most, and a move leaves it alone.
create index game_hotseat_name_idx on game (seat_0_player_id) where hotseat_name is not null;

-- A trigger, so that no statement that erases a player can leave this out, those of the release before included.
create function erase_hotseat_names() returns trigger language plpgsql as $$
begin
    update game set hotseat_name = null where seat_0_player_id = new.id and hotseat_name is not null;
    return null;
end
$$;
create trigger player_hotseat_names_erased after update of kind on player
    for each row when (new.kind = 'deleted' and old.kind <> 'deleted') execute function erase_hotseat_names();
