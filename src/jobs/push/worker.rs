//! The loops of the job: one for each lane takes due devices as there is room, and serves each by a task of its own.

use std::{
    future::pending,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use sqlx::PgPool;
use tokio::{
    join,
    sync::Semaphore,
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{super::rounds::Rounds, attempts::serve, in_flight::InFlight, settings::Settings};
use crate::{
    clock::now,
    db::{
        DbError,
        push::{
            devices,
            sending::{DueDevice, PushLane, record, take},
        },
    },
};

/// The attempts that a process may make by default. If they are fewer, each lane has its share.
const ATTEMPTS_USUAL: usize = 128;

/// How long a device holds a place of its lane, if there is a spare one. In the failing lane it keeps its
/// place, because slow attempts are normal there.
const PERMIT_TIME: Duration = Duration::from_secs(2);

/// How long a stopping server waits for the attempts in flight. Another process repeats those that take longer.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// The lease of a device: longer than its attempts and their record take.
const LEASE: time::Duration = time::Duration::seconds(30);

/// The pause between two polls that find nothing.
const PAUSE: Duration = Duration::from_secs(1);

/// The least time from one poll to the next.
const POLL_INTERVAL: Duration = Duration::from_millis(25);

/// How many devices one poll handles whose players' games must be flagged.
const FLAGGED_MAX: u32 = 100;

/// Runs until `stopping` is cancelled.
pub async fn run(pool: PgPool, settings: Settings, stopping: CancellationToken) {
    let spare = spare(&settings);
    let [quick, unproven, failing] = PushLane::ALL.map(|lane| serve_all(&pool, &settings, lane, &spare, &stopping));
    let _ = join!(quick, unproven, failing, flag_all(&pool, &settings, &stopping));
}

/// One poll of each lane, and all its attempts until they are recorded; returns the number of devices.
pub async fn round(pool: &PgPool, settings: &Settings) -> Result<usize, DbError> {
    devices::flag_again(pool, now(), FLAGGED_MAX).await?;
    let (mut served, spare) = (0, spare(settings));
    for lane in PushLane::ALL {
        let mut worker = Worker::new(lane, settings, &spare);
        served += worker.poll(pool, settings).await?;
        worker.all_ended().await;
    }
    Ok(served)
}

/// The places of a lane: its share of the attempts that the process may make.
fn places(lane: PushLane, settings: &Settings) -> usize {
    let share = settings.attempts_max * lane.permits() / ATTEMPTS_USUAL;
    share.clamp(1, lane.permits())
}

/// The places of devices that take long. The lanes share what they leave of the attempts.
fn spare(settings: &Settings) -> Arc<Semaphore> {
    let all: usize = PushLane::ALL.into_iter().map(|lane| places(lane, settings)).sum();
    Arc::new(Semaphore::new(settings.attempts_max.saturating_sub(all)))
}

async fn serve_all(
    pool: &PgPool,
    settings: &Settings,
    lane: PushLane,
    spare: &Arc<Semaphore>,
    stopping: &CancellationToken,
) {
    let (begins, ends) = ("push notifications wait for the database", "push notifications are sent again");
    let rounds = Rounds::new(&settings.metrics, "push", begins, ends);
    let mut worker = Worker::new(lane, settings, spare);
    while !stopping.is_cancelled() {
        // What a poll that is cancelled has leased is due again when the lease is over.
        let polling = rounds.run(worker.poll(pool, settings));
        let polled = stopping.run_until_cancelled(polling).await.flatten();
        // If there was no room for all, the end of an attempt makes some.
        tokio::select! {
            () = stopping.cancelled() => {}
            () = worker.one_ended(), if polled.is_some_and(|taken| taken > 0) => {}
            () = sleep(PAUSE) => {}
        }
        stopping.run_until_cancelled(sleep(POLL_INTERVAL)).await;
    }
    let _ = timeout(STOP_TIMEOUT, worker.all_ended()).await;
}

/// The devices of a lane that are served.
struct Worker {
    lane: PushLane,
    tasks: JoinSet<()>,
    permits: Arc<Semaphore>,
    spare: Arc<Semaphore>,
    in_flight: InFlight,
}

impl Worker {
    fn new(lane: PushLane, settings: &Settings, spare: &Arc<Semaphore>) -> Self {
        Self {
            lane,
            tasks: JoinSet::new(),
            permits: Arc::new(Semaphore::new(places(lane, settings))),
            spare: spare.clone(),
            in_flight: InFlight::default(),
        }
    }

    /// Takes as many due devices as there is room for, and begins to serve them; returns their number.
    async fn poll(&mut self, pool: &PgPool, settings: &Settings) -> Result<usize, DbError> {
        while self.tasks.try_join_next().is_some() {}
        let limit = u32::try_from(self.permits.available_permits()).unwrap_or(u32::MAX);
        // While a service lets this server send nothing, its devices are left alone.
        let kinds = settings.pusher.push.kinds_now(now());
        if limit == 0 || kinds.is_empty() {
            return Ok(0);
        }
        let full = self.in_flight.full(self.lane);
        let devices = take(pool, self.lane, &kinds, &full, (now(), now() + LEASE), limit).await?;
        let taken = devices.len();
        for device in devices {
            let permit = self.permits.clone().try_acquire_owned().ok();
            let spare = (self.lane != PushLane::Failing).then(|| self.spare.clone());
            let counted = self.in_flight.count(&device);
            let (pool, settings) = (pool.clone(), settings.clone());
            self.tasks.spawn(async move {
                let mut serving = pin!(serve_and_record(&pool, &settings, device));
                let (mut place, mut is_over) = (permit, false);
                if let Some(spare) = spare {
                    is_over = timeout(PERMIT_TIME, &mut serving).await.is_ok();
                    // A place is given back for a spare one, so that the attempts stay as many as they may be.
                    if !is_over && let Ok(other) = spare.try_acquire_owned() {
                        place = Some(other);
                    }
                }
                if !is_over {
                    serving.await;
                }
                drop((place, counted));
            });
        }
        Ok(taken)
    }

    /// Waits until one of them is done; for ever if there is none.
    async fn one_ended(&mut self) {
        if self.tasks.join_next().await.is_none() {
            pending::<()>().await;
        }
    }

    async fn all_ended(&mut self) {
        while self.tasks.join_next().await.is_some() {}
    }
}

/// Serves a device, and records what became of it. If that fails for as long as the lease lasts, what was sent is sent once more.
async fn serve_and_record(pool: &PgPool, settings: &Settings, device: DueDevice) {
    let leased = Instant::now();
    let sent = serve(pool, settings, device).await;
    while let Err(error) = record(pool, &sent, now()).await {
        if leased.elapsed() + PAUSE * 2 >= LEASE.unsigned_abs() {
            tracing::warn!(device.id = %sent.device, "what became of a push notification cannot be recorded, so it is sent again: {error}");
            return;
        }
        sleep(PAUSE).await;
    }
}

async fn flag_all(pool: &PgPool, settings: &Settings, stopping: &CancellationToken) {
    let (begins, ends) = ("games of new devices are not flagged yet", "games of new devices are flagged");
    let rounds = Rounds::new(&settings.metrics, "push_flags", begins, ends);
    while !stopping.is_cancelled() {
        settings.pusher.close_expired();
        stopping.run_until_cancelled(rounds.run(devices::flag_again(pool, now(), FLAGGED_MAX))).await;
        stopping.run_until_cancelled(sleep(PAUSE)).await;
    }
}
