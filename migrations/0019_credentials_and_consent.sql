-- Credentials that no longer count, what an erased player had imported, and endpoints that agree to receive notices.

-- The credentials that were revoked of late: by a new password, by signing out everywhere, or by an erasure. Each process reads new
-- rows twice a second and refuses older access tokens. Rows are purged after an hour: access tokens live for 15 minutes.
create table revoked_credentials (
    player_id uuid not null,
    -- The least credentials_version that is still accepted.
    least_version integer not null,
    -- By the database's clock, which is the same for all processes.
    revoked_at timestamptz not null default now(),
    -- No foreign key: a row may outlive its player.
    constraint revoked_credentials_pkey primary key (player_id)
) with (
    -- Every row is deleted soon after it was stored.
    autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 1000
);
create index revoked_credentials_revoked_at_idx on revoked_credentials (revoked_at);

-- A trigger, so that no statement that raises the version can leave this out, those of the release before included.
create function revoke_credentials() returns trigger language plpgsql as $$
begin
    insert into revoked_credentials as known (player_id, least_version) values (new.id, new.credentials_version)
    on conflict (player_id) do update
    set least_version = greatest(known.least_version, excluded.least_version), revoked_at = excluded.revoked_at;
    return null;
end
$$;
create trigger player_credentials_revoked after update of credentials_version on player
    for each row when (new.credentials_version > old.credentials_version) execute function revoke_credentials();

alter table webhook
    -- When the endpoint answered the challenge; null: it gets nothing but challenges. Webhooks that exist count as verified, and so do
    -- those that the release before creates.
    add column verified_at timestamptz default now(),
    -- What the endpoint must answer; null once it is verified.
    add column challenge text,
    -- The host and port of the URL: a process limits the attempts that are on their way to one host.
    add column host text generated always as (substring(url from '^[a-z]+://([^/?#]*)')) stored;

-- Of players who were erased before this: the job that looks for players who were erased of late finds them, and erases what they had
-- imported. There is no new index on "player": creating one would note that the table is small, and plans would read all of it.
update player set erased_at = now()
where kind = 'deleted' and id in (select importer_id from player where kind = 'imported');
