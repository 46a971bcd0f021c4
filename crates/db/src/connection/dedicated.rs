//! A connection that one task has for itself. It knows nothing of the statements that run on it.

use std::{
    mem,
    time::{Duration, Instant},
};

use sqlx::PgConnection;
use tokio::time::timeout;

use super::{
    Database, DbError, renewal,
    settings::LIMITS,
    sight::{self, Sight},
};

/// How long a task waits for a new connection. If it takes longer, the database is down.
const CONNECT_WAIT: Duration = Duration::from_secs(3);

/// How long a statement may take as seen by the client: longer than the server lets it run (5 s). So the timeout closes
/// only a connection that no longer answers.
const STATEMENT_WAIT: Duration = Duration::from_secs(8);

/// A connection that is opened when it is first needed. A pool pings each connection that is returned to it, which is a
/// second round trip for each statement. Here a connection that failed is dropped instead, without a ping.
pub(crate) struct DedicatedConnection {
    database: Database,
    /// The open connection, with the time at which it was opened.
    connection: Option<(Instant, PgConnection)>,
    /// The database's generation when the connection was opened.
    generation: u64,
    /// The database's epoch when the last statement ran.
    epoch: u64,
}

impl DedicatedConnection {
    pub(crate) fn new(database: Database) -> Self {
        let epoch = database.epoch();
        Self { database, connection: None, generation: 0, epoch }
    }

    /// Runs a statement. The connection is kept only after the statement has ended: one that is lost is closed.
    ///
    /// If the database was set back since the last statement, this one is not sent. Its caller may have decided on data
    /// that is no longer there. To the caller it looks as if the connection were lost.
    pub(crate) async fn run<T>(
        &mut self,
        statement: impl AsyncFnOnce(&mut PgConnection) -> Result<T, DbError>,
    ) -> Result<T, DbError> {
        let (opened, mut connection) = self.take_or_open().await?;
        let epoch = self.database.epoch();
        if mem::replace(&mut self.epoch, epoch) != epoch {
            return Err(DbError::silent());
        }
        let outcome = timeout(STATEMENT_WAIT, statement(&mut connection)).await;
        let outcome = outcome.unwrap_or_else(|_| Err(DbError::silent()));
        if !matches!(outcome, Err(DbError::ConnectionLost(_))) {
            self.connection = Some((opened, connection));
        }
        outcome
    }

    /// Reads the database's state, and notifies the observers if the database was set back.
    pub(crate) async fn look(&mut self) -> Result<Sight, DbError> {
        let (opened, mut connection) = self.take_or_open().await?;
        let sight = timeout(STATEMENT_WAIT, sight::read(&mut connection)).await;
        let sight = sight.unwrap_or_else(|_| Err(DbError::silent()))?;
        self.database.seen(&sight);
        (self.connection, self.epoch) = (Some((opened, connection)), self.database.epoch());
        Ok(sight)
    }

    /// The connection, with the time when it was opened. One to a former host, or one that is to be renewed, is dropped.
    async fn take_or_open(&mut self) -> Result<(Instant, PgConnection), DbError> {
        let generation = self.database.generation();
        let is_current = self.generation == generation;
        if let Some(open) =
            self.connection.take().filter(|(opened, _)| is_current && !renewal::is_due(opened.elapsed()))
        {
            return Ok(open);
        }
        self.generation = generation;
        let opened = Instant::now();
        let connection = timeout(CONNECT_WAIT, self.open()).await.map_err(|_| DbError::unreachable())??;
        Ok((opened, connection))
    }

    /// Opens a connection, and looks whether the database is still the one that was known.
    async fn open(&self) -> Result<PgConnection, DbError> {
        let mut connection = self.database.connect(&LIMITS).await?;
        // If it fails, so will the statement.
        if let Ok(sight) = sight::read(&mut connection).await {
            self.database.seen(&sight);
        }
        Ok(connection)
    }
}
