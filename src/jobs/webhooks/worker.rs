//! The loop of the webhooks job, and the attempts that are in flight.

use std::{future::pending, panic::AssertUnwindSafe, pin::pin, sync::Arc, time::Duration};

use futures_util::FutureExt;
use sqlx::PgPool;
use tokio::{
    sync::{Notify, Semaphore},
    task::JoinSet,
    time::timeout,
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{
    convert::{WriteMessage, convert},
    deliver::{deliver, take},
    in_flight::InFlight,
};
use crate::{
    clock::now,
    db::{
        DbError,
        webhooks::{deliveries::Lane, flags},
    },
    domain::GameId,
    metrics::Metrics,
    webhook::Sender,
};

/// How many attempts of each lane hold a permit at once.
const PERMITS: [(Lane, usize); 3] = [(Lane::Quick, 128), (Lane::Unproven, 64), (Lane::Failing, 64)];

/// After this time an attempt gives its permit back, so that slow endpoints do not block the lane. In the failing lane an attempt
/// keeps its permit, because slow attempts are normal there.
const PERMIT_TIME: Duration = Duration::from_secs(2);

/// The pause between two polls without a notification from this process.
const PAUSE: Duration = Duration::from_secs(1);

/// How long a stopping server waits for the attempts in flight. Another process repeats those that take longer.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// How many webhooks one poll handles whose players' games must be flagged.
const FLAGGED_MAX: u32 = 100;

/// What the job needs to send.
#[derive(Clone, Debug)]
pub struct Settings {
    pub sender: Sender,
    pub write: WriteMessage,
    pub metrics: Arc<Metrics>,
    /// How many attempts are in flight altogether. Each holds a connection and a TLS session: about 50 KiB.
    pub attempts_max: usize,
}

/// Runs until `stopping` is cancelled. `appended` is notified after appends that players have webhooks for.
pub async fn run(pool: PgPool, appended: Arc<Notify>, settings: Settings, stopping: CancellationToken) {
    let mut worker = Worker::default();
    let mut failing = false;
    while !stopping.is_cancelled() {
        // Deliveries that were taken but not started when the server stops are taken again when their lease expires.
        let polling = AssertUnwindSafe(worker.poll(&pool, &settings)).catch_unwind();
        let Some(polled) = stopping.run_until_cancelled(polling).await else { break };
        let polled = polled.unwrap_or_else(|_| {
            tracing::error!("the webhooks job panicked, and goes on");
            Polled { is_idle: true, failure: None }
        });
        if let (Some(error), false) = (&polled.failure, failing) {
            tracing::warn!("not all webhooks are sent until the database answers again: {error}");
        }
        failing = polled.failure.is_some();
        if failing || polled.is_idle {
            tokio::select! {
                () = stopping.cancelled() => {}
                () = appended.notified(), if !failing => {}
                () = worker.one_ended(), if !failing => {}
                () = tokio::time::sleep(PAUSE) => {}
            }
        }
    }
    let _ = timeout(STOP_TIMEOUT, worker.all_ended()).await;
}

/// One poll, and all its attempts until they are recorded; returns the number of attempts.
pub async fn round(pool: &PgPool, settings: &Settings) -> Result<usize, DbError> {
    let mut worker = Worker::default();
    let polled = worker.poll(pool, settings).await;
    worker.all_ended().await;
    polled.failure.map_or(Ok(worker.begun), Err)
}

/// The result of one poll.
struct Polled {
    /// Whether the conversion has reached the end of its queue.
    is_idle: bool,
    failure: Option<DbError>,
}

/// The attempts in flight, and the position of the conversion.
struct Worker {
    tasks: JoinSet<()>,
    permits: [(Lane, Arc<Semaphore>); 3],
    in_flight: InFlight,
    /// How many attempts were started.
    begun: usize,
    /// The last game of the previous batch. The next batch starts after it, so that every game gets its turn.
    cursor: GameId,
}

impl Default for Worker {
    fn default() -> Self {
        let permits = PERMITS.map(|(lane, permits)| (lane, Arc::new(Semaphore::new(permits))));
        Self { tasks: JoinSet::new(), permits, in_flight: InFlight::default(), begun: 0, cursor: GameId(Uuid::nil()) }
    }
}

impl Worker {
    /// Flags games, converts one batch of appends, and starts attempts in each lane. A failed step does not skip the others.
    async fn poll(&mut self, pool: &PgPool, settings: &Settings) -> Polled {
        let flagged = flags::flag_again(pool, now(), FLAGGED_MAX).await;
        let converted = convert(pool, &mut self.cursor, settings.write, now()).await;
        let mut failure = flagged.err();
        for lane in Lane::ALL {
            let room = self.room(lane, settings.attempts_max);
            if room == 0 {
                continue;
            }
            match take(pool, lane, room, &self.in_flight.full(lane), now()).await {
                Ok(taken) => {
                    for due in taken {
                        let counted = self.in_flight.count(lane, &due);
                        let delivery = deliver(pool.clone(), settings.sender.clone(), settings.metrics.clone(), due);
                        self.begin(lane, async move {
                            delivery.await;
                            drop(counted);
                        });
                    }
                }
                Err(error) => failure = Some(error),
            }
        }
        match converted {
            Ok(is_idle) => Polled { is_idle, failure },
            Err(error) => Polled { is_idle: true, failure: Some(error) },
        }
    }

    fn permits(&self, lane: Lane) -> &Arc<Semaphore> {
        let (_, permits) = self.permits.iter().find(|(of, _)| *of == lane).expect("each lane has permits");
        permits
    }

    /// How many more attempts of a lane may start.
    fn room(&mut self, lane: Lane, attempts_max: usize) -> u32 {
        // Removes the ended tasks.
        while self.tasks.try_join_next().is_some() {}
        let room = self.permits(lane).available_permits().min(attempts_max.saturating_sub(self.tasks.len()));
        u32::try_from(room).unwrap_or(u32::MAX)
    }

    fn begin(&mut self, lane: Lane, delivery: impl Future<Output = ()> + Send + 'static) {
        self.begun += 1;
        let permit = self.permits(lane).clone().try_acquire_owned().ok();
        self.tasks.spawn(async move {
            let mut delivery = pin!(delivery);
            if lane != Lane::Failing && timeout(PERMIT_TIME, &mut delivery).await.is_ok() {
                return;
            }
            let _permit = permit.filter(|_| lane == Lane::Failing);
            delivery.await;
        });
    }

    /// Waits until an attempt ends; for ever if there is none.
    async fn one_ended(&mut self) {
        if self.tasks.join_next().await.is_none() {
            pending::<()>().await;
        }
    }

    async fn all_ended(&mut self) {
        while self.tasks.join_next().await.is_some() {}
    }
}
