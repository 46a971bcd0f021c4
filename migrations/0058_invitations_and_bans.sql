-- Invitations of one network to one player, who may invite a player, and suspensions that outlive an erasure.

-- The network of the last invitation, as in "player_report": guests are free, so what is bounded for each is bounded for a network. It goes with the row,
-- a day after the last invitation.
alter table invitation_count add column network uuid;
-- What goes with an erased player, as before, and how many invitations of a network a player has got.
create index invitation_count_network_idx on invitation_count (invited_id, network);
drop index invitation_count_invited_idx;

-- Who may invite a player, if not everyone: accounts, friends or none.
create table invitation_policy (
    player_id uuid not null,
    inviters text not null,
    constraint invitation_policy_pkey primary key (player_id),
    constraint invitation_policy_player_fkey foreign key (player_id) references player (id) on delete cascade
);
-- Whatever release erases.
create function erase_invitation_policy() returns trigger language plpgsql as $$
begin
    delete from invitation_policy where player_id = new.id;
    return null;
end
$$;
create trigger invitation_policy_erased after update of kind on player
    for each row when (new.kind = 'deleted' and old.kind <> 'deleted') execute function erase_invitation_policy();

-- The suspensions of players who were erased, or who unlinked an identity, until they end. A player who comes back by the same identity, or by the same
-- app and its id, is suspended as before. Without the servers' key the hash tells no person.
create table kept_suspension (
    -- A keyed hash of the issuer and its id of the person, or of the app and its id of the player.
    person_hash bytea not null,
    begun_at timestamptz not null,
    -- Null: a ban.
    until timestamptz,
    games text not null,
    constraint kept_suspension_pkey primary key (person_hash)
);
create index kept_suspension_end_idx on kept_suspension (until) where until is not null;
