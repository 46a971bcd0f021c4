//! The errors of statements, by what a caller can do about them.

use std::{fmt::Display, sync::Arc};

use thiserror::Error;

/// Why a statement failed, named by what its caller can do about it.
#[derive(Clone, Debug, Error)]
pub enum DbError {
    /// The connection failed. Only a new read can tell whether the statement took effect.
    #[error("the connection to the database was lost")]
    ConnectionLost(#[source] Arc<sqlx::Error>),
    /// There is no connection: the statement was not sent.
    #[error("the database cannot be reached")]
    Unreachable(#[source] Arc<sqlx::Error>),
    /// A lock or a timeout ended the statement: it had no effect and can be retried.
    #[error("the database is busy")]
    Busy(#[source] Arc<sqlx::Error>),
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
        /// What is wrong.
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
        Self::Busy(Arc::new(sqlx::Error::Io(std::io::ErrorKind::ResourceBusy.into())))
    }

    /// The connection no longer answers.
    pub(crate) fn silent() -> Self {
        Self::ConnectionLost(Arc::new(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into())))
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
                // data_exception
                sqlx::Error::Database(cause) => cause.code().is_some_and(|code| code.starts_with("22")),
                _ => false,
            },
            Self::ConnectionLost(_) | Self::Unreachable(_) | Self::Busy(_) | Self::QueueFull => false,
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

impl From<sqlx::Error> for DbError {
    fn from(error: sqlx::Error) -> Self {
        let error = Arc::new(error);
        match &*error {
            sqlx::Error::Database(cause) => {
                if let Some(name) = cause.constraint() {
                    return Self::Constraint { name: name.to_owned() };
                }
                match cause.code().as_deref() {
                    // serialization_failure, deadlock_detected, lock_not_available, query_canceled
                    Some("40001" | "40P01" | "55P03" | "57014") => Self::Busy(error),
                    // connection_exception, operator_intervention (shutting down, crashed, starting up)
                    Some(code) if code.starts_with("08") || code.starts_with("57P") => Self::ConnectionLost(error),
                    // too_many_connections, invalid_authorization, invalid_catalog_name, a database that takes none
                    Some(code)
                        if code == "53300" || code == "55000" || code.starts_with("28") || code.starts_with("3D") =>
                    {
                        Self::Unreachable(error)
                    }
                    _ => Self::Failed(error),
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
