//! The schema's migrations, built into the binary, which of them a database has, and whether this binary may work on it.

use std::{
    collections::BTreeSet,
    sync::LazyLock,
    time::{Duration, Instant},
};

use sqlx::{
    Connection, PgConnection, Row,
    migrate::{MigrateError, Migration, Migrator},
};
use thiserror::Error;
use tokio::time::{sleep, timeout};
use tracing::Instrument;

use crate::connection::{Database, DbError, Setting, may_pass, session_name_for, statement};

/// sqlx would refuse every database with a later migration. [`Schema::check_compatibility`] refuses only those that exclude this binary.
static MIGRATOR: Migrator = Migrator { ignore_missing: true, ..sqlx::migrate!("../../migrations") };

/// The only encoding of a database that is accepted, by PostgreSQL's name.
const ENCODING: &str = "UTF8";

/// A migration may rewrite a large table; one that runs longer is a mistake.
const STATEMENT_TIMEOUT: &str = "30min";

/// While a migration waits for a table's lock, all later queries queue behind it. So it waits for less time than a request
/// can, gives the queue way, and tries again.
const LOCK_TIMEOUT: &str = "500ms";

/// The code of PostgreSQL for a table that is not there.
const UNDEFINED_TABLE: &str = "42P01";

/// The pause before the second attempt, after a lock of a table or another passing failure; each later one is twice as long.
const PAUSE: Duration = Duration::from_millis(500);

/// The longest of these pauses.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// How long the start waits for locks on tables, and for the end of a failover, unless an option says otherwise.
const WAIT: Duration = Duration::from_mins(1);

/// How long the start waits while another process migrates: as long as a statement of a migration may take.
const OTHER_MIGRATOR_WAIT: Duration = Duration::from_mins(30);

/// How long a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The settings of a migration's connection.
const SETTINGS: [Setting; 2] = [("statement_timeout", STATEMENT_TIMEOUT), ("lock_timeout", LOCK_TIMEOUT)];

/// The lock of the migrations behind a pooler that lends connections for single transactions. The letters of "mancala".
const MIGRATIONS_LOCK: i64 = 0x6d_616e_6361_6c61;

/// Why a database could not be migrated.
#[derive(Debug, Error)]
pub enum MigrationError {
    /// There is no connection.
    #[error("the database cannot be reached: {0}")]
    Unreachable(#[source] DbError),
    /// The database is not in UTF-8: its functions would count bytes instead of letters, and refuse names.
    #[error(
        "the database is in {found}, and must be in UTF8: make another one with `create database mancala owner mancala \
         encoding 'UTF8' template template0`"
    )]
    Encoding {
        /// PostgreSQL's name of the encoding.
        found: String,
    },
    /// The database has a later migration, and its mark excludes this binary.
    #[error(
        "the database is newer than this binary: it needs a mancala-server with migration {least} or later, and the newest \
         of this one is {newest}; run the version that migrated the database, or a later one"
    )]
    Newer {
        /// The newest migration that a binary must have at least.
        least: i64,
        /// The newest migration of this binary.
        newest: i64,
    },
    /// The database has a migration that this binary does not have, although it has later ones, or no mark.
    #[error(
        "the database has migration {version}, which this mancala-server does not have; another line of versions made it: \
         run the version that made it"
    )]
    Unknown {
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
    /// Other transactions held the locks of tables, or another process migrated, for all the time that the start waits.
    #[error("a migration waited too long for a lock that another transaction holds: {0}")]
    Locked(#[source] MigrateError),
    /// A migration failed.
    #[error("a migration failed: {0}")]
    Failed(#[source] MigrateError),
}

impl MigrationError {
    /// Whether the same attempt may succeed after a failover, or when the database has started.
    fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable(error) => error.may_pass(),
            Self::Failed(MigrateError::ExecuteMigration(cause, _) | MigrateError::Execute(cause)) => may_pass(cause),
            _ => false,
        }
    }
}

/// Applies the missing migrations, and waits up to a minute for the locks of tables: see [`run_within`].
pub async fn run(database: impl Into<Database>) -> Result<(), MigrationError> {
    run_within(&database.into(), WAIT).await
}

/// Applies the missing migrations. Any number of servers may start at once: one of them migrates, and the others wait for it.
/// If none is missing, no privilege to change tables is needed.
///
/// A migration that does not get the lock of a table is undone and tried again, for up to `wait`. Between two attempts the
/// queries that queued behind it run. The same holds for one that a failover or a restart of the database has cut off.
pub async fn run_within(database: &Database, wait: Duration) -> Result<(), MigrationError> {
    let begun = Instant::now();
    let mut pause = PAUSE;
    loop {
        let Err(error) = attempt(database).await else { return Ok(()) };
        let (awaited, wait) = match &error {
            MigrationError::Locked(MigrateError::Execute(_)) => ("another process that migrates", OTHER_MIGRATOR_WAIT),
            MigrationError::Locked(_) => ("a transaction on the same tables", wait),
            error if error.may_pass() => ("a database that takes writes", wait),
            _ => return Err(error),
        };
        if begun.elapsed() + pause > wait {
            return Err(error);
        }
        tracing::warn!(awaited, cause = %error, elapsed_ms = begun.elapsed().as_millis(), "the migrations wait");
        sleep(pause).await;
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

/// Applies the missing migrations once, over a connection of its own: a failed one may still hold the lock of the migrations.
async fn attempt(database: &Database) -> Result<(), MigrationError> {
    let name = session_name_for("migrate");
    let connection = timeout(CONNECT_TIMEOUT, database.connect_as(&name, &SETTINGS)).await;
    let mut connection =
        connection.unwrap_or_else(|_| Err(DbError::unreachable())).map_err(MigrationError::Unreachable)?;
    check_encoding(&mut connection).await?;
    if is_complete(&mut connection).await? {
        return Ok(());
    }
    let outcome = if database.is_pooled_by_transaction() {
        migrate_in_one_transaction(&mut connection).await
    } else {
        MIGRATOR.run_direct(None, &mut connection, false).await
    };
    if outcome.is_ok() {
        // While this process waited for the lock, a later version may have migrated.
        is_complete(&mut connection).await?;
    }
    // Committed work stays, and an error while closing the connection changes nothing.
    let _ = connection.close().await;
    outcome.map_err(failure)
}

/// Applies the missing migrations in one transaction, behind a pooler in transaction mode. The transaction keeps one connection, so the
/// settings and the lock apply to all migrations.
async fn migrate_in_one_transaction(connection: &mut PgConnection) -> Result<(), MigrateError> {
    let mut transaction = connection.begin().await?;
    // The last one, because a large migration makes the server wait between its statements.
    sqlx::query!(
        "select set_config('statement_timeout', $1, true) as statements, set_config('lock_timeout', $2, true) as locks, \
         set_config('idle_in_transaction_session_timeout', '0', true) as pauses",
        STATEMENT_TIMEOUT,
        LOCK_TIMEOUT,
    )
    .fetch_one(&mut *transaction)
    .await?;
    sqlx::query!("select pg_advisory_xact_lock($1)", MIGRATIONS_LOCK).execute(&mut *transaction).await?;
    let migrations = MIGRATOR.migrations.clone();
    let migrator = Migrator { migrations, locking: false, ignore_missing: true, ..Migrator::DEFAULT };
    migrator.run_direct(None, &mut *transaction, false).await?;
    Ok(transaction.commit().await?)
}

/// Refuses a database in another encoding than UTF-8, also one that was migrated by an earlier release.
async fn check_encoding(connection: &mut PgConnection) -> Result<(), MigrationError> {
    // Simple, because a pooler may keep no prepared statements.
    let row = sqlx::raw_sql("select current_setting('server_encoding')").fetch_one(connection).await;
    let found: String =
        row.and_then(|row| row.try_get(0)).map_err(|error| MigrationError::Unreachable(error.into()))?;
    if found == ENCODING { Ok(()) } else { Err(MigrationError::Encoding { found }) }
}

/// Whether another transaction held a lock for too long.
fn is_locked(error: &sqlx::Error) -> bool {
    // lock_not_available, deadlock_detected
    error
        .as_database_error()
        .and_then(sqlx::error::DatabaseError::code)
        .is_some_and(|code| code == "55P03" || code == "40P01")
}

fn failure(error: MigrateError) -> MigrationError {
    match error {
        MigrateError::VersionMismatch(version) => MigrationError::Changed { version },
        MigrateError::Dirty(version) => MigrationError::Unfinished { version },
        MigrateError::ExecuteMigration(ref cause, _) | MigrateError::Execute(ref cause) if is_locked(cause) => {
            MigrationError::Locked(error)
        }
        other => MigrationError::Failed(other),
    }
}

/// Whether the database has every migration of this binary. Refuses one that excludes this binary.
async fn is_complete(connection: &mut PgConnection) -> Result<bool, MigrationError> {
    let schema = Schema::read(connection).await?;
    schema.check_compatibility()?;
    Ok(schema.is_complete())
}

/// The migrations that a database has recorded.
struct Schema {
    /// Number and checksum of each finished migration.
    applied: Vec<(i64, Vec<u8>)>,
    /// The mark of `schema_compatibility`: the newest migration that a binary must have at least.
    least: Option<i64>,
}

impl Schema {
    async fn read(connection: &mut PgConnection) -> Result<Self, MigrationError> {
        let failed = |error| MigrationError::Failed(MigrateError::Execute(error));
        let applied = sqlx::query!("select version, checksum from _sqlx_migrations where success order by version");
        let applied = applied.fetch_all(&mut *connection).await;
        let applied = unless_undefined_table(applied).map_err(failed)?.unwrap_or_default();
        let least = sqlx::query_scalar!("select least_migration from schema_compatibility");
        let least = least.fetch_optional(connection).await;
        let least = unless_undefined_table(least).map_err(failed)?.flatten();
        Ok(Self { applied: applied.into_iter().map(|row| (row.version, row.checksum)).collect(), least })
    }

    /// Whether the database has every migration of this binary, unchanged.
    fn is_complete(&self) -> bool {
        let has = |ours: &Migration| {
            self.applied.iter().any(|(version, checksum)| *version == ours.version && *checksum == *ours.checksum)
        };
        MIGRATOR.iter().all(has)
    }

    /// Refuses a database that this binary would damage or misread. Later migrations are no reason: one that breaks older
    /// binaries raises the mark.
    fn check_compatibility(&self) -> Result<(), MigrationError> {
        let newest = newest();
        let unknown =
            || self.applied.iter().map(|(version, _)| *version).filter(|version| !MIGRATOR.version_exists(*version));
        if let Some(least) = self.least
            && least > newest
        {
            return Err(MigrationError::Newer { least, newest });
        }
        if let Some(version) = unknown().find(|version| *version < newest || self.least.is_none()) {
            return Err(MigrationError::Unknown { version });
        }
        if let Some(latest) = unknown().max() {
            tracing::info!(
                migration.database = latest,
                migration.binary = newest,
                "the database has later migrations than this version, and is marked compatible with it"
            );
        }
        Ok(())
    }
}

/// The tables that this binary's migrations leave behind, with the one that notes the migrations.
pub fn tables() -> &'static BTreeSet<&'static str> {
    static TABLES: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
        let mut tables = BTreeSet::from(["_sqlx_migrations"]);
        for line in MIGRATOR.iter().flat_map(|migration| migration.sql.as_str().lines()) {
            let mut words = line.split([' ', ';', '(']);
            match (words.next(), words.next(), words.next(), words.next(), words.next(), words.next()) {
                (Some("create"), Some("table"), Some(table), ..) => _ = tables.insert(table),
                (Some("drop"), Some("table"), Some(table), ..) => _ = tables.remove(table),
                (Some("alter"), Some("table"), Some(table), Some("rename"), Some("to"), Some(name)) => {
                    tables.remove(table);
                    tables.insert(name);
                }
                _ => {}
            }
        }
        tables
    });
    &TABLES
}

/// The newest migration of this binary.
fn newest() -> i64 {
    MIGRATOR.iter().map(|migration| migration.version).max().unwrap_or_default()
}

/// `None` if a statement failed because its table is not there: a database without migrations, or without the mark.
fn unless_undefined_table<T>(outcome: Result<T, sqlx::Error>) -> Result<Option<T>, sqlx::Error> {
    match outcome {
        Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some(UNDEFINED_TABLE) => Ok(None),
        outcome => outcome.map(Some),
    }
}

/// Whether the database answers, has the newest migration of this binary, and does not exclude this binary by its mark.
pub async fn are_current(connection: &mut PgConnection) -> Result<bool, DbError> {
    let answer = sqlx::query_scalar!(
        r#"
        select exists (select from _sqlx_migrations where version = $1 and success)
            and (select least_migration from schema_compatibility) <= $1
        "#,
        newest()
    );
    let answer = answer.fetch_one(connection).instrument(statement("select _sqlx_migrations")).await;
    Ok(unless_undefined_table(answer)?.flatten().unwrap_or_default())
}
