//! The schema's migrations, built into the binary, and which of them a database has.

use std::time::Duration;

use sqlx::{
    ConnectOptions, Connection, PgConnection, PgPool,
    migrate::{MigrateError, Migrator},
    postgres::PgConnectOptions,
};
use thiserror::Error;
use tracing::Instrument;

use crate::connection::{DbError, statement};

static MIGRATOR: Migrator = sqlx::migrate!("../../migrations");

/// A migration may rewrite a large table; one that runs longer is a mistake.
const STATEMENT_TIMEOUT: &str = "30min";

/// While a migration waits for a table's lock, all later queries queue behind it. It is better to fail and to be run
/// again.
const LOCK_TIMEOUT: &str = "10s";

/// How long a start waits for a database that is itself starting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Why a database could not be migrated.
#[derive(Debug, Error)]
pub enum MigrationError {
    /// There is no connection.
    #[error("the database cannot be reached: {0}")]
    Unreachable(#[source] sqlx::Error),
    /// The database has a migration that this binary does not know.
    #[error(
        "the database is newer than this binary: it has migration {version}, which this mancala-server does not know; \
         run the version that made it, or a later one"
    )]
    Newer {
        /// The migration.
        version: i64,
    },
    /// A migration was changed after it was applied.
    #[error(
        "migration {version} of the database is not the one that this binary has; it was changed after it was applied"
    )]
    Changed {
        /// The migration.
        version: i64,
    },
    /// A migration was interrupted.
    #[error("migration {version} was interrupted and left the database unfinished; see the table _sqlx_migrations")]
    Unfinished {
        /// The migration.
        version: i64,
    },
    /// A migration failed.
    #[error("a migration failed: {0}")]
    Failed(#[source] MigrateError),
}

/// Applies the missing migrations. Any number of servers may start at once: one of them migrates, and the others wait
/// as long as for any lock. If none is missing, no privilege to change tables is needed.
pub async fn run(options: PgConnectOptions) -> Result<(), MigrationError> {
    let options = options
        .application_name("mancala-server migrate")
        .options([("statement_timeout", STATEMENT_TIMEOUT), ("lock_timeout", LOCK_TIMEOUT)]);
    let mut connection = tokio::time::timeout(CONNECT_TIMEOUT, options.connect())
        .await
        .unwrap_or(Err(sqlx::Error::PoolTimedOut))
        .map_err(MigrationError::Unreachable)?;
    if is_complete(&mut connection).await {
        return Ok(());
    }
    MIGRATOR.run_direct(None, &mut connection, false).await.map_err(|error| match error {
        MigrateError::VersionMissing(version) => MigrationError::Newer { version },
        MigrateError::VersionMismatch(version) => MigrationError::Changed { version },
        MigrateError::Dirty(version) => MigrationError::Unfinished { version },
        other => MigrationError::Failed(other),
    })?;
    // The migrations are committed; an error while closing changes nothing.
    let _ = connection.close().await;
    Ok(())
}

/// Whether the database has exactly the migrations of this binary.
async fn is_complete(connection: &mut PgConnection) -> bool {
    let applied = sqlx::query!("select version, checksum from _sqlx_migrations where success order by version");
    let applied = applied.fetch_all(connection).await.unwrap_or_default();
    let ours = MIGRATOR.iter().map(|migration| (migration.version, &*migration.checksum));
    applied.iter().map(|row| (row.version, &*row.checksum)).eq(ours)
}

/// Whether the database answers and has every migration of this binary.
pub async fn are_current(pool: &PgPool) -> Result<bool, DbError> {
    let newest = MIGRATOR.iter().map(|migration| migration.version).max();
    let applied = sqlx::query_scalar!("select max(version) from _sqlx_migrations where success")
        .fetch_one(pool)
        .instrument(statement("select _sqlx_migrations"))
        .await?;
    Ok(applied >= newest)
}
