-- Events of all games of a player.

-- Whether a row is of a transaction that was not over in a snapshot: whoever read the table in that snapshot has not seen it.
-- Rows know 32 bits of the number of the transaction that wrote them, so it is only told of rows that are not too old; `next` is a
-- number that was not given to any of them yet. Events are not to be written under a savepoint: a snapshot names only whole
-- transactions. There is no arithmetic of transaction numbers but by way of text.
create function is_unseen(written_by xid, seen pg_snapshot, next xid8) returns boolean
    language sql stable parallel safe
    as $$
        select not pg_visible_in_snapshot(
            (next::text::bigint - (next::text::bigint - written_by::text::bigint) % 4294967296)::text::xid8, seen
        )
    $$;

-- Stands for the cluster and its timeline: after another server was made the primary, or after a restoration, it is another one.
create function present_history() returns integer
    language sql stable
    as $$
        select hashtext((select system_identifier::text from pg_control_system())
            || left(pg_walfile_name(pg_current_wal_lsn()), 8))
    $$;

-- A player's games that ended without a result, the last ended first. (Those that ended with one have such indexes.)
create index game_seat_0_aborted_idx on game (seat_0_player_id, aborted_at desc) where aborted_at is not null;
create index game_seat_1_aborted_idx on game (seat_1_player_id, aborted_at desc) where aborted_at is not null;
create index game_invited_aborted_idx on game (invited_player_id, aborted_at desc)
    where aborted_at is not null and invited_player_id is not null;
