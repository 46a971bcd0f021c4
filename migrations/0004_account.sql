-- Accounts: players who can sign in. What only signing in needs lies in a table of its own, so that no query that shows a
-- player comes near a password, and erasing is deleting a row.
create table account (
    player_id uuid not null,
    -- The player's name as names are compared: NFC, case-folded.
    name_key text not null,
    -- Argon2id, as a PHC string: parameters, salt and hash.
    password_hash text not null,
    constraint account_pkey primary key (player_id),
    constraint account_player_fkey foreign key (player_id) references player (id) on delete cascade,
    constraint account_name_key_key unique (name_key)
);

alter table player
    -- Raised when the password changes: sign-ins under an older one are void.
    add column credentials_version integer not null default 0,
    -- When a 'deleted' player was erased: whoever was interrupted while ending their games finds them again.
    add column erased_at timestamptz;

-- Names are kept in the form in which they are compared. In a few scripts it is longer, and what is too long is cut.
update player set name = rtrim(left(normalize(name, nfc), 32)) where name is not nfc normalized;

create index player_erased_at_idx on player (erased_at) where erased_at is not null;

alter table refresh_family
    -- The player's credentials_version when they signed in.
    add column credentials_version integer not null default 0;

-- Erasing a player and purging an unused guest take their sign-ins along.
alter table refresh_family
    drop constraint refresh_family_player_fkey,
    add constraint refresh_family_player_fkey foreign key (player_id) references player (id) on delete cascade;

-- What has expired or was revoked is found here to be deleted, in batches.
create index refresh_token_expires_at_idx on refresh_token (expires_at);
create index refresh_family_revoked_at_idx on refresh_family (revoked_at) where revoked_at is not null;
