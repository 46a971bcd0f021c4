-- Push devices belong to the sign-in by which they were registered, and go with it.

-- Null: registered by an access token that names no sign-in, or handed over by a merge. Such a device goes with all others of its player. A sign-in that has
-- expired is deleted, and its devices with it.
alter table push_device
    add column sign_in_id uuid,
    add constraint push_device_sign_in_fkey foreign key (sign_in_id) references refresh_family (id) on delete cascade;

-- The devices of a sign-in that ends.
create index push_device_sign_in_idx on push_device (sign_in_id) where sign_in_id is not null;

-- A trigger, so that no statement that ends a sign-in can leave this out, those of the release before included. At the end of the transaction, as in 0044: all that
-- locks webhooks and devices locks webhooks first. In the order of their ids, as by all that locks several
-- but the foreign key, whose deletions the job repeats.
create function delete_push_devices_of_sign_in() returns trigger language plpgsql as $$
begin
    delete from push_device where id = any(array(
        select id from push_device where sign_in_id = new.id order by id for update
    ));
    return null;
end
$$;
create constraint trigger push_devices_of_sign_in_deleted after update of revoked_at on refresh_family
    deferrable initially deferred for each row
    when (new.revoked_at is not null and old.revoked_at is null) execute function delete_push_devices_of_sign_in();

-- A guest keeps its devices with its first password (0044), which voids its sign-ins: what is left of these must not take the devices along when it expires.
create function untie_push_devices() returns trigger language plpgsql as $$
begin
    update push_device set sign_in_id = null where id = any(array(
        select id from push_device where player_id = new.id and sign_in_id is not null order by id for update
    ));
    return null;
end
$$;
create constraint trigger push_devices_untied after update of kind on player
    deferrable initially deferred for each row
    when (new.kind = 'account' and old.kind = 'guest') execute function untie_push_devices();

-- A metric shows the age of the oldest mail.
create index mail_created_at_idx on mail (created_at);
