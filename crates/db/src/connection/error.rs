//! The errors of statements, by what a caller can do about them.

use std::{fmt::Display, io::ErrorKind, sync::Arc};

use sqlx::postgres::{PgDatabaseError, PgSeverity};
use thiserror::Error;

use super::{doubt, renewal};

/// Why a statement failed, named by what its caller can do about it.
#[derive(Clone, Debug, Error)]
pub enum DbError {
    /// The connection failed. Only a new read shows whether the statement took effect.
    #[error("the connection to the database was lost")]
    ConnectionLost(#[source] Arc<sqlx::Error>),
    /// There is no connection: the statement was not sent.
    #[error("the database cannot be reached")]
    Unreachable(#[source] Arc<sqlx::Error>),
    /// A lock or a timeout ended the statement: it had no effect and can be retried.
    #[error("the database is busy")]
    Busy(#[source] Arc<sqlx::Error>),
    /// The database answers, and cannot do its work: it is read-only, its disk is full, it lacks memory or a right. The
    /// statement had no effect and can be retried when an operator or a failover has helped.
    #[error("the database cannot do its work")]
    OutOfService(#[source] Arc<sqlx::Error>),
    /// The queue of appends is full: this one was not sent.
    #[error("too many appends are queued for the database")]
    QueueFull,
    /// A row violates the named constraint: it was not stored.
    #[error("the constraint {name} is violated")]
    Constraint {
        /// The constraint.
        name: String,
    },
    /// A stored row is not a valid value of the domain.
    #[error("{table}.{column} of {id} is inconsistent: {detail}")]
    Inconsistent {
        /// The table.
        table: &'static str,
        /// The column, or the group of columns.
        column: &'static str,
        /// The id of the row, or of its game.
        id: String,
        /// The description of the damage.
        detail: String,
    },
    /// Any other error: a bug in the service.
    #[error("the database refused a statement")]
    Failed(#[source] Arc<sqlx::Error>),
}

impl DbError {
    /// No connection was available in time.
    pub(crate) fn unreachable() -> Self {
        Self::Unreachable(Arc::new(sqlx::Error::PoolTimedOut))
    }

    /// Another transaction holds the row's lock.
    pub(crate) fn locked() -> Self {
        Self::Busy(Arc::new(sqlx::Error::Io(ErrorKind::ResourceBusy.into())))
    }

    /// The connection no longer answers.
    pub(crate) fn silent() -> Self {
        Self::ConnectionLost(Arc::new(sqlx::Error::Io(ErrorKind::TimedOut.into())))
    }

    /// Whether a statement on several rows may have failed because of one of them, and had no effect.
    pub(crate) const fn may_be_caused_by_one_row(&self) -> bool {
        matches!(self, Self::Busy(_) | Self::Constraint { .. } | Self::Failed(_))
    }

    /// Whether the stored data is wrong: a retry fails in the same way, and a statement on other rows does not.
    pub fn is_data_error(&self) -> bool {
        match self {
            Self::Inconsistent { .. } | Self::Constraint { .. } => true,
            Self::Failed(error) => match &**error {
                sqlx::Error::Decode(_) | sqlx::Error::ColumnDecode { .. } => true,
                // data_exception, data_corrupted, index_corrupted
                sqlx::Error::Database(cause) => cause.code().is_some_and(|code| is_of_data(&code)),
                _ => false,
            },
            Self::ConnectionLost(_)
            | Self::Unreachable(_)
            | Self::Busy(_)
            | Self::OutOfService(_)
            | Self::QueueFull => false,
        }
    }

    /// Whether a failover or the end of a start of the database may let the same statement succeed.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::ConnectionLost(error) | Self::Unreachable(error) | Self::OutOfService(error) => may_pass(error),
            _ => false,
        }
    }

    pub(crate) fn inconsistent(
        table: &'static str,
        column: &'static str,
        id: impl Display,
        detail: impl Display,
    ) -> Self {
        Self::Inconsistent { table, column, id: id.to_string(), detail: detail.to_string() }
    }
}

impl DbError {
    /// PostgreSQL's code of the error (SQLSTATE), if PostgreSQL has reported it.
    pub fn sqlstate(&self) -> Option<String> {
        let (Self::ConnectionLost(error)
        | Self::Unreachable(error)
        | Self::Busy(error)
        | Self::OutOfService(error)
        | Self::Failed(error)) = self
        else {
            return None;
        };
        Some(error.as_database_error()?.code()?.into_owned())
    }
}

/// Whether a database that starts, stops, fails over or has no free connection has caused this error.
pub(crate) fn may_pass(error: &sqlx::Error) -> bool {
    match error {
        // connection_exception, read_only_sql_transaction, too_many_connections, operator_intervention
        sqlx::Error::Database(cause) => {
            let code = cause.code().unwrap_or_default();
            ["08", "25006", "53300", "57P"].iter().any(|prefix| code.starts_with(prefix))
        }
        sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::PoolTimedOut | sqlx::Error::WorkerCrashed => true,
        _ => false,
    }
}

/// The variants of [`DbError`] for what PostgreSQL reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Lost,
    Unreachable,
    Busy,
    OutOfService,
    Failed,
}

/// The meaning of a code of PostgreSQL (SQLSTATE) for the caller. `is_fatal`: PostgreSQL has closed the connection.
fn kind_of(code: &str, is_fatal: bool, routine: Option<&str>) -> Kind {
    // A class of codes is named by its first characters.
    let is_of = |codes: &[&str]| codes.iter().any(|prefix| code.starts_with(prefix));
    // serialization_failure, deadlock_detected, object_in_use, lock_not_available, query_canceled
    if is_of(&["40001", "40P01", "55006", "55P03", "57014"]) {
        return Kind::Busy;
    }
    // too_many_connections, a database that takes no connections, invalid_authorization, invalid_catalog_name
    if is_of(&["53300", "55000", "28", "3D"]) {
        return Kind::Unreachable;
    }
    // connection_exception, operator_intervention (shutting down, crashed, starting up), statement_completion_unknown
    if is_fatal || is_of(&["08", "57P", "40003"]) || is_of_prepared_statement(code, routine) {
        return Kind::Lost;
    }
    // read_only_sql_transaction, insufficient_privilege, insufficient_resources (disk, memory, a configured limit),
    // program_limit_exceeded (no more transactions before a vacuum), system_error (I/O, a missing file)
    if is_of(&["25006", "42501", "53", "54000", "58"]) {
        return Kind::OutOfService;
    }
    Kind::Failed
}

/// Whether a statement that the connection has prepared is gone or out of date. Behind a pooler the statement is on
/// another connection. After a migration its columns may have other types. A new connection prepares it anew.
fn is_of_prepared_statement(code: &str, routine: Option<&str>) -> bool {
    // invalid_sql_statement_name, duplicate_prepared_statement
    matches!(code, "26000" | "42P05")
        // feature_not_supported, reported by the function that finds a changed result type
        || code == "0A000" && routine == Some("RevalidateCachedQuery")
}

/// Whether a code of PostgreSQL says that stored data is wrong or damaged.
fn is_of_data(code: &str) -> bool {
    code.starts_with("22") || matches!(code, "XX001" | "XX002")
}

/// Whether an open connection has ended. Failures to connect say nothing of open connections.
fn has_ended_an_open_connection(error: &sqlx::Error) -> bool {
    match error {
        // admin_shutdown, crash_shutdown
        sqlx::Error::Database(cause) => matches!(cause.code().as_deref(), Some("57P01" | "57P02")),
        sqlx::Error::Io(cause) => {
            matches!(cause.kind(), ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe)
        }
        _ => false,
    }
}

/// Whether a new connection may succeed where this one has failed: it may lead to another server after a failover.
fn is_of_old_connection(code: &str, routine: Option<&str>) -> bool {
    code == "25006" || is_of_prepared_statement(code, routine)
}

impl From<sqlx::Error> for DbError {
    fn from(error: sqlx::Error) -> Self {
        if has_ended_an_open_connection(&error) {
            renewal::suspect();
        }
        let error = Arc::new(error);
        match &*error {
            sqlx::Error::Database(cause) => {
                if let Some(name) = cause.constraint() {
                    return Self::Constraint { name: name.to_owned() };
                }
                let code = cause.code().unwrap_or_default();
                let cause = cause.try_downcast_ref::<PgDatabaseError>();
                let is_fatal =
                    cause.is_some_and(|cause| matches!(cause.severity(), PgSeverity::Fatal | PgSeverity::Panic));
                let routine = cause.and_then(PgDatabaseError::routine);
                if is_of_old_connection(&code, routine) {
                    renewal::request();
                }
                // insufficient_privilege
                if code == "42501" {
                    doubt::RIGHTS.raise();
                }
                // disk_full
                if code == "53100" {
                    doubt::ROOM.raise();
                }
                match kind_of(&code, is_fatal, routine) {
                    Kind::Lost => Self::ConnectionLost(error),
                    Kind::Unreachable => Self::Unreachable(error),
                    Kind::Busy => Self::Busy(error),
                    Kind::OutOfService => Self::OutOfService(error),
                    Kind::Failed => Self::Failed(error),
                }
            }
            sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed => {
                Self::ConnectionLost(error)
            }
            sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed => Self::Unreachable(error),
            _ => Self::Failed(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_says_whether_a_retry_can_succeed() {
        for (kind, codes) in [
            (Kind::Busy, &["40001", "40P01", "55006", "55P03", "57014"][..]),
            (Kind::Unreachable, &["53300", "55000", "28000", "28P01", "3D000"]),
            (Kind::Lost, &["08006", "08P01", "57P01", "57P02", "57P03", "57P05", "40003", "26000", "42P05"]),
            (Kind::OutOfService, &["25006", "42501", "53000", "53100", "53200", "53400", "54000", "58030", "58P01"]),
            // A wrong statement, a wrong value, and damaged data: a retry fails in the same way.
            (Kind::Failed, &["42703", "42P01", "22003", "23514", "XX000", "XX001", "XX002", "0A000", "54001"]),
        ] {
            for code in codes {
                assert_eq!(kind_of(code, false, None), kind, "{code}");
            }
        }
        assert_eq!(kind_of("0A000", false, Some("RevalidateCachedQuery")), Kind::Lost);
        // idle_in_transaction_session_timeout ends the connection, and so does an unknown setting of a new one.
        for code in ["25P03", "42704", "XX000"] {
            assert_eq!(kind_of(code, true, None), Kind::Lost, "{code}");
        }
        assert_eq!(kind_of("53300", true, None), Kind::Unreachable);
    }

    #[test]
    fn a_code_says_whether_stored_data_is_wrong() {
        assert!(["22003", "22P02", "XX001", "XX002"].into_iter().all(is_of_data));
        assert!(!["42703", "40P01", "57014", "XX000", "58030"].into_iter().any(is_of_data));
    }

    #[test]
    fn a_new_connection_is_tried_where_another_server_may_answer() {
        assert!(is_of_old_connection("25006", None) && is_of_old_connection("26000", None));
        assert!(!is_of_old_connection("53100", None) && !is_of_old_connection("0A000", None));
    }
}
