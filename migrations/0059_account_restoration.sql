-- A mail tells the address of an account each change of who may sign in to it, with a link that takes the change back.

-- What a mail tells: also another recovery code, an identity that was linked or unlinked, and the erasure. Servers of the release before take no mail of a kind
-- that they do not know.
alter table mail
    drop constraint mail_kind_check,
    add constraint mail_kind_check check (
        kind in (
            'verify_email', 'reset_password', 'password_changed', 'email_changed', 'email_removed', 'recovery_code_changed', 'identity_linked',
            'identity_unlinked', 'account_erased'
        )
    );

alter table email_token
    -- When the change was made that the link takes back, with all that was added to the account since.
    add column since timestamptz,
    drop constraint email_token_kind_check,
    add constraint email_token_kind_check check (kind in ('verify_email', 'reset_password', 'restore_account')),
    add constraint email_token_since_check check ((kind = 'restore_account') = (since is not null));

-- What voids an account's tokens leaves the links that restore it: a thief would set another password to void them.
create or replace function void_email_links() returns trigger language plpgsql as $$
begin
    delete from email_token where player_id = new.id and kind <> 'restore_account';
    delete from mail where player_id = new.id and kind in ('verify_email', 'reset_password');
    delete from account_email where player_id = new.id and address is null;
    update account_email set pending = null, pending_since = null where player_id = new.id and pending is not null;
    return null;
end
$$;

-- The address is told of the erasure. It stays in the outbox until that mail is sent, for a day at most; the account's name is not in it.
create or replace function erase_email() returns trigger language plpgsql as $$
declare
    told text;
begin
    delete from password_reset_request using account_email
    where account_email.player_id = new.id
        and password_reset_request.address_key in (account_email.address_key, lower(account_email.pending));
    delete from mail where player_id = new.id;
    delete from email_token where player_id = new.id;
    delete from account_email where player_id = new.id returning address into told;
    if told is not null then
        insert into mail (player_id, kind, recipient, created_at, next_attempt_at)
        values (new.id, 'account_erased', told, now(), now());
    end if;
    return null;
end
$$;

-- Triggers, so that no statement that changes an account's identities can leave the mail out: linking, unlinking, and a merge. A guest has no address. An erasure
-- has deleted the address by then, because its triggers run in the order of their names.
create function report_identity() returns trigger language plpgsql as $$
declare
    owner uuid := case when tg_op = 'DELETE' then old.player_id else new.player_id end;
    told text := case when tg_op = 'DELETE' then 'identity_unlinked' else 'identity_linked' end;
begin
    insert into mail (player_id, kind, recipient, created_at, next_attempt_at)
    select player_id, told, address, now(), now() from account_email where player_id = owner and address is not null
    on conflict on constraint mail_once_key do nothing;
    return null;
end
$$;
create trigger player_identity_reported after insert or delete or update of player_id on player_identity
    for each row execute function report_identity();
