//! The two loops of the webhooks job, and the attempts that are in flight.

use std::{
    collections::HashMap,
    future::pending,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use sqlx::PgPool;
use tokio::{
    join,
    sync::{Notify, Semaphore},
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{
    super::rounds::Rounds,
    convert::{Progress, Targets, WriteMessage, convert},
    deliver::{Means, deliver, take},
    in_flight::InFlight,
    recorder::Recorder,
};
use crate::{
    clock::now,
    db::{
        DbError,
        webhooks::{
            attempts::{Due, Lane, behind},
            flags,
        },
    },
    domain::DeviceKind,
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

/// The same while another process converts appends of the same games: it may not have seen the last ones of this process.
const CONTENDED_PAUSE: Duration = Duration::from_millis(50);

/// The least time from one poll to the next, unless there is more to convert or to send. What comes meanwhile is one batch: a poll takes
/// some ten statements, however little there is to do.
const POLL_INTERVAL: Duration = Duration::from_millis(25);

/// How long a stopping server waits for the attempts in flight. Another process repeats those that take longer.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// The pause between two looks for games to flag, and for connections to close.
const CARE_PAUSE: Duration = Duration::from_secs(1);

/// How many webhooks one poll handles whose players' games must be flagged.
const FLAGGED_MAX: u32 = 100;

/// What the job needs to send.
#[derive(Clone, Debug)]
pub struct Settings {
    pub sender: Sender,
    pub write: WriteMessage,
    /// The kinds of devices that get push notifications.
    pub devices: Vec<DeviceKind>,
    pub metrics: Arc<Metrics>,
    /// How many attempts are in flight altogether. Each holds a connection and a TLS session: about 50 KiB.
    pub attempts_max: usize,
}

impl Settings {
    fn targets(&self) -> Targets<'_> {
        Targets { write: self.write, devices: &self.devices }
    }
}

/// Runs until `stopping` is cancelled. `appended` is notified after appends that players have webhooks for.
///
/// Two loops, so that a batch is converted while the one before is sent.
pub async fn run(pool: PgPool, appended: Arc<Notify>, settings: Settings, stopping: CancellationToken) {
    let queued = Notify::new();
    let converting = convert_all(&pool, &appended, &queued, &settings, &stopping);
    join!(converting, send_all(&pool, &queued, &settings, &stopping));
}

/// Converts appends batch by batch, and notifies `queued` after each.
async fn convert_all(
    pool: &PgPool,
    appended: &Notify,
    queued: &Notify,
    settings: &Settings,
    stopping: &CancellationToken,
) {
    let (begins, ends) = ("webhook messages wait for the database", "webhook messages are made again");
    let rounds = Rounds::new(&settings.metrics, "webhook_messages", begins, ends);
    let mut progress = Progress::default();
    while !stopping.is_cancelled() {
        let begun = Instant::now();
        let converting = Box::pin(rounds.run(convert(pool, &mut progress, settings.targets(), now())));
        let Some(converted) = stopping.run_until_cancelled(converting).await else { break };
        if converted.is_some_and(|converted| !converted.is_empty) {
            queued.notify_one();
        }
        // What another process converts leaves nothing to do at once.
        if converted.is_some_and(|converted| converted.has_more && !(converted.is_empty && converted.is_contended)) {
            continue;
        }
        let is_contended = converted.is_some_and(|converted| converted.is_contended);
        tokio::select! {
            () = stopping.cancelled() => {}
            () = appended.notified(), if converted.is_some() => {}
            () = sleep(if is_contended { CONTENDED_PAUSE } else { PAUSE }) => {}
        }
        stopping.run_until_cancelled(sleep(POLL_INTERVAL.saturating_sub(begun.elapsed()))).await;
    }
}

/// Sends what is due, poll by poll.
async fn send_all(pool: &PgPool, queued: &Notify, settings: &Settings, stopping: &CancellationToken) {
    let (begins, ends) = ("webhooks are not sent until the database answers again", "webhooks are sent again");
    let (mut worker, rounds) = (Worker::new(pool), Rounds::new(&settings.metrics, "webhooks", begins, ends));
    while !stopping.is_cancelled() {
        let polled_at = Instant::now();
        // Deliveries that were taken but not started when the server stops are taken again when their lease expires.
        let polling = rounds.run(worker.poll(pool, settings));
        let Some(polled) = stopping.run_until_cancelled(polling).await else { break };
        tokio::select! {
            () = stopping.cancelled() => {}
            () = queued.notified(), if polled.is_some() => {}
            () = worker.one_ended(), if polled.is_some() => {}
            () = sleep(PAUSE) => {}
        }
        if !worker.is_full {
            stopping.run_until_cancelled(sleep(POLL_INTERVAL.saturating_sub(polled_at.elapsed()))).await;
        }
    }
    let _ = timeout(STOP_TIMEOUT, worker.all_ended()).await;
}

/// One poll, and all its attempts until they are recorded; returns the number of attempts.
pub async fn round(pool: &PgPool, settings: &Settings) -> Result<usize, DbError> {
    let mut worker = Worker::new(pool);
    let converted = convert(pool, &mut Progress::default(), settings.targets(), now()).await;
    let polled = worker.poll(pool, settings).await;
    worker.all_ended().await;
    converted.and(polled).map(|()| worker.begun)
}

/// The attempts in flight.
struct Worker {
    tasks: JoinSet<()>,
    permits: [(Lane, Arc<Semaphore>); 3],
    in_flight: InFlight,
    recorder: Recorder,
    /// When games were flagged and connections closed the last time.
    cared_at: Option<Instant>,
    /// How many deliveries were started, without those behind them.
    begun: usize,
    /// Whether the last poll has reached a limit, so that more may be due.
    is_full: bool,
}

impl Worker {
    fn new(pool: &PgPool) -> Self {
        let permits = PERMITS.map(|(lane, permits)| (lane, Arc::new(Semaphore::new(permits))));
        Self {
            tasks: JoinSet::new(),
            permits,
            in_flight: InFlight::default(),
            recorder: Recorder::start(pool.clone()),
            cared_at: None,
            begun: 0,
            is_full: false,
        }
    }

    /// Flags games, and starts attempts in each lane. A failed step does not skip the others.
    async fn poll(&mut self, pool: &PgPool, settings: &Settings) -> Result<(), DbError> {
        let mut done = self.care(pool, settings).await;
        // Once: the end of a later one ends the wait for the next poll.
        while self.tasks.try_join_next().is_some() {}
        self.is_full = false;
        for lane in Lane::ALL {
            let room = self.room(lane, settings.attempts_max);
            if room > 0 {
                done = done.and(self.start(pool, settings, lane, room).await);
            }
        }
        done
    }

    /// Flags games, and closes connections whose time is over, once in a while.
    async fn care(&mut self, pool: &PgPool, settings: &Settings) -> Result<(), DbError> {
        if self.cared_at.is_some_and(|at| at.elapsed() < CARE_PAUSE) {
            return Ok(());
        }
        self.cared_at = Some(Instant::now());
        settings.sender.close_expired();
        settings.metrics.set_webhook_connections_open(settings.sender.count_open());
        flags::flag_again(pool, now(), FLAGGED_MAX).await
    }

    /// Takes deliveries of a lane, and starts to send them.
    async fn start(&mut self, pool: &PgPool, settings: &Settings, lane: Lane, room: u32) -> Result<(), DbError> {
        let taken = take(pool, lane, room, &self.in_flight.full(lane), now()).await?;
        let mut of_webhook: HashMap<Uuid, u32> = HashMap::new();
        for due in &taken {
            *of_webhook.entry(due.webhook).or_default() += 1;
        }
        // The attempts of others show first whether the endpoint takes them.
        let mut behind = if lane == Lane::Quick { waiting_behind(pool, &taken).await } else { HashMap::new() };
        for due in taken {
            let counted = self.in_flight.count(lane, &due);
            let means = Means {
                pool: pool.clone(),
                sender: settings.sender.clone(),
                metrics: settings.metrics.clone(),
                recorder: self.recorder.clone(),
            };
            let behind = behind.remove(&due.id).unwrap_or_default();
            self.begin(lane, async move {
                deliver(means, due, behind).await;
                drop(counted);
            });
        }
        let full = self.in_flight.full(lane);
        self.is_full |= of_webhook.values().any(|&begun| begun >= lane.at_once())
            || !(full.players.is_empty() && full.hosts.is_empty());
        Ok(())
    }

    fn permits(&self, lane: Lane) -> &Arc<Semaphore> {
        let (_, permits) = self.permits.iter().find(|(of, _)| *of == lane).expect("each lane has permits");
        permits
    }

    /// How many more attempts of a lane may start.
    fn room(&self, lane: Lane, attempts_max: usize) -> u32 {
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

/// What waits behind leased deliveries. Without it each of them is sent alone.
async fn waiting_behind(pool: &PgPool, leased: &[Due]) -> HashMap<Uuid, Vec<Due>> {
    if leased.is_empty() {
        return HashMap::new();
    }
    behind(pool, leased).await.unwrap_or_else(|error| {
        tracing::debug!("what waits behind deliveries cannot be read yet: {error}");
        HashMap::new()
    })
}
