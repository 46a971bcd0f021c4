//! Gauges of upkeep: readiness, the last success of each job and of the backup, the lag of the archive and of standbys.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use prometheus_client::{
    metrics::{family::Family, gauge::Gauge},
    registry::Registry,
};
use time::OffsetDateTime;

/// A gauge that can say that its value is unknown: NaN, which no alert takes for a value.
type Fraction = Gauge<f64, AtomicU64>;

/// The gauges of upkeep.
#[derive(Debug)]
pub struct Upkeep {
    are_served: AtomicBool,
    ready: Family<[(&'static str, &'static str); 1], Gauge>,
    jobs: Family<[(&'static str, &'static str); 1], Gauge>,
    last_backup: Gauge,
    archive_lag: Gauge,
    standbys: Fraction,
    standby_lag: Family<[(&'static str, String); 1], Fraction>,
}

impl Default for Upkeep {
    fn default() -> Self {
        let standbys = Fraction::default();
        standbys.set(f64::NAN);
        Self {
            are_served: AtomicBool::new(false),
            ready: Family::default(),
            jobs: Family::default(),
            last_backup: Gauge::default(),
            archive_lag: Gauge::default(),
            standbys,
            standby_lag: Family::default(),
        }
    }
}

impl Upkeep {
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register(
            "ready",
            "Whether each check of /readyz passes: 1 or 0; `all` is the answer, and a check that comes after a failed one counts as passed",
            self.ready.clone(),
        );
        registry.register(
            "job_last_success_timestamp_seconds",
            "When a round of the job last succeeded on this server, in seconds since 1970; 0 before the first",
            self.jobs.clone(),
        );
        registry.register(
            "backup_last_success_timestamp_seconds",
            "When the last backup of the database was complete, in seconds since 1970; 0 before the first",
            self.last_backup.clone(),
        );
        registry.register(
            "archive_lag_seconds",
            "How long the oldest log that should be archived has waited, at the last scan",
            self.archive_lag.clone(),
        );
        registry.register(
            "standbys",
            "Standbys that stream from the primary; NaN if the database user may not see them",
            self.standbys.clone(),
        );
        registry.register(
            "standby_lag_seconds",
            "How far the replay of a standby is behind the primary, by its application_name",
            self.standby_lag.clone(),
        );
    }

    /// Notes that the metrics are served, so that gauges which cost something are worth measuring.
    pub fn serve(&self) {
        self.are_served.store(true, Ordering::Relaxed);
    }

    /// Whether the metrics are served.
    pub fn are_served(&self) -> bool {
        self.are_served.load(Ordering::Relaxed)
    }

    /// Sets whether a check of the readiness passes.
    pub fn set_ready(&self, check: &'static str, passes: bool) {
        self.ready.get_or_create(&[("check", check)]).set(passes.into());
    }

    /// The gauge of a job. It is 0 from now on.
    pub fn job(&self, name: &'static str) -> JobGauge {
        // A label `job` would be hidden by Prometheus' own.
        JobGauge(Gauge::clone(&self.jobs.get_or_create(&[("job_name", name)])))
    }

    /// Sets when the last backup was complete.
    pub fn set_last_backup(&self, at: Option<OffsetDateTime>) {
        self.last_backup.set(at.map_or(0, OffsetDateTime::unix_timestamp));
    }

    /// Sets for how long the oldest log that should be archived has waited.
    pub fn set_archive_lag(&self, seconds: i64) {
        self.archive_lag.set(seconds);
    }

    /// Sets the lag of each standby in seconds, by its name; `None` if that cannot be seen.
    pub fn set_standbys(&self, standbys: Option<Vec<(String, f64)>>) {
        self.standby_lag.clear();
        let count = standbys.as_ref().and_then(|standbys| u32::try_from(standbys.len()).ok());
        self.standbys.set(count.map_or(f64::NAN, f64::from));
        for (name, lag) in standbys.into_iter().flatten() {
            let gauge = self.standby_lag.get_or_create(&[("standby", name)]);
            // Standbys may share a name: the slowest counts.
            gauge.set(gauge.get().max(lag));
        }
    }
}

/// When a job last succeeded.
#[derive(Clone, Debug)]
pub struct JobGauge(Gauge);

impl JobGauge {
    /// Notes that a round of the job succeeded.
    pub fn succeeded(&self, now: OffsetDateTime) {
        self.0.set(now.unix_timestamp());
    }
}

#[cfg(test)]
mod tests {
    use super::{super::Metrics, *};

    fn has(metrics: &Metrics, line: &str) -> bool {
        metrics.text().lines().any(|known| known == line)
    }

    #[test]
    fn a_job_and_the_backup_are_at_zero_before_they_succeed() {
        let metrics = Metrics::new(0);
        let job = metrics.upkeep().job("archive");
        assert!(has(&metrics, r#"mancala_job_last_success_timestamp_seconds{job_name="archive"} 0"#));
        assert!(has(&metrics, "mancala_backup_last_success_timestamp_seconds 0"));
        let at = OffsetDateTime::UNIX_EPOCH + time::Duration::seconds(90);
        job.succeeded(at);
        metrics.upkeep().set_last_backup(Some(at));
        assert!(has(&metrics, r#"mancala_job_last_success_timestamp_seconds{job_name="archive"} 90"#));
        assert!(has(&metrics, "mancala_backup_last_success_timestamp_seconds 90"));
    }

    #[test]
    fn standbys_that_cannot_be_seen_are_no_number() {
        let metrics = Metrics::new(0);
        assert!(has(&metrics, "mancala_standbys NaN"));
        metrics.upkeep().set_standbys(Some(vec![("b".to_owned(), 2.5), ("b".to_owned(), 1.0)]));
        assert!(has(&metrics, "mancala_standbys 2.0"));
        assert!(has(&metrics, r#"mancala_standby_lag_seconds{standby="b"} 2.5"#));
        metrics.upkeep().set_standbys(Some(vec![]));
        assert!(has(&metrics, "mancala_standbys 0.0"));
        assert!(!metrics.text().contains("mancala_standby_lag_seconds{"));
        metrics.upkeep().set_standbys(None);
        assert!(has(&metrics, "mancala_standbys NaN"));
    }
}
