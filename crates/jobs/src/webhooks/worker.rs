//! The two loops of the webhooks job: one converts appends, and the other sends.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use mancala_db::DbError;
use mancala_process::clock::now;
use sqlx::PgPool;
use tokio::{join, sync::Notify, time::sleep};
use tokio_util::sync::CancellationToken;

use super::{
    super::{outbound, rounds::Rounds},
    channel::{DeliveryContext, Settings},
    convert::{Progress, Targets, convert},
};

/// The pause between two polls without a notification from this process.
const PAUSE: Duration = Duration::from_secs(1);

/// The same while another process converts appends of the same games: it may not have seen the last ones of this process.
const CONTENDED_PAUSE: Duration = Duration::from_millis(50);

/// The least time from one poll to the next, unless there is more to convert. Events that come in between form one batch, because a poll
/// takes some ten statements even for few events.
const POLL_INTERVAL: Duration = Duration::from_millis(25);

/// Runs until `stopping` is cancelled. `appended` is notified after appends that players have webhooks for.
///
/// Two loops, so that a batch is converted while the one before is sent.
pub async fn run(pool: PgPool, appended: Arc<Notify>, settings: Settings, stopping: CancellationToken) {
    let (begins, ends) = ("webhooks are not sent until the database answers again", "webhooks are sent again");
    let (queued, rounds) = (Notify::new(), Rounds::new(&settings.metrics, "webhooks", begins, ends));
    let converting = convert_all(&pool, &appended, &queued, &settings, &stopping);
    join!(converting, outbound::run(DeliveryContext::new(&pool, &settings), &rounds, &queued, &stopping));
}

const fn targets(settings: &Settings) -> Targets<'_> {
    Targets { write: settings.write, devices: settings.devices.as_slice() }
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
        let converting = Box::pin(rounds.run(convert(pool, &mut progress, targets(settings), now())));
        let Some(converted) = stopping.run_until_cancelled(converting).await else { break };
        if converted.is_some_and(|converted| !converted.is_empty) {
            queued.notify_one();
        }
        // Events that another process converts leave nothing to do at once.
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

/// Runs a poll and all its attempts until they are recorded; returns the number of attempts.
pub async fn round(pool: &PgPool, settings: &Settings) -> Result<usize, DbError> {
    let converted = convert(pool, &mut Progress::default(), targets(settings), now()).await;
    let sent = outbound::round(DeliveryContext::new(pool, settings)).await;
    converted.and(sent)
}
