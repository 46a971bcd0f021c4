//! A connection that one task has for itself.

use std::time::Duration;

use sqlx::{ConnectOptions, PgConnection, postgres::PgConnectOptions};
use tokio::time::timeout;

use super::{DbError, with_limits};

/// How long a new connection is waited for. The database is away if it takes longer.
const CONNECT_WAIT: Duration = Duration::from_secs(3);

/// How long a statement may take as seen from here: longer than the server lets it run, so that only a connection that has
/// gone silent is given up.
const STATEMENT_WAIT: Duration = Duration::from_secs(8);

/// A connection, made when it is first needed. A pool asks every connection that comes back to it whether it is still
/// alive, a second round trip for each statement; here one that failed is thrown away, and nobody is asked.
pub(crate) struct DedicatedConnection {
    options: PgConnectOptions,
    connection: Option<PgConnection>,
}

impl DedicatedConnection {
    pub(crate) fn new(options: PgConnectOptions) -> Self {
        Self { options: with_limits(options), connection: None }
    }

    /// Runs a statement. The connection is put back only when the statement is through with it: one that failed is closed.
    pub(crate) async fn run<T>(
        &mut self,
        statement: impl AsyncFnOnce(&mut PgConnection) -> Result<T, DbError>,
    ) -> Result<T, DbError> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => timeout(CONNECT_WAIT, self.options.connect()).await.map_err(|_| DbError::unreachable())??,
        };
        let outcome = timeout(STATEMENT_WAIT, statement(&mut connection)).await;
        let outcome = outcome.unwrap_or_else(|_| Err(DbError::silent()));
        if !matches!(outcome, Err(DbError::ConnectionLost(_))) {
            self.connection = Some(connection);
        }
        outcome
    }
}
