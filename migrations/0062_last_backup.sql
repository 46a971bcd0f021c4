-- When the last backup was complete. `mancala-server backup` notes it, and so may any other program that makes backups:
-- `update last_backup set ended_at = now()`. Servers show it in their metrics, so that an alert can tell that there is none. A restored
-- database has the time of the backup before its own.

-- One row.
create table last_backup (
    is_only boolean not null default true,
    -- null: there was none yet.
    ended_at timestamptz,
    constraint last_backup_pkey primary key (is_only),
    constraint last_backup_is_only_check check (is_only)
);
insert into last_backup default values;
