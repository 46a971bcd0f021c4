-- A takeback takes the increments of the undone turns back: in games that are created while no server of 0.3.0 can work on the database, because
-- such a server would leave the increments in the banks, and cannot read the takebacks of the others.
--
-- "archive_state" says whether the mark keeps those servers away. A database that they never served needs no mark: without a player they have not.
alter table archive_state add column had_players boolean not null default false;
update archive_state set had_players = exists (select from player where kind <> 'computer');
comment on column archive_state.had_players is
    'Whether there were players at migration 0061: then servers of 0.3.0 may have served, and may come again until "least_migration_before" is set.';
