//! The supervising thread: starts PostgreSQL, restarts it when it dies, stops it on request.
//!
//! Knows the delays between restarts and the bound on failures. Does not know how one server starts or stops: that is
//! the postmaster's.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use crate::cluster::Cluster;
use crate::error::EmbeddedError;
use crate::postmaster::Postmaster;
use crate::settings::Settings;
use crate::stop::StopRequest;

/// How often the supervisor checks that the child still lives: an outage is at most this much longer.
const WATCH_EVERY: Duration = Duration::from_millis(50);
/// How often the supervisor checks the size of the log.
const LOG_CHECK_EVERY: Duration = Duration::from_mins(1);
/// The backoff before the second attempt to restart; it doubles with each further attempt.
const BACKOFF_MIN: Duration = Duration::from_millis(100);
/// The longest backoff: the supervisor notices this soon that a cause (memory, disk) has gone away by itself.
const BACKOFF_MAX: Duration = Duration::from_secs(5);
/// A child that was ready for this long has recovered: the next backoff is short again.
const STEADY: Duration = Duration::from_secs(2);
/// Failed starts in a row before the supervisor gives up: with the backoff above, more than a minute.
const FAILURES_MAX: u32 = 20;

/// The body of the supervising thread. It forks every child itself, and the kernel ends a child when the thread that
/// forked it ends: so no child outlives this function.
pub(crate) fn supervise(
    settings: &Settings,
    stop: &StopRequest,
    pid: &AtomicU32,
    report: &SyncSender<Result<PathBuf, EmbeddedError>>,
) {
    let report = |outcome| report.send(outcome).expect("start() waits for the report");
    // The postmaster is dropped before the cluster: the lock is held until the postmaster has ended.
    let (cluster, mut postmaster) = match open_and_launch(settings, stop) {
        Ok(Some(started)) => started,
        Ok(None) => unreachable!("start() does not request a stop before the report"),
        Err(error) => return report(Err(error)),
    };
    tracing::info!(postgres.pid = postmaster.pid(), "PostgreSQL is up on {cluster}");
    pid.store(postmaster.pid(), Ordering::Relaxed);
    report(Ok(cluster.socket_folder.clone()));

    let mut early_deaths = 0;
    loop {
        let ready_at = Instant::now();
        let died = watch(&cluster, &mut postmaster, stop);
        pid.store(0, Ordering::Relaxed);
        let Some(how) = died else { return };
        tracing::warn!(postgres.pid = postmaster.pid(), "PostgreSQL {how}: restarting it");
        early_deaths = if ready_at.elapsed() < STEADY { early_deaths + 1 } else { 0 };
        let Some(next) = relaunch(&cluster, early_deaths, stop) else {
            return;
        };
        postmaster = next;
        pid.store(postmaster.pid(), Ordering::Relaxed);
        tracing::info!(postgres.pid = postmaster.pid(), "PostgreSQL is up again");
    }
}

fn open_and_launch(settings: &Settings, stop: &StopRequest) -> Result<Option<(Cluster, Postmaster)>, EmbeddedError> {
    let cluster = Cluster::open(settings)?;
    let postmaster = Postmaster::launch(&cluster, stop)?;
    Ok(postmaster.map(|postmaster| (cluster, postmaster)))
}

/// Returns how the child died, or `None` when a stop is requested.
fn watch(cluster: &Cluster, postmaster: &mut Postmaster, stop: &StopRequest) -> Option<String> {
    let mut log_checked_at = Instant::now();
    while !stop.is_requested_within(WATCH_EVERY) {
        if let Some(how) = postmaster.death() {
            return Some(how);
        }
        if log_checked_at.elapsed() > LOG_CHECK_EVERY {
            log_checked_at = Instant::now();
            if let Err(error) = cluster.log.rotate() {
                tracing::warn!("{error}");
            }
        }
    }
    None
}

/// Starts PostgreSQL again, with retries; `None` when a stop is requested, or after too many failures.
fn relaunch(cluster: &Cluster, early_deaths: u32, stop: &StopRequest) -> Option<Postmaster> {
    for failures in 0..FAILURES_MAX {
        if stop.is_requested_within(backoff(early_deaths.saturating_add(failures))) {
            return None;
        }
        match Postmaster::launch(cluster, stop) {
            Ok(postmaster) => return postmaster,
            Err(error) => tracing::warn!("PostgreSQL did not restart ({} failures): {error}", failures + 1),
        }
    }
    tracing::error!("gave up on PostgreSQL after {FAILURES_MAX} failures: fix the cause and restart the server");
    None
}

/// The wait before an attempt that follows `failures` failures in a row.
fn backoff(failures: u32) -> Duration {
    match failures {
        0 => Duration::ZERO,
        _ => BACKOFF_MIN.saturating_mul(2_u32.saturating_pow(failures - 1)).min(BACKOFF_MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_backoff_begins_at_zero_doubles_and_is_bounded() {
        assert_eq!(backoff(0), Duration::ZERO);
        assert_eq!(backoff(1), BACKOFF_MIN);
        assert_eq!(backoff(2), BACKOFF_MIN * 2);
        assert_eq!(backoff(FAILURES_MAX), BACKOFF_MAX);
        assert_eq!(backoff(u32::MAX), BACKOFF_MAX);
    }
}
