//! The connections through which appends go, each held by one append after the other.
//!
//! A pool asks every connection that comes back to it whether it is still alive: a second round trip for each statement,
//! which halved the rate of moves. Here a connection that failed is thrown away, and nobody is asked.

use std::{fmt, time::Duration};

use sqlx::{ConnectOptions, PgConnection, postgres::PgConnectOptions};
use tokio::{sync::Mutex, time::timeout};
use uuid::Uuid;

use super::{DbError, with_limits};

/// How long an append waits for those before it on its connection, and for a new connection. Both mean that the database
/// does not keep up, or is away.
const WAIT: Duration = Duration::from_secs(3);

/// How long a statement may take as seen from here: longer than the server lets it run, so that only a connection that has
/// gone silent is given up.
const STATEMENT_WAIT: Duration = Duration::from_secs(8);

/// A fixed number of connections for appends, made when first needed. Appends to one game share one, so that they wait for
/// each other here and not for the row's lock; other workers and processes have connections of their own.
pub struct Writers {
    options: PgConnectOptions,
    connections: Vec<Mutex<Option<PgConnection>>>,
}

impl Writers {
    /// At most `count` connections.
    pub fn new(options: PgConnectOptions, count: u32) -> Self {
        Self { options: with_limits(options), connections: (0..count.max(1)).map(|_| Mutex::default()).collect() }
    }

    /// How many connections are held by an append right now.
    pub fn in_use(&self) -> usize {
        self.connections.iter().filter(|slot| slot.try_lock().is_err()).count()
    }

    /// Runs a statement for a game. A connection is put back only when the statement is through with it: one whose caller
    /// went away in the middle, or which failed, is closed.
    pub(super) async fn run<T>(
        &self,
        game: Uuid,
        statement: impl AsyncFnOnce(&mut PgConnection) -> Result<T, DbError>,
    ) -> Result<T, DbError> {
        // The last bytes of a UUIDv7 are random.
        let slot = &self.connections[game.as_u128() as usize % self.connections.len()];
        let mut slot = timeout(WAIT, slot.lock()).await.map_err(|_| DbError::unreachable())?;
        let mut connection = match slot.take() {
            Some(connection) => connection,
            None => timeout(WAIT, self.options.connect()).await.map_err(|_| DbError::unreachable())??,
        };
        let outcome = timeout(STATEMENT_WAIT, statement(&mut connection)).await;
        let outcome = outcome.unwrap_or_else(|_| Err(DbError::silent()));
        if !matches!(outcome, Err(DbError::ConnectionLost(_))) {
            *slot = Some(connection);
        }
        outcome
    }
}

/// A database's options may hold its password.
impl fmt::Debug for Writers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writers").field("connections", &self.connections.len()).finish_non_exhaustive()
    }
}
