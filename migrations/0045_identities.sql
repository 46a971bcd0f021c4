-- Sign-in by others: which persons of which issuers of OpenID Connect are which players.

create table player_identity (
    -- The issuer's URL, and not the operator's id for it, which may come to mean another one.
    issuer text collate "C" not null,
    -- SHA-256 of the issuer and of its id of the person: a pseudonym. It is compared and nothing else, so the id itself is not kept.
    subject_hash bytea not null,
    player_id uuid not null,
    created_at timestamptz not null,
    -- Each sign-in looks here. Of two at once that are new, one creates the player.
    constraint player_identity_pkey primary key (issuer, subject_hash),
    -- One identity of an issuer for each player, by which it is unlinked. What belongs to a player is found here.
    constraint player_identity_player_key unique (player_id, issuer),
    constraint player_identity_player_fkey foreign key (player_id) references player (id) on delete cascade
);

-- A trigger, so that no statement that erases a player can leave this out, those of the release before included.
create function erase_identities() returns trigger language plpgsql as $$
begin
    delete from player_identity where player_id = new.id;
    return null;
end
$$;
create trigger player_identity_erased after update of kind on player
    for each row when (new.kind = 'deleted' and old.kind <> 'deleted') execute function erase_identities();

-- A merge hands the guest's identities to the account, whatever release merges. Of two of one issuer the account's stays: the guest is closed, so
-- that what is left of it must lead to no player.
create function hand_over_identities() returns trigger language plpgsql as $$
begin
    update player_identity set player_id = new.player_id where player_id = new.guest_id and not exists (
        select from player_identity own where own.player_id = new.player_id and own.issuer = player_identity.issuer
    );
    delete from player_identity where player_id = new.guest_id;
    return null;
end
$$;
create trigger merged_guest_hands_over_identities after insert on merged_guest
    for each row execute function hand_over_identities();

-- The sessions of sign-in that were used, so that none is used twice. The session itself is sealed and in the client's hands: a client that begins any
-- number of them stores nothing here.
create table used_sign_in (
    -- SHA-256 of what is unique to the session.
    hash bytea not null,
    expires_at timestamptz not null,
    constraint used_sign_in_pkey primary key (hash)
) with (
    -- Every row is deleted some minutes after it was stored.
    autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 1000
);
-- Those that have run out are found here to be deleted, in batches.
create index used_sign_in_expires_at_idx on used_sign_in (expires_at);
