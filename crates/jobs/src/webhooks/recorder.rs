//! Records the results of attempts in batches: those that come in while one batch is recorded are the next one.

use std::{
    panic::AssertUnwindSafe,
    time::{Duration, Instant},
};

use futures_util::FutureExt;
use mancala_db::webhooks::results::{LeaseResult, record};
use mancala_process::clock::now;
use sqlx::PgPool;
use tokio::sync::{mpsc, oneshot};

/// How many runs of attempts are recorded at once: a run has up to 16 results.
const BATCH_MAX: usize = 128;

/// How many runs wait. There are fewer, because each belongs to an attempt in flight.
const QUEUE_MAX: usize = 1024;

/// How long a batch that fails is divided. The runs that are left then fail together, and come again.
const DIVIDE_TIME: Duration = Duration::from_secs(5);

/// Hands results over to be recorded.
#[derive(Clone, Debug)]
pub(super) struct Recorder(mpsc::Sender<Waiting>);

/// Results that wait to be recorded.
#[derive(Debug)]
struct Waiting {
    run: LeaseResult,
    recorded: oneshot::Sender<Result<(), String>>,
}

impl Recorder {
    /// Starts the task that records. It ends with the last recorder.
    pub(super) fn start(pool: PgPool) -> Self {
        let (sender, waiting) = mpsc::channel(QUEUE_MAX);
        tokio::spawn(record_all(pool, waiting));
        Self(sender)
    }

    /// Returns when the results are recorded.
    pub(super) async fn record(&self, run: LeaseResult) -> Result<(), String> {
        const ENDED: &str = "the task that records has ended";
        let (recorded, record) = oneshot::channel();
        self.0.send(Waiting { run, recorded }).await.map_err(|_| ENDED.to_owned())?;
        record.await.unwrap_or_else(|_| Err(ENDED.to_owned()))
    }
}

async fn record_all(pool: PgPool, mut waiting: mpsc::Receiver<Waiting>) {
    let mut batch = vec![];
    while waiting.recv_many(&mut batch, BATCH_MAX).await > 0 {
        let (runs, waiting): (Vec<_>, Vec<_>) =
            batch.drain(..).map(|Waiting { run, recorded }| (run, recorded)).unzip();
        let (begun, mut waiting) = (Instant::now(), waiting.into_iter());
        // The first one last, so that the parts come in order.
        let whole = 0..runs.len();
        let mut parts = vec![whole];
        while let Some(part) = parts.pop() {
            let is_part = part.len() < runs.len();
            let recorded = record_batch(&pool, &runs[part.clone()], is_part).await;
            // A record that fails must not keep the others from being stored.
            if recorded.is_err() && part.len() > 1 && begun.elapsed() < DIVIDE_TIME {
                let middle = usize::midpoint(part.start, part.end);
                parts.extend([middle..part.end, part.start..middle]);
                continue;
            }
            for waits in waiting.by_ref().take(part.len()) {
                let _ = waits.send(recorded.clone());
            }
        }
    }
}

async fn record_batch(pool: &PgPool, runs: &[LeaseResult], is_part: bool) -> Result<(), String> {
    let recorded = AssertUnwindSafe(record(pool, runs, is_part, now())).catch_unwind().await;
    match recorded {
        Ok(recorded) => recorded.map_err(|error| error.to_string()),
        Err(_) => Err("recording them panicked".to_owned()),
    }
}
