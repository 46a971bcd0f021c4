-- Imports: what each importer has stored, what their deletion needs, and an explorer that tells them from games played here.

-- How many imported games a player has, and how many plies these have. The quota is checked and the row is updated by one statement of
-- the import's transaction, so concurrent imports of a player wait for each other and never exceed it. A table of its own: the row stays
-- locked while the games are stored, and a lock on "player" would delay changes of the name. Games that the operator imports count for
-- no player.
create table import_usage (
    player_id uuid not null,
    games integer not null,
    plies integer not null,
    constraint import_usage_pkey primary key (player_id),
    constraint import_usage_player_fkey foreign key (player_id) references player (id) on delete cascade
) with (
    -- One row is updated by each import: leave it room on its page.
    fillfactor = 70
);

insert into import_usage (player_id, games, plies)
select game.invited_player_id, count(*), sum(game.ply)
from game join player on player.id = game.invited_player_id
where game.opponent = 'imported'
group by game.invited_player_id;

-- Imported games can be deleted, and the notes of all players with them.
create index note_game_idx on note (game_id);

-- The explorer is filled anew, because it no longer counts games against oneself and very short ones. The lock is that of its job: no
-- game is counted meanwhile, and so none leaves the queue. `Exploration::counts` has the same condition. Games that end meanwhile are
-- queued by the statement that ends them.
select pg_advisory_xact_lock(7311717606064547186);

insert into unexplored_game as waiting (game_id, is_imported)
select id, opponent = 'imported' from game
where visibility = 'public' and finished_at is not null and opponent <> 'self' and ply >= 6
order by opponent = 'imported', id
on conflict (game_id) do update set put_off_until = null where waiting.put_off_until is not null;

-- Last, because readers wait for it.
truncate explored_move, explored_game;

-- Imported games have rows of their own. Most rows belong to one game, so a column of the key costs less than a second set of counts in
-- every row. A server of an older release counts no game from here on, because its statement names the former key; its readers go on.
alter table explored_move add column is_imported boolean not null default false;
alter table explored_move drop constraint explored_move_pkey;
alter table explored_move add constraint explored_move_pkey primary key (position, is_imported, move);
