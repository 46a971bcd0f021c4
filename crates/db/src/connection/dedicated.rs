//! A connection that one task has for itself. It knows nothing of the statements that run on it.

use std::time::Duration;

use sqlx::{ConnectOptions, PgConnection, postgres::PgConnectOptions};
use tokio::time::timeout;

use super::{DbError, with_limits};

/// How long a task waits for a new connection. If it takes longer, the database is down.
const CONNECT_WAIT: Duration = Duration::from_secs(3);

/// How long a statement may take as seen by the client: longer than the server lets it run (5 s). So the timeout closes
/// only a connection that no longer answers.
const STATEMENT_WAIT: Duration = Duration::from_secs(8);

/// A connection that is opened when it is first needed. A pool pings each connection that is returned to it, which is a
/// second round trip for each statement. Here a connection that failed is dropped instead, without a ping.
pub(crate) struct DedicatedConnection {
    options: PgConnectOptions,
    connection: Option<PgConnection>,
}

impl DedicatedConnection {
    pub(crate) fn new(options: PgConnectOptions) -> Self {
        Self { options: with_limits(options), connection: None }
    }

    /// Runs a statement. The connection is kept only after the statement has ended: one that is lost is closed.
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
