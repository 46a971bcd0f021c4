//! The mark that excludes older binaries while logs are archived: they would find no moves.

use sqlx::{PgConnection, PgPool};
use time::{Duration, OffsetDateTime};
use tracing::Instrument;

use crate::connection::{DbError, OF_FORMER, statement};

/// The migration of the archive: binaries that know it read archives.
const MIGRATION: i64 = 34;

/// How long servers archive nothing after that migration, or after the mark was lowered. By then an update is complete, or was undone.
const SETTLING: Duration = Duration::DAY;

/// Whether the update that brought the archive is complete: some time has passed, and no server of the release before is connected. The
/// raised mark excludes those servers.
pub async fn is_settled(pool: &PgPool, now: OffsetDateTime) -> Result<bool, DbError> {
    let found = sqlx::query!(
        r#"
        select migrated_at, least_migration_before is null and exists (
            select from pg_stat_activity where datname = current_database() and application_name = $1) as "may_be_read!"
        from archive_state
        "#,
        OF_FORMER,
    );
    let found = found.fetch_one(pool).instrument(statement("select archive_state")).await?;
    Ok(now - found.migrated_at >= SETTLING && !found.may_be_read)
}

/// Whether no server of the release before works on the database: none ever did, or the mark excludes them. Only then may games be in
/// states that such a server would continue.
pub async fn excludes_former(pool: &PgPool) -> Result<bool, DbError> {
    let found = sqlx::query_scalar!(
        r#"select least_migration_before is not null or not had_players as "excludes!" from archive_state"#
    );
    Ok(found.fetch_one(pool).instrument(statement("select archive_state")).await?)
}

/// Raises the mark in the transaction of an archive, unless it is raised, and keeps it there until the commit.
pub(super) async fn raise_mark(connection: &mut PgConnection) -> Result<(), DbError> {
    let is_raised =
        sqlx::query_scalar!(r#"select least_migration_before is not null as "is_raised!" from archive_state"#);
    if !is_raised.fetch_one(&mut *connection).instrument(statement("select archive_state")).await? {
        sqlx::query!(
            r#"
            with raised as (
                update archive_state set least_migration_before = (select least_migration from schema_compatibility)
                where least_migration_before is null returning is_only
            )
            update schema_compatibility set least_migration = greatest(least_migration, $1)
            where is_only = (select is_only from raised)
            "#,
            MIGRATION,
        )
        .execute(&mut *connection)
        .instrument(statement("update schema_compatibility"))
        .await?;
    }
    // Archives share the row. What lowers the mark waits for them, and they for it.
    let is_raised = sqlx::query_scalar!(
        r#"select least_migration_before is not null as "is_raised!" from archive_state for share"#
    );
    let is_raised = is_raised.fetch_one(connection).instrument(statement("lock archive_state")).await?;
    if is_raised { Ok(()) } else { Err(DbError::locked()) }
}

/// Lowers the mark to its former value, if no archive is left. Returns whether none is left.
pub async fn lower_mark(pool: &PgPool) -> Result<bool, DbError> {
    let mut transaction = pool.begin().await?;
    // From here on no archive is stored.
    sqlx::query!("select is_only from archive_state for update")
        .fetch_one(&mut *transaction)
        .instrument(statement("lock archive_state"))
        .await?;
    let is_left = sqlx::query_scalar!(r#"select exists (select from archived_log) as "is_left!""#);
    if is_left.fetch_one(&mut *transaction).instrument(statement("select archived_log")).await? {
        return Ok(false);
    }
    sqlx::query!(
        r#"
        with lowered as (
            -- Servers of the release before may come again, and go again with an update.
            update archive_state set least_migration_before = null, migrated_at = now() from (select least_migration_before as mark from archive_state) former
            where least_migration_before is not null returning former.mark
        )
        update schema_compatibility set least_migration = lowered.mark from lowered where least_migration = $1
        "#,
        MIGRATION,
    )
    .execute(&mut *transaction)
    .instrument(statement("update schema_compatibility"))
    .await?;
    transaction.commit().await?;
    Ok(true)
}
