//! How many connections the database has left.

use tracing::Instrument;

use super::{Database, DbError, settings::LIMITS, statement};

/// How many connections this user may still open to this database. Other clients may take them at any time.
pub async fn connections(database: &Database) -> Result<u32, DbError> {
    let mut connection = database.connect(&LIMITS).await?;
    let free = sqlx::query_scalar!(
        r#"
        with client as (
            -- The one that asks is closed again. Workers and replication have no database, and take none of these connections.
            select datid, usesysid from pg_stat_activity
            where usesysid is not null and datid is not null and pid <> pg_backend_pid()
        )
        select greatest(0, least(
            current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
                -- Since PostgreSQL 16.
                - coalesce(current_setting('reserved_connections', true)::int, 0) - (select count(*) from client),
            (select datconnlimit - (select count(*) from client where datid = oid) from pg_database
                where datname = current_database() and datconnlimit >= 0),
            (select rolconnlimit - (select count(*) from client where usesysid = oid) from pg_roles
                where rolname = session_user and rolconnlimit >= 0)
        )) as "free!"
        "#
    );
    let free = free.fetch_one(&mut connection).instrument(statement("select pg_stat_activity")).await?;
    Ok(u32::try_from(free).unwrap_or(u32::MAX))
}
