//! The channel of push notifications: the due notices of a device are sent under one lease.

use mancala_db::{
    DbError,
    outbound::{Full, Lane, Limits},
    push::{
        devices,
        sending::{self, DueDevice, Sent, limits},
    },
};
use mancala_domain::PlayerId;
use mancala_process::clock::now;
use sqlx::PgPool;
use time::Duration;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::{
    super::{
        outbound::{self, Channel, Taken},
        rounds::Rounds,
    },
    attempts::{Settings, send_due},
};

/// How many devices one round of housekeeping handles whose players' games must be flagged.
const FLAGGED_MAX: u32 = 100;

/// The data that a poll needs.
struct PushContext {
    pool: PgPool,
    settings: Settings,
    flagging: Rounds,
}

impl PushContext {
    fn new(pool: PgPool, settings: Settings) -> Self {
        let (begins, ends) = ("games of new devices are not flagged yet", "games of new devices are flagged");
        let flagging = Rounds::new(&settings.metrics, "push_flags", begins, ends);
        Self { pool, settings, flagging }
    }
}

/// Runs until `stopping` is cancelled.
pub async fn run(pool: PgPool, settings: Settings, stopping: CancellationToken) {
    let (begins, ends) = ("push notifications wait for the database", "push notifications are sent again");
    let rounds = Rounds::new(&settings.metrics, "push", begins, ends);
    outbound::run(PushContext::new(pool, settings), &rounds, &Notify::new(), &stopping).await;
}

/// Runs a poll of each lane and all its attempts until they are recorded; returns the number of devices.
pub async fn round(pool: &PgPool, settings: &Settings) -> Result<usize, DbError> {
    outbound::round(PushContext::new(pool.clone(), settings.clone())).await
}

impl Channel for PushContext {
    type Due = DueDevice;
    type Sent = Sent;

    const NAME: &'static str = "push";
    const LANES: &'static [Lane] = &Lane::ALL;
    const LEASE: Duration = Duration::seconds(30);

    fn limits(lane: Lane) -> Limits {
        limits(lane)
    }

    fn attempts_max(&self) -> usize {
        self.settings.attempts_max
    }

    /// Flags games, which has a gauge of its own, and closes connections whose time is over.
    async fn housekeep(&self) -> Result<(), DbError> {
        self.settings.pusher.close_expired();
        self.flagging.run(devices::flag_again(&self.pool, now(), FLAGGED_MAX)).await;
        Ok(())
    }

    async fn take(&self, lane: Lane, room: u32, full: &Full) -> Result<Taken<DueDevice>, DbError> {
        // While a service lets this server send nothing, its devices are left alone.
        let kinds = self.settings.pusher.push.kinds_now(now());
        if kinds.is_empty() {
            return Ok(Taken { due: vec![], has_more: false });
        }
        let lease = (now(), now() + Self::LEASE);
        let due = sending::take(&self.pool, lane, &kinds, full, lease, room).await?;
        Ok(Taken { due, has_more: false })
    }

    fn recipient(device: &DueDevice) -> (PlayerId, &str) {
        (device.player, &device.host)
    }

    async fn send(&self, device: DueDevice) -> Sent {
        send_due(&self.pool, &self.settings, device).await
    }

    async fn record(&self, sent: &Sent) -> Result<(), String> {
        sending::record(&self.pool, sent, now()).await.map_err(|error| error.to_string())
    }
}
