//! Reads the revocations that other processes store.

use std::{
    sync::Weak,
    time::{Duration, Instant},
};

use sqlx::postgres::PgConnectOptions;
use tokio::time::{sleep, timeout};

use super::hub::Hub;
use crate::db::players::revocations::{KEPT, Reader};

/// The pause between two reads: half of the time after which a revocation counts in every process.
const PAUSE: Duration = Duration::from_millis(500);

/// The timeout of a read. A connection on which it runs out is replaced.
const READ_TIMEOUT: Duration = Duration::from_secs(2);

/// How much further back a read goes than to the start of the last one. A row counts from the start of its transaction, which
/// may commit later.
const OVERLAP: Duration = Duration::from_secs(30);

/// The pause between two removals of old entries.
const PRUNE_PAUSE: Duration = Duration::from_mins(1);

/// Reads the revocations of all processes until the hub is gone. The first read, and the one after a failure, read all that are
/// stored; the others read those since the last one.
pub async fn follow_revocations(hub: Weak<Hub>, database: PgConnectOptions) {
    let mut reader = Reader::new(database);
    let (mut last_read, mut pruned_at, mut failing) = (None::<Instant>, Instant::now(), false);
    while hub.strong_count() > 0 {
        let began = Instant::now();
        let within = last_read.map_or(KEPT.unsigned_abs(), |last| last.elapsed() + OVERLAP);
        let within = time::Duration::try_from(within).unwrap_or(KEPT);
        let cause = match timeout(READ_TIMEOUT, reader.read(within)).await {
            Ok(Ok(revoked)) => {
                let Some(hub) = hub.upgrade() else { return };
                for revocation in revoked {
                    hub.audience().revoke(revocation.player, revocation.least_version);
                }
                hub.audience().revocations().set_read(began);
                None
            }
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("the database does not answer".to_owned()),
        };
        if let Some(cause) = &cause
            && !failing
        {
            tracing::warn!(cause, "no access token is accepted until the database answers again");
        }
        failing = cause.is_some();
        last_read = cause.is_none().then_some(began);
        if pruned_at.elapsed() >= PRUNE_PAUSE
            && let Some(hub) = hub.upgrade()
        {
            hub.audience().revocations().prune(began);
            pruned_at = began;
        }
        sleep(PAUSE).await;
    }
}
