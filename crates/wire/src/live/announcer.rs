//! Notifies the other processes of the changes that this one has stored.

use std::{sync::Weak, time::Duration};

use mancala_db::connection::notifications;
use mancala_process::outage::Outage;
use sqlx::PgPool;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::hub::Hub;

/// The least time from one notification to the next. The first change after a pause is sent at once. The changes of the
/// next interval are sent together, so that the database's load does not grow with their number.
const PAUSE: Duration = Duration::from_millis(20);

/// The pause after a lost notification. The next one says that something has changed.
const PAUSE_AFTER_LOSS: Duration = Duration::from_secs(1);

/// The timeout of a notification: longer than those of the pool and of PostgreSQL.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The interval at which the task checks that the hub still exists.
const HUB_CHECK: Duration = Duration::from_secs(10);

/// Sends notifications until the hub is gone. A change does not wait for them. After a lost notification the next one asks the other
/// processes to poll; they may also poll before (`follow`).
pub async fn announce(hub: Weak<Hub>, pool: PgPool) {
    let outage = Outage::behind_database("other servers see changes later", "other servers see changes at once again");
    while let Some(changes) = hub.upgrade().map(|hub| hub.changes.clone()) {
        if timeout(HUB_CHECK, changes.wait_for_some()).await.is_err() {
            continue;
        }
        let begun = Instant::now();
        let sent = timeout(TIMEOUT, notifications::send(&pool, &changes.take())).await;
        match &sent {
            Ok(sent) => outage.note(sent),
            Err(elapsed) => outage.failed(&elapsed.to_string()),
        }
        if matches!(sent, Ok(Ok(()))) {
            // The pause counts from the beginning of this announcement, so that no change waits for longer.
            sleep_until(begun + PAUSE).await;
        } else {
            changes.add_lost();
            sleep(PAUSE_AFTER_LOSS).await;
        }
    }
}
