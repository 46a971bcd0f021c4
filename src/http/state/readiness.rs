//! Readiness of the database, asked at most once a second by a process.

use std::time::{Duration, Instant};

use sqlx::PgPool;
use tokio::sync::Mutex;

use crate::{db::migrations, http::answer::problem::Problem};

/// Whether the database was ready a moment ago: so many may ask, and the database is asked once a second by a process.
#[derive(Debug, Default)]
pub struct Readiness {
    last: Mutex<Option<Asked>>,
}

/// When the database was asked, and what it said.
#[derive(Debug)]
pub(crate) struct Asked {
    answered_at: Instant,
    is_current: Result<bool, Problem>,
}

impl Readiness {
    /// Who comes while the database is asked waits for that answer, whatever it is. Later, a failure counts no more: the next
    /// one finds out whether the database is back.
    pub(crate) async fn is_current(&self, db: &PgPool) -> Result<bool, Problem> {
        let come_at = Instant::now();
        let mut last = self.last.lock().await;
        if let Some(Asked { answered_at, is_current }) = &*last
            && (*answered_at > come_at || is_current.is_ok() && answered_at.elapsed() < REMEMBERED)
        {
            return is_current.clone();
        }
        let is_current = migrations::are_current(db).await.map_err(Problem::from);
        *last = Some(Asked { answered_at: Instant::now(), is_current: is_current.clone() });
        is_current
    }
}

/// How long an answer of the database is good for: load balancers ask every few seconds.
pub(crate) const REMEMBERED: Duration = Duration::from_secs(1);
