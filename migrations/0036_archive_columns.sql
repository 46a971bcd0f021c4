-- What lists show of an archived game, and whose transaction "written_by" is, beside the archive.

alter table archived_log
    -- Of the last ply, and of the one before it: when it was played, the seat, and the move as "event" has it. The position after the last ply
    -- is the game's. So a list decodes no archive. Null where there is no such ply, and in archives that were written before this migration:
    -- those are decoded.
    add column ply_at timestamptz,
    add column ply_seat smallint,
    add column ply_move text,
    add column previous_at timestamptz,
    add column previous_position text,
    -- The cluster and the timeline in which "written_by" is the number of a transaction. A dump that is restored brings numbers of another
    -- cluster: these say nothing there. Every reader's place is of the present history, so it is after what an earlier one has stored.
    add column history integer not null default present_history();
