//! Readiness of the database, which each process checks at most once a second.

use std::time::{Duration, Instant};

use sqlx::PgPool;
use tokio::sync::Mutex;

use crate::{db::migrations, http::answer::problem::Problem};

/// How long a good result is cached. Load balancers probe every few seconds.
const CACHED_FOR: Duration = Duration::from_secs(1);

/// The last check of the database, cached for [`CACHED_FOR`]. Many probes thus cost one query a second.
#[derive(Debug, Default)]
pub struct Readiness {
    last: Mutex<Option<LastCheck>>,
}

/// The time and the result of a check.
#[derive(Debug)]
struct LastCheck {
    answered_at: Instant,
    is_current: Result<bool, Problem>,
}

impl Readiness {
    /// Whether the database has every migration. A probe that arrives during a check waits for that result, good or bad. A failure
    /// is not cached beyond that: the next probe checks again.
    pub(crate) async fn is_current(&self, db: &PgPool) -> Result<bool, Problem> {
        let arrived_at = Instant::now();
        let mut last = self.last.lock().await;
        if let Some(LastCheck { answered_at, is_current }) = &*last
            && (*answered_at > arrived_at || is_current.is_ok() && answered_at.elapsed() < CACHED_FOR)
        {
            return is_current.clone();
        }
        let is_current = migrations::are_current(db).await.map_err(Problem::from);
        *last = Some(LastCheck { answered_at: Instant::now(), is_current: is_current.clone() });
        is_current
    }
}
