-- How often a player has invited another one within the last day, so that one who declines is not asked again without end. A row of a pair, locked by
-- each invitation. Games would tell it, too, but no index has those of a pair that were declined, and one more on game would cost every new game.
create table invitation_count (
    inviter_id uuid not null,
    invited_id uuid not null,
    -- Those that count, at most as many as a player may make in a day.
    made_at timestamptz[] not null,
    last_at timestamptz not null,
    constraint invitation_count_pkey primary key (inviter_id, invited_id)
    -- No foreign key: a row lives for a day, and no player that has one is deleted as long unseen.
) with (autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 1000);
-- What goes with an erased player, and what has expired.
create index invitation_count_invited_idx on invitation_count (invited_id);
create index invitation_count_last_idx on invitation_count (last_at);

-- Players whose invitations, offers and requests reach another one silently: a player with a mute is not told of them, and plays with the muted one as before.
create table player_mute (
    muter_id uuid not null,
    muted_id uuid not null,
    muted_at timestamptz not null,
    -- Every question names the player that mutes: with one or more others, or for all, a thousand rows at most.
    constraint player_mute_pkey primary key (muter_id, muted_id),
    constraint player_mute_muter_fkey foreign key (muter_id) references player (id) on delete cascade,
    constraint player_mute_muted_fkey foreign key (muted_id) references player (id) on delete cascade
);
-- What goes with a muted player that is erased, deleted or merged.
create index player_mute_muted_idx on player_mute (muted_id, muter_id);

-- The operators' list of words that no name may have: one row, at first an empty list. A text as an operator wrote it, because servers read it as
-- a whole; the revision tells them that it is another one.
create table name_filter (
    id smallint not null,
    revision bigint not null,
    list text not null,
    constraint name_filter_pkey primary key (id)
);
insert into name_filter (id, revision, list) values (1, 0, '');

-- Whether a suspension ends the games that have begun, as a ban does, whatever it says here. The last release knows no suspensions.
alter table player_suspension add column ends_games boolean not null default false;

-- A trigger, so that no statement that erases a player can leave this out, those of the release before included.
create function erase_protection() returns trigger language plpgsql as $$
begin
    delete from invitation_count where inviter_id = new.id or invited_id = new.id;
    delete from player_mute where muter_id = new.id or muted_id = new.id;
    return null;
end
$$;
create trigger player_protection_erased after update of kind on player
    for each row when (new.kind = 'deleted' and old.kind <> 'deleted') execute function erase_protection();
