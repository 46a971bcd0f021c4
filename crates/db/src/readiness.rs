//! Whether a move can be stored: a transaction can write, and the other needs of an append are met. A writer checks on its own connection,
//! so the result applies to its next append.

use sqlx::{PgConnection, PgPool};
use tracing::Instrument;

use crate::{
    connection::{DbError, doubt, renew_connections, statement},
    migrations, rights,
};

/// The reason why the process cannot store moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// There is no connection to the database, or the database does not answer on it.
    Connection,
    /// Commits wait for a synchronous standby.
    SynchronousStandby,
    /// The database has no free connection.
    Connections,
    /// The database is a standby.
    Standby,
    /// Transactions are read-only.
    ReadOnly,
    /// A disk of the database is full.
    Disk,
    /// The database cannot read or write its files.
    Io,
    /// The database lacks memory.
    Memory,
    /// The database user lacks a right.
    Rights,
    /// The database lacks a migration.
    Migrations,
    /// Any other failure.
    Database,
}

/// A failed check, and its cause if PostgreSQL reported one.
#[derive(Clone, Debug)]
pub struct NotReady {
    /// The reason.
    pub fault: Fault,
    /// The error, for the log.
    pub cause: Option<DbError>,
    /// The missing parts, for the log: rights, each as `insert on event`, or the part that gets no connection.
    pub lacking: Vec<String>,
}

impl From<Fault> for NotReady {
    fn from(fault: Fault) -> Self {
        Self { fault, cause: None, lacking: vec![] }
    }
}

impl From<DbError> for NotReady {
    fn from(error: DbError) -> Self {
        let code = error.sqlstate();
        let fault = match code.as_deref() {
            Some("53300") => Fault::Connections,
            Some("25006") => Fault::ReadOnly,
            Some("53100") => Fault::Disk,
            Some("53200") => Fault::Memory,
            Some("42501") => Fault::Rights,
            // undefined_table
            Some("42P01") => Fault::Migrations,
            Some(code) if code.starts_with("58") => Fault::Io,
            _ if matches!(error, DbError::ConnectionLost(_) | DbError::Unreachable(_)) => Fault::Connection,
            _ => Fault::Database,
        };
        Self { fault, cause: Some(error), lacking: vec![] }
    }
}

/// Checks that a move can be stored.
pub(crate) async fn check(connection: &mut PgConnection) -> Result<(), NotReady> {
    let asked = sqlx::query!(
        r#"
        select pg_is_in_recovery() as "is_standby!", current_setting('transaction_read_only') = 'on' as "is_read_only!",
            -- A table that is missing is a missing migration.
            (select bool_and(coalesce(has_table_privilege(to_regclass(name), privilege), true)) from (values
                ('game', 'select'), ('game', 'insert'), ('game', 'update'), ('event', 'select'), ('event', 'insert'),
                ('player', 'select'), ('webhook_event', 'insert'), ('computer_turn', 'insert'),
                ('unexplored_game', 'insert')) as needed (name, privilege)) as "has_rights!"
        "#
    );
    let asked = asked.fetch_one(&mut *connection).instrument(statement("select settings"));
    let asked = asked.await.map_err(DbError::from)?;
    if !asked.has_rights {
        doubt::RIGHTS.raise();
    }
    let lacking = rights::lacking(&mut *connection).await?;
    for (fails, fault) in [
        (asked.is_standby, Fault::Standby),
        (asked.is_read_only, Fault::ReadOnly),
        (!lacking.is_empty(), Fault::Rights),
        (!migrations::are_current(&mut *connection).await?, Fault::Migrations),
    ] {
        if fails {
            if matches!(fault, Fault::Standby | Fault::ReadOnly) {
                // After a failover a new connection may lead to the primary.
                renew_connections();
            }
            return Err(NotReady { fault, cause: None, lacking });
        }
    }
    Ok(write(connection).await?)
}

/// Whether a commit of this user waits for a synchronous standby.
pub async fn waits_for_standby(pool: &PgPool) -> Result<bool, DbError> {
    let waits = sqlx::query_scalar!(
        r#"
        select exists (
            select from pg_stat_activity where usename = session_user and wait_event = 'SyncRep'
        ) as "waits!"
        "#
    );
    Ok(waits.fetch_one(pool).instrument(statement("select pg_stat_activity")).await?)
}

/// Commits a record to the database's log (WAL), which changes no table. After a failure for lack of room the statement writes half
/// a MiB to the disk too, until it succeeds.
///
/// A table that has free pages takes rows while the disk is full. So a row in a table would not show that there is room. A
/// temporary file needs new space at once: the value of a function that does not fit into `work_mem` goes to one.
async fn write(connection: &mut PgConnection) -> Result<(), DbError> {
    const COMMIT: &str = "select pg_logical_emit_message(true, 'mancala-server', 'ready')";
    // Several statements in one message are one transaction.
    const WRITE_AND_COMMIT: &str = "set local work_mem = '64kB'; \
        select count(*) from unnest(array_fill(repeat('x', 8192), array[64])); \
        select pg_logical_emit_message(true, 'mancala-server', 'ready')";
    let needs_room = doubt::ROOM.is_raised();
    let statements = if needs_room { WRITE_AND_COMMIT } else { COMMIT };
    let written = sqlx::raw_sql(statements).execute(connection).instrument(statement("write")).await;
    match written.map_err(DbError::from) {
        // configuration_limit_exceeded: the operator allows no temporary files. Moves need none.
        Err(error) if error.sqlstate().as_deref() == Some("53400") => doubt::ROOM.end(),
        Ok(_) if needs_room => doubt::ROOM.end(),
        written => written.map(drop)?,
    }
    Ok(())
}
