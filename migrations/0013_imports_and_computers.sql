-- Games that begin elsewhere than at the opening, games that were played elsewhere, and games against the computer.

-- Where a game begins, if not with the opening: the position, and which game and ply it is from.
alter table game add column start jsonb;

comment on column game.invited_player_id is
    'Whom the game is about beside those who sit in it: whoever is invited; the computer; of an imported game, who imported it.';

-- The imported games of a player, newest first. No move changes any of its columns.
create index game_imported_idx on game (invited_player_id, id desc) where opponent = 'imported';

alter table player drop constraint player_kind_check;
alter table player add constraint player_kind_check
    check (kind in ('guest', 'account', 'computer', 'imported', 'deleted'));
-- Names from elsewhere may be longer.
alter table player drop constraint player_name_length_check;
alter table player add constraint player_name_length_check
    check (char_length(name) between 1 and 32 or kind = 'imported' and char_length(name) between 1 and 100);

-- Who a name in imported games belongs to: whoever imported it, or the operator. One name is one player to them.
alter table player add column importer_id uuid;
create unique index player_imported_key on player (coalesce(importer_id, '00000000-0000-0000-0000-000000000000'), name)
    where kind = 'imported';

-- The computer, a player for each level.
insert into player (id, kind, name, created_at)
select ('00000000-0000-7000-8000-00000000000' || level)::uuid, 'computer', 'Computer ' || level, '1970-01-01Z'
from generate_series(1, 8) as level;

-- Games in which the computer is to move: left by the statement that made it so.
create table computer_turn (
    game_id uuid not null,
    -- The game's version at which it was to move.
    version integer not null,
    waits_since timestamptz not null default now(),
    -- Somebody is thinking about it; if nothing came of it by then, somebody else may.
    taken_until timestamptz,
    constraint computer_turn_pkey primary key (game_id)
) with (
    -- Every row is deleted soon after it was stored.
    autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 1000
);
-- Who has waited longest comes first.
create index computer_turn_waits_idx on computer_turn (waits_since);
