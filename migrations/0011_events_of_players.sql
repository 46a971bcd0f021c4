-- Events of all games of a player.

-- Whether a row is of a transaction that may not have been over at a moment whose oldest transaction was `since`: then whoever
-- read the table at that moment may not have seen it. Rows know 32 bits of the transaction that wrote them, so it is asked of
-- rows of the last days only; there is no arithmetic of transaction numbers but by way of text.
create function is_since(written_by xid, since bigint) returns boolean
    language sql stable parallel safe
    as $$ select (written_by::text::bigint - since % 4294967296 + 4294967296) % 4294967296 < 2147483648 $$;

-- A player's games that ended without a result, the last ended first. (Those that ended with one have such indexes.)
create index game_seat_0_aborted_idx on game (seat_0_player_id, aborted_at desc) where aborted_at is not null;
create index game_seat_1_aborted_idx on game (seat_1_player_id, aborted_at desc) where aborted_at is not null;
create index game_invited_aborted_idx on game (invited_player_id, aborted_at desc)
    where aborted_at is not null and invited_player_id is not null;
