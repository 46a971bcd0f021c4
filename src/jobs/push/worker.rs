//! The loops of the job: one for each lane takes due devices, serves them at the same time, and records what became of them.

use std::{
    panic::AssertUnwindSafe,
    time::{Duration, Instant},
};

use futures_util::{FutureExt, future::join_all};
use sqlx::PgPool;
use tokio::{join, time::sleep};
use tokio_util::sync::CancellationToken;

use super::{attempts::serve, settings::Settings};
use crate::{
    clock::now,
    db::{
        DbError,
        push::{
            devices,
            sending::{PushLane, record, take},
        },
    },
    outage::Outage,
};

/// How many devices of a lane are served at once.
const LANE_MAX: u32 = 32;

/// The lease of a device: longer than its attempts and their record take.
const LEASE: time::Duration = time::Duration::seconds(30);

/// The pause between two polls that find nothing.
const PAUSE: Duration = Duration::from_secs(1);

/// How many devices one poll handles whose players' games must be flagged.
const FLAGGED_MAX: u32 = 100;

/// Runs until `stopping` is cancelled. Devices that were taken then are taken again when their lease expires.
pub async fn run(pool: PgPool, settings: Settings, stopping: CancellationToken) {
    let [quick, unproven] = PushLane::ALL.map(|lane| serve_all(&pool, &settings, lane, &stopping));
    let _ = join!(quick, unproven, flag_all(&pool, &settings, &stopping));
}

/// One poll of each lane, and all its attempts until they are recorded; returns the number of devices.
pub async fn round(pool: &PgPool, settings: &Settings) -> Result<usize, DbError> {
    devices::flag_again(pool, now(), FLAGGED_MAX).await?;
    let mut served = 0;
    for lane in PushLane::ALL {
        served += poll(pool, settings, lane).await?;
    }
    Ok(served)
}

async fn serve_all(pool: &PgPool, settings: &Settings, lane: PushLane, stopping: &CancellationToken) {
    let outage = Outage::new("push notifications wait for the database", "push notifications are sent again");
    while !stopping.is_cancelled() {
        let polling = guarded(poll(pool, settings, lane), &outage);
        let Some(polled) = stopping.run_until_cancelled(Box::pin(polling)).await else { break };
        if polled.is_none_or(|served| served == 0) {
            stopping.run_until_cancelled(sleep(PAUSE)).await;
        }
    }
}

async fn flag_all(pool: &PgPool, settings: &Settings, stopping: &CancellationToken) {
    let outage = Outage::new("games of new devices are not flagged yet", "games of new devices are flagged");
    while !stopping.is_cancelled() {
        settings.pusher.sender.close_expired();
        let flagging = guarded(devices::flag_again(pool, now(), FLAGGED_MAX), &outage);
        stopping.run_until_cancelled(flagging).await;
        stopping.run_until_cancelled(sleep(PAUSE)).await;
    }
}

/// Serves the due devices of a lane; returns how many there were.
async fn poll(pool: &PgPool, settings: &Settings, lane: PushLane) -> Result<usize, DbError> {
    let leased = Instant::now();
    let kinds = settings.pusher.push.kinds();
    let devices = take(pool, lane, &kinds, now(), now() + LEASE, LANE_MAX).await?;
    if devices.is_empty() {
        return Ok(0);
    }
    let sent = join_all(devices.into_iter().map(|device| serve(settings, device))).await;
    // A failure passes, or the lease ends: then what was sent is sent once more.
    while let Err(error) = record(pool, &sent, now()).await {
        if leased.elapsed() + PAUSE * 2 >= LEASE.unsigned_abs() {
            return Err(error);
        }
        sleep(PAUSE).await;
    }
    Ok(sent.len())
}

/// The result of a step of the job; `None` if it failed, which is logged.
async fn guarded<T>(step: impl Future<Output = Result<T, DbError>>, outage: &Outage) -> Option<T> {
    match AssertUnwindSafe(step).catch_unwind().await {
        Ok(Ok(done)) => {
            outage.works();
            return Some(done);
        }
        Ok(Err(error)) => outage.failed(&error.to_string()),
        Err(_) => tracing::error!("the job of push notifications panicked, and goes on"),
    }
    None
}
