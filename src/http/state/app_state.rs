//! The state that the handlers of one worker share. Knows no route and no handler.

use std::sync::Arc;

use sqlx::PgPool;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::{
    networks::Networks, passwords::Passwords, readiness::Readiness, readings::Readings, recent::RecentGames,
    tokens::Tokens,
};
use crate::{
    db::{Lookups, Writers},
    http::answer::cursor::Cursors,
    live::Hub,
    metrics::{Connections, Metrics},
    webhook::Reach,
};

/// The state that the handlers of one worker share.
#[derive(Debug)]
pub(crate) struct AppState {
    pub(crate) db: PgPool,
    pub(crate) writers: Arc<Writers>,
    pub(crate) tokens: Arc<Tokens>,
    pub(crate) cursors: Cursors,
    pub(crate) passwords: Arc<Passwords>,
    /// Asks the database whether cached games are still current.
    pub(crate) lookups: Lookups,
    pub(crate) recent: Arc<RecentGames>,
    pub(crate) hub: Arc<Hub>,
    /// Reads in progress that several streams share.
    pub(crate) readings: Arc<Readings>,
    /// Permits for reads of requests that wait or were just woken, which may be many at once. They leave half of the connections
    /// to other requests, and keep reads from timing out in the pool's queue.
    pub(crate) read_permits: Semaphore,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) readiness: Arc<Readiness>,
    /// How long a new game waits for a second player.
    pub(crate) open_for: time::Duration,
    pub(crate) networks: Networks,
    /// How many games against the computer all guests of one network may have at once.
    pub(crate) network_games_max: u32,
    pub(crate) webhook_reach: Reach,
    /// Cancelled when the server begins to stop.
    pub(crate) draining: CancellationToken,
}

impl AppState {
    /// This worker's connections, for the metrics.
    pub(crate) fn connections(&self) -> Connections {
        Connections { pool: self.db.size() as usize, pool_idle: self.db.num_idle(), ..Connections::default() }
    }
}
