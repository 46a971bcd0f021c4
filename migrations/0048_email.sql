-- The e-mail address of an account, which it need not have. Texts are in the order of bytes: an address is ASCII, its domain in Punycode.
create table account_email (
    player_id uuid not null,
    -- The verified address, to which mail is sent, and by which a forgotten password is set anew.
    address text collate "C",
    -- The same in small letters, by which it is found.
    address_key text collate "C",
    verified_at timestamptz,
    -- An address that is to take its place, as soon as a link that was sent to it is followed.
    pending text collate "C",
    pending_since timestamptz,
    constraint account_email_pkey primary key (player_id),
    constraint account_email_player_fkey foreign key (player_id) references player (id) on delete cascade,
    -- An address is verified for one account. Any number of accounts may wait for the same one.
    constraint account_email_address_key unique (address_key),
    constraint account_email_length_check check (length(address) <= 254 and length(pending) <= 254),
    constraint account_email_verified_check check (
        (address is null) = (verified_at is null) and (address is null) = (address_key is null)
    ),
    constraint account_email_pending_check check ((pending is null) = (pending_since is null)),
    constraint account_email_any_check check (address is not null or pending is not null)
);
-- What was not confirmed in time.
create index account_email_pending_idx on account_email (pending_since) where pending is not null;

-- What a link in a mail is good for. Only a hash of what the link has is stored, and that is made when the mail is sent: neither a backup nor the outbox has it.
create table email_token (
    hash bytea not null,
    player_id uuid not null,
    kind text not null,
    -- Where the link was sent.
    address text collate "C" not null,
    expires_at timestamptz not null,
    constraint email_token_pkey primary key (hash),
    constraint email_token_player_fkey foreign key (player_id) references player (id) on delete cascade,
    constraint email_token_kind_check check (kind in ('verify_email', 'reset_password'))
);
create index email_token_player_idx on email_token (player_id);
create index email_token_expires_at_idx on email_token (expires_at);

-- The outbox: mails that are to be sent.
create table mail (
    id uuid not null default gen_random_uuid(),
    -- The account that it is about.
    player_id uuid not null,
    kind text not null,
    recipient text collate "C" not null,
    created_at timestamptz not null,
    attempts integer not null default 0,
    -- When it is due, again after a failure. While a process sends it: until when no other process takes it.
    next_attempt_at timestamptz not null,
    constraint mail_pkey primary key (id),
    constraint mail_player_fkey foreign key (player_id) references player (id) on delete cascade,
    -- What is asked for twice is sent once, while it waits. So the outbox has no more rows than there are addresses.
    constraint mail_once_key unique (player_id, kind, recipient),
    constraint mail_kind_check check (
        kind in ('verify_email', 'reset_password', 'password_changed', 'email_changed', 'email_removed')
    )
);
create index mail_next_attempt_idx on mail (next_attempt_at);

-- What was sent within a day, or may have been, for the limits of each address and account; no address, but a keyed hash. A row is stored before the mail is sent, and
-- taken back if the server of mail has not taken it.
create table mail_sent (
    id uuid not null default gen_random_uuid(),
    recipient_hash bytea not null,
    -- Links that confirm, links that set a password, and notices have limits of their own.
    class text not null,
    sent_at timestamptz not null,
    constraint mail_sent_pkey primary key (id)
);
create index mail_sent_recipient_idx on mail_sent (recipient_hash, class, sent_at);
create index mail_sent_at_idx on mail_sent (sent_at);

-- Addresses whose password is to be set anew, as clients sent them. A job looks up whether an account has one: a request stores its row in any case, and takes as long
-- either way.
create table password_reset_request (
    id uuid not null default gen_random_uuid(),
    address_key text collate "C" not null,
    requested_at timestamptz not null,
    constraint password_reset_request_pkey primary key (requested_at, id)
);
-- What goes with an erased player.
create index password_reset_request_key_idx on password_reset_request (address_key);

-- Triggers, so that no statement can leave this out, those of the release before included.
create function erase_email() returns trigger language plpgsql as $$
begin
    delete from password_reset_request using account_email
    where account_email.player_id = new.id
        and password_reset_request.address_key in (account_email.address_key, lower(account_email.pending));
    delete from mail where player_id = new.id;
    delete from email_token where player_id = new.id;
    delete from account_email where player_id = new.id;
    return null;
end
$$;
create trigger player_email_erased after update of kind on player
    for each row when (new.kind = 'deleted' and old.kind <> 'deleted') execute function erase_email();

-- What voids an account's tokens voids its links, too, and the address that waits: a thief may have asked for them.
create function void_email_links() returns trigger language plpgsql as $$
begin
    delete from email_token where player_id = new.id;
    delete from mail where player_id = new.id and kind in ('verify_email', 'reset_password');
    delete from account_email where player_id = new.id and address is null;
    update account_email set pending = null, pending_since = null where player_id = new.id and pending is not null;
    return null;
end
$$;
create trigger player_email_links_void after update of credentials_version on player
    for each row when (new.credentials_version <> old.credentials_version and new.kind = 'account')
    execute function void_email_links();

-- A new password is told to the address. A change of the account's name leaves the hash as it is.
create function report_new_password() returns trigger language plpgsql as $$
begin
    insert into mail (player_id, kind, recipient, created_at, next_attempt_at)
    select player_id, 'password_changed', address, now(), now() from account_email
    where player_id = new.player_id and address is not null
    on conflict on constraint mail_once_key do nothing;
    return null;
end
$$;
create trigger account_password_changed after update of password_hash on account
    for each row when (new.password_hash <> old.password_hash) execute function report_new_password();
