//! Reads the revocations, suspensions and refused names that other processes store. Also reads the state of the database: its clock, and
//! whether it was set back.

use std::{
    error::Error,
    sync::Weak,
    time::{Duration, Instant},
};

use tokio::time::{sleep, timeout};

use super::hub::Hub;
use mancala_db::{
    Database, DbError,
    connection::sight::Sight,
    players::{
        name_filter::StoredFilter,
        revocations::{KEPT, Reader},
    },
};
use mancala_process::outage::Outage;

/// The pause between two reads: half of the time after which a revocation counts in every process.
const PAUSE: Duration = Duration::from_millis(500);

/// The timeout of a read. A connection on which it runs out is replaced.
const READ_TIMEOUT: Duration = Duration::from_secs(2);

/// How far a read goes back beyond the start of the last read. A row has the time at which its transaction began, and the transaction may
/// commit later.
const OVERLAP: Duration = Duration::from_secs(30);

/// The pause between two removals of old entries.
const PRUNE_PAUSE: Duration = Duration::from_mins(1);

/// The pause between two reads of the list of refused names, which operators change now and then.
const NAMES_PAUSE: Duration = Duration::from_secs(5);

/// The timeout of a read of that list. With a pause it is shorter than the time for which read revocations count as current.
const NAMES_TIMEOUT: Duration = Duration::from_millis(300);

/// Reads the revocations of all processes until the hub is gone. The first read, and the one after a failure, return all stored revocations
/// and the suspensions in force. The other reads return those since the last one. `on_sight` gets the sight of the database at each read,
/// `on_names` each new list of refused names.
pub async fn follow_revocations(
    hub: Weak<Hub>,
    database: Database,
    on_sight: impl Fn(&Sight),
    on_names: impl Fn(&StoredFilter),
) {
    let mut reader = Reader::new(database);
    let mut names = Names::new();
    let (mut last_read, mut pruned_at) = (None::<Instant>, Instant::now());
    // This connection is used more often than any other, so it is the first to notice an outage of the database and its end.
    let outage = Outage::of_database(
        "the database does not answer: no access token is accepted until it does",
        "the database answers again",
    );
    while hub.strong_count() > 0 {
        let began = Instant::now();
        let within = last_read.map_or(KEPT.unsigned_abs(), |last| last.elapsed() + OVERLAP);
        let within = time::Duration::try_from(within).unwrap_or(KEPT);
        let looked_and_read = async {
            let sight = reader.look().await?;
            let revoked = reader.read(within).await?;
            Ok::<_, DbError>((sight, revoked, reader.read_suspensions(last_read.map(|_| within)).await?))
        };
        let cause = match timeout(READ_TIMEOUT, looked_and_read).await {
            Ok(Ok((sight, revoked, suspended))) => {
                on_sight(&sight);
                let Some(hub) = hub.upgrade() else { return };
                for revocation in revoked {
                    hub.audience().revoke(revocation.player, revocation.least_version);
                }
                let revocations = hub.audience().revocations();
                if last_read.is_none() {
                    revocations.keep_suspensions_of(&suspended.iter().map(|(player, _)| *player).collect());
                }
                for (player, suspension) in suspended {
                    revocations.enter_suspension(player, suspension, began);
                }
                revocations.set_read(began);
                if pruned_at.elapsed() >= PRUNE_PAUSE {
                    revocations.prune(began, sight.clock);
                    pruned_at = began;
                }
                None
            }
            Ok(Err(error)) => Some(with_source(&error)),
            Err(_) => Some(format!("no answer within {} s", READ_TIMEOUT.as_secs())),
        };
        match &cause {
            Some(cause) => outage.failed(cause),
            None => outage.works(),
        }
        last_read = cause.is_none().then_some(began);
        if cause.is_none() && names.are_due(began) {
            names.read(&mut reader, &on_names).await;
        }
        sleep(PAUSE).await;
    }
}

/// The state of the list of refused names after the last read.
struct Names {
    revision: i64,
    read_at: Option<Instant>,
    outage: Outage,
}

impl Names {
    fn new() -> Self {
        let outage = Outage::behind_database(
            "the list of refused names cannot be read",
            "the list of refused names is read again",
        );
        Self { revision: 0, read_at: None, outage }
    }

    fn are_due(&self, now: Instant) -> bool {
        self.read_at.is_none_or(|at| now.duration_since(at) >= NAMES_PAUSE)
    }

    /// Reads the list if it is new. After a failure the last list stays in use, and access tokens are accepted as before.
    async fn read(&mut self, reader: &mut Reader, on_names: impl Fn(&StoredFilter)) {
        self.read_at = Some(Instant::now());
        let read = timeout(NAMES_TIMEOUT, reader.read_name_filter(self.revision)).await;
        match read {
            Ok(Ok(changed)) => {
                self.outage.works();
                if let Some(filter) = changed {
                    on_names(&filter);
                    self.revision = filter.revision;
                }
            }
            Ok(Err(error)) => self.outage.failed(&with_source(&error)),
            Err(_) => self.outage.failed(&format!("no answer within {} ms", NAMES_TIMEOUT.as_millis())),
        }
    }
}

/// An error and its source in one line.
fn with_source(error: &impl Error) -> String {
    error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {source}"))
}
