//! What can go wrong between the service and its database.

use std::{fmt::Display, sync::Arc};

use thiserror::Error;

/// A failure of a query, named by what its caller can do about it.
#[derive(Clone, Debug, Error)]
pub enum DbError {
    /// The connection failed: whether the statement took effect is unknown until it is read again.
    #[error("the connection to the database is lost")]
    ConnectionLost(#[source] Arc<sqlx::Error>),
    /// There is no connection to be had: the statement was not sent.
    #[error("the database cannot be reached")]
    Unreachable(#[source] Arc<sqlx::Error>),
    /// A lock or a time-out ended the statement: it had no effect and can be tried again.
    #[error("the database is busy")]
    Busy(#[source] Arc<sqlx::Error>),
    /// More appends wait than the database takes: this one was not sent.
    #[error("too many appends wait for the database")]
    QueueFull,
    /// A row broke the named constraint: it was not stored.
    #[error("the constraint {name} forbids it")]
    Constraint { name: String },
    /// A row that cannot be a value of the domain.
    #[error("{table}.{column} of {id} is inconsistent: {detail}")]
    Inconsistent { table: &'static str, column: &'static str, id: String, detail: String },
    /// Anything else: a fault of ours.
    #[error("the database refused a statement")]
    Failed(#[source] Arc<sqlx::Error>),
}

impl DbError {
    /// Waiting for a connection took too long.
    pub(crate) fn unreachable() -> Self {
        Self::Unreachable(Arc::new(sqlx::Error::PoolTimedOut))
    }

    /// Somebody has the row locked.
    pub(crate) fn locked() -> Self {
        Self::Busy(Arc::new(sqlx::Error::Io(std::io::ErrorKind::ResourceBusy.into())))
    }

    /// A connection that does not answer any more.
    pub(crate) fn silent() -> Self {
        Self::ConnectionLost(Arc::new(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into())))
    }

    /// Whether a statement about several rows may have failed because of one of them, and had no effect.
    pub(crate) const fn may_be_caused_by_one_row(&self) -> bool {
        matches!(self, Self::Busy(_) | Self::Constraint { .. } | Self::Failed(_))
    }

    /// Whether it is what the rows hold that is wrong: trying again leads to the same, and with other rows to something else.
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
