//! What the handlers of one worker share. Knows no route and no handler.

use std::sync::Arc;

use sqlx::PgPool;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::{passwords::Passwords, readiness::Readiness, readings::Readings, recent::RecentGames, tokens::Tokens};
use crate::{
    db::{Lookups, Writers},
    http::answer::cursor::Cursors,
    live::Hub,
    metrics::{Connections, Metrics},
    webhook::Reach,
};

/// What the handlers of one worker can reach.
#[derive(Debug)]
pub(crate) struct AppState {
    pub(crate) db: PgPool,
    pub(crate) writers: Arc<Writers>,
    pub(crate) tokens: Arc<Tokens>,
    pub(crate) cursors: Cursors,
    pub(crate) passwords: Arc<Passwords>,
    /// Asks whether games that are remembered are still the present ones.
    pub(crate) lookups: Lookups,
    pub(crate) recent: Arc<RecentGames>,
    pub(crate) hub: Arc<Hub>,
    /// What is read for streams right now.
    pub(crate) readings: Arc<Readings>,
    /// Of many who come to wait, or are woken, at once so many read their game at a time: a crowd does not keep all
    /// connections from the others, nor does it run out of the time that a connection is waited for.
    pub(crate) crowd: Semaphore,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) readiness: Arc<Readiness>,
    /// How long a new game waits for somebody to join.
    pub(crate) open_for: time::Duration,
    pub(crate) webhook_reach: Reach,
    /// Cancelled when the server begins to stop.
    pub(crate) draining: CancellationToken,
}

impl AppState {
    /// What the metrics say of this worker's connections.
    pub(crate) fn connections(&self) -> Connections {
        Connections { pool: self.db.size() as usize, pool_idle: self.db.num_idle(), ..Connections::default() }
    }
}
