-- Push notifications: the devices of players, and what is to be sent to each.

create table push_device (
    id uuid not null,
    player_id uuid not null,
    -- The kind of the push service: web.
    kind text not null,
    -- The URL that a push service gave to a browser.
    address text not null,
    -- SHA-256 of kind, address and keys: only the browser itself has all of them.
    address_hash bytea not null,
    -- The host of a URL: a process limits the attempts that are on their way to one host.
    host text not null,
    -- Of a browser (RFC 8291): its public key, and the secret that authenticates what is sent to it.
    public_key bytea,
    secret bytea,
    language text not null,
    created_at timestamptz not null,
    -- The network of a guest, so that the guests of one network have so many devices together.
    network uuid,
    last_success_at timestamptz,
    -- How many attempts in a row have failed, and since when.
    failures integer not null default 0,
    failing_since timestamptz,
    -- Nothing is sent before then: the last attempt failed, or the push service asked for a pause.
    paused_until timestamptz,
    -- 0: the last attempt succeeded within a second; 1: new or slow; 2: the last attempt failed.
    lane smallint not null default 1,
    -- When there may be something to send: never later than there is, but often earlier. Null while nothing waits.
    due_at timestamptz,
    -- The process that sends has it until then. Whichever takes it next has another lease, and only the last one's result counts.
    leased_until timestamptz,
    lease uuid,
    -- When its player's games are to be flagged once more: those that were being stored when it was made.
    flag_at timestamptz,
    constraint push_device_pkey primary key (id),
    -- A browser belongs to the player who signed in there last.
    constraint push_device_address_key unique (address_hash),
    constraint push_device_player_fkey foreign key (player_id) references player (id) on delete cascade
) with (
    -- Small, and changed with every notice.
    fillfactor = 70, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 1000
);

-- The devices of a player, and whether there are any when a game begins.
create index push_device_player_idx on push_device (player_id, id);
-- What is to be sent is looked for device by device, so that one that fails is in no other's way.
create index push_device_due_idx on push_device (lane, due_at) where due_at is not null;
create index push_device_flag_idx on push_device (flag_at) where flag_at is not null;
create index push_device_network_idx on push_device (network) where network is not null;

-- What a device is to be told of a game: the last thing that has happened, and the reminder of a deadline that is to come. A later one takes the
-- place of one that was not sent, so there are at most two rows for a game. There is no foreign key to "game": checking it would lock a row that
-- moves change.
create table push_notice (
    device_id uuid not null,
    game_id uuid not null,
    is_reminder boolean not null,
    -- The type, as of webhooks.
    type text not null,
    variant text not null,
    -- Of a reminder: the deadline. If the game has another one by then, the reminder is dropped.
    deadline timestamptz,
    due_at timestamptz not null,
    -- Another one for each notice, so that the end of one that was sent does not delete the one that took its place meanwhile.
    version uuid not null,
    constraint push_notice_pkey primary key (device_id, game_id, is_reminder),
    constraint push_notice_device_fkey foreign key (device_id) references push_device (id) on delete cascade
) with (
    -- Every row is deleted soon after it was stored.
    autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 1000
);
create index push_notice_due_idx on push_notice (device_id, due_at);
-- What nothing has sent for long is deleted, such as when the server no longer sends push notifications.
create index push_notice_old_idx on push_notice (due_at);

-- When the devices of a player are silent, and whether they collect. Players without a row have neither.
create table push_settings (
    player_id uuid not null,
    -- Minutes of the day, in the time zone: from one until the other, over midnight if the first is later. All three are null, or none.
    quiet_from smallint,
    quiet_until smallint,
    time_zone text,
    -- At most one notification in so many minutes.
    digest_minutes smallint,
    constraint push_settings_pkey primary key (player_id),
    constraint push_settings_player_fkey foreign key (player_id) references player (id) on delete cascade
);

-- When quiet hours end that a moment lies in; null if it lies in none. PostgreSQL knows the time zones and when their clocks change. One that a newer
-- PostgreSQL does not know any more has no quiet hours, rather than ending the job.
create function push_quiet_end(moment timestamptz, quiet_from smallint, quiet_until smallint, zone text)
returns timestamptz language plpgsql stable as $$
declare
    here timestamp;
    minute integer;
    ends timestamp;
begin
    if quiet_from is null then
        return null;
    end if;
    here := moment at time zone zone;
    minute := extract(hour from here) * 60 + extract(minute from here);
    if quiet_from < quiet_until then
        if minute < quiet_from or minute >= quiet_until then
            return null;
        end if;
    elsif minute < quiet_from and minute >= quiet_until then
        return null;
    end if;
    ends := date_trunc('day', here) + make_interval(mins => quiet_until);
    if ends <= here then
        ends := ends + interval '1 day';
    end if;
    return ends at time zone zone;
exception when invalid_parameter_value then
    return null;
end
$$;

-- Triggers, so that no statement that erases a player, voids its sign-ins or forgets its network can leave this out, those of the release before
-- included. At the end of the transaction: all that locks webhooks and devices locks webhooks first. A guest keeps its devices with its first password.
create function delete_push_devices() returns trigger language plpgsql as $$
begin
    delete from push_device where player_id = new.id;
    if new.kind = 'deleted' then
        delete from push_settings where player_id = new.id;
    end if;
    return null;
end
$$;
create constraint trigger push_devices_deleted after update of kind, credentials_version on player
    deferrable initially deferred for each row
    when ((new.kind = 'deleted' and old.kind <> 'deleted')
        or (new.credentials_version > old.credentials_version and not (old.kind = 'guest' and new.kind = 'account')))
    execute function delete_push_devices();

create function forget_network_of_push_devices() returns trigger language plpgsql as $$
begin
    update push_device set network = null where player_id = new.id and network is not null;
    return null;
end
$$;
create constraint trigger push_devices_network_forgotten after update of network on player
    deferrable initially deferred for each row
    when (new.network is null and old.network is not null) execute function forget_network_of_push_devices();

-- As before (0040), and also if one of the players has a device.
create or replace function players_have_webhooks(players uuid[]) returns boolean language plpgsql stable as $$
begin
    return exists (select from webhook where player_id = any(players) and disabled_at is null)
        or exists (select from app_player where player_id = any(players))
        or exists (select from push_device where player_id = any(players));
end
$$;
