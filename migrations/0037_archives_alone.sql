-- An archive without the last two plies beside it: lists read them from the archive. Playing its moves takes some microseconds, and the
-- columns took 67 bytes of each game for ever.
--
-- The table is written anew: the places of dropped columns would stay in every row. The release before does not know this table.
lock table archived_log in access exclusive mode;

create table archived_log_alone (
    game_id uuid not null,
    -- The time of the last event in it, and the transaction that had stored that event. The events of a player are found by them. A reader that
    -- has seen the last event has seen all before it.
    last_at timestamptz not null,
    written_by xid not null,
    -- The cluster and the timeline in which "written_by" is the number of a transaction. A dump that is restored brings numbers of another
    -- cluster: these say nothing there. Every reader's place is of the present history, so it is after what an earlier one has stored.
    history integer not null default present_history(),
    -- How many events it has: the seq of the last one.
    events integer not null,
    -- The first byte is the version of the form. It is dense already: PostgreSQL need not try to compress it.
    log bytea not null
);
alter table archived_log_alone alter column log set storage external;

insert into archived_log_alone select game_id, last_at, written_by, history, events, log from archived_log;

drop table archived_log;
alter table archived_log_alone rename to archived_log;
-- No other index: every query concerns given games. No foreign key, as "event" has none.
alter table archived_log add constraint archived_log_pkey primary key (game_id);

-- What a progress of "archive" counts by. A table known to be empty would be planned as such for as long as the plans are kept.
do $$
begin
    if exists (select from archived_log) then
        analyze archived_log;
    end if;
end
$$;
