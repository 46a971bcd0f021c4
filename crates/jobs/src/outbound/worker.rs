//! The loop of a channel: each lane leases due items as there is room, and sends them in separate tasks.

use std::{
    future::pending,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use mancala_db::{
    DbError,
    outbound::{Lane, Limits},
};
use mancala_process::repeats;
use tokio::{
    sync::{Notify, OwnedSemaphorePermit, Semaphore},
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    super::rounds::Rounds,
    channel::{Channel, Taken},
    in_flight::InFlight,
};

/// After this time an attempt moves to a spare place, if there is one, so that slow recipients do not block the lane. In the
/// failing lane an attempt keeps its place, because slow attempts are normal there.
const PERMIT_TIME: Duration = Duration::from_secs(2);

/// The pause between two polls without a reason to poll earlier.
const PAUSE: Duration = Duration::from_secs(1);

/// The least time from one poll to the next, unless the last one has reached a limit. Items that become due in between are taken together.
const POLL_INTERVAL: Duration = Duration::from_millis(25);

/// The pause between two rounds of housekeeping.
const HOUSEKEEPING_PAUSE: Duration = Duration::from_secs(1);

/// The pause between two attempts to record a result, as long as the lease lasts.
const RECORD_PAUSE: Duration = Duration::from_secs(2);

/// How long a stopping server waits for the attempts in flight. Another process repeats those that take longer.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// Sends until `stopping` is cancelled. `queued` is notified when more may be due.
pub async fn run<C: Channel>(channel: C, rounds: &Rounds, queued: &Notify, stopping: &CancellationToken) {
    let mut worker = Worker::new(channel);
    while !stopping.is_cancelled() {
        let polled_at = Instant::now();
        // Items that a cancelled poll has leased are taken again when the lease expires.
        let polling = rounds.run(worker.poll());
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

/// Runs a poll and all its attempts until they are recorded; returns how many leases were taken.
pub async fn round<C: Channel>(channel: C) -> Result<usize, DbError> {
    let mut worker = Worker::new(channel);
    let polled = worker.poll().await;
    worker.all_ended().await;
    polled.map(|()| worker.begun)
}

/// The attempts in flight of a channel.
struct Worker<C> {
    channel: Arc<C>,
    tasks: JoinSet<()>,
    lanes: Vec<LaneState>,
    /// Places for slow attempts. The lanes share the places that they do not hold themselves.
    spare: Arc<Semaphore>,
    housekept_at: Option<Instant>,
    /// How many leases were taken.
    begun: usize,
    /// Whether the last poll has reached a limit, so that more may be due.
    is_full: bool,
}

#[derive(Clone)]
struct LaneState {
    lane: Lane,
    limits: Limits,
    places: Arc<Semaphore>,
    in_flight: InFlight,
}

impl<C: Channel> Worker<C> {
    fn new(channel: C) -> Self {
        let attempts_max = channel.attempts_max();
        let all: usize = C::LANES.iter().map(|lane| C::limits(*lane).places).sum();
        let lanes = C::LANES.iter().map(|&lane| {
            let limits = C::limits(lane);
            // If fewer attempts are allowed than there are places, each lane gets its share.
            let share = (attempts_max * limits.places / all).clamp(1, limits.places);
            LaneState { lane, limits, places: Arc::new(Semaphore::new(share)), in_flight: InFlight::default() }
        });
        let lanes: Vec<_> = lanes.collect();
        let held: usize = lanes.iter().map(|lane| lane.places.available_permits()).sum();
        Self {
            channel: Arc::new(channel),
            tasks: JoinSet::new(),
            lanes,
            spare: Arc::new(Semaphore::new(attempts_max.saturating_sub(held))),
            housekept_at: None,
            begun: 0,
            is_full: false,
        }
    }

    /// Housekeeps, and starts attempts in each lane. A failed step does not skip the others.
    async fn poll(&mut self) -> Result<(), DbError> {
        let mut done = Ok(());
        if self.housekept_at.is_none_or(|at| at.elapsed() >= HOUSEKEEPING_PAUSE) {
            self.housekept_at = Some(Instant::now());
            done = self.channel.housekeep().await;
        }
        // Once: the end of a later one ends the wait for the next poll.
        while self.tasks.try_join_next().is_some() {}
        self.is_full = false;
        for lane in self.lanes.clone() {
            done = done.and(self.start(lane).await);
        }
        done
    }

    /// Leases due items of a lane, and starts to send them.
    async fn start(&mut self, LaneState { lane, limits, places, in_flight }: LaneState) -> Result<(), DbError> {
        let room = u32::try_from(places.available_permits()).unwrap_or(u32::MAX);
        if room == 0 {
            return Ok(());
        }
        let Taken { due, has_more } = self.channel.take(lane, room, &in_flight.full(limits)).await?;
        self.begun += due.len();
        for due in due {
            let (player, host) = C::recipient(&due);
            let counted = in_flight.count(player, host);
            let place = places.clone().try_acquire_owned().ok();
            let spare = (lane != Lane::Failing).then(|| self.spare.clone());
            let sending = send_and_record(self.channel.clone(), due);
            self.tasks.spawn(async move {
                in_place(sending, place, spare).await;
                drop(counted);
            });
        }
        let full = in_flight.full(limits);
        self.is_full |= has_more || !(full.players.is_empty() && full.hosts.is_empty());
        Ok(())
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

/// Holds a place while attempts are made. A slow attempt exchanges its place for a spare one, so that the number of attempts stays bounded.
async fn in_place(
    sending: impl Future<Output = ()>,
    mut place: Option<OwnedSemaphorePermit>,
    spare: Option<Arc<Semaphore>>,
) {
    let mut sending = pin!(sending);
    if let Some(spare) = spare {
        if timeout(PERMIT_TIME, &mut sending).await.is_ok() {
            return;
        }
        if let Ok(other) = spare.try_acquire_owned() {
            place = Some(other);
        }
    }
    sending.await;
    drop(place);
}

/// Sends under one lease, and records the result. If the result cannot be recorded during the lease, the items are sent again.
async fn send_and_record<C: Channel>(channel: Arc<C>, due: C::Due) {
    let leased = Instant::now();
    let sent = channel.send(due).await;
    while let Err(error) = channel.record(&sent).await {
        if leased.elapsed() + RECORD_PAUSE >= C::LEASE.unsigned_abs() {
            if let Some(line) = repeats::admit("results that cannot be recorded", &format!("{} {error}", C::NAME)) {
                let channel = C::NAME;
                tracing::warn!(
                    left_out = line.left_out,
                    channel,
                    "the outcome of an attempt cannot be recorded, so it is repeated: {error}"
                );
            }
            return;
        }
        sleep(RECORD_PAUSE).await;
    }
}
