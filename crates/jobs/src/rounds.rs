//! The rounds of a job: one that fails or panics is not the end of the job.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use mancala_db::DbError;
use mancala_process::{
    clock::now,
    metrics::{JobGauge, Metrics},
    outage::Outage,
};

/// Follows the rounds of one job. The log has the begin and the end of an outage, and the metrics have the last success.
#[derive(Debug)]
pub(super) struct Rounds {
    name: &'static str,
    gauge: JobGauge,
    outage: Outage,
}

impl Rounds {
    /// `name` is the job's in the metrics. `begins` says what does not work in an outage, and `ends` that it works again.
    pub(super) fn new(metrics: &Metrics, name: &'static str, begins: &'static str, ends: &'static str) -> Self {
        Self { name, gauge: metrics.upkeep().job(name), outage: Outage::behind_database(begins, ends) }
    }

    /// The result of a round; `None` if it failed or panicked.
    pub(super) async fn run<T>(&self, round: impl Future<Output = Result<T, DbError>>) -> Option<T> {
        if let Ok(outcome) = AssertUnwindSafe(round).catch_unwind().await {
            return self.note(outcome);
        }
        tracing::error!(job = self.name, "a round of a job panicked, and the job goes on");
        None
    }

    /// Notes the outcome of a round; `None` if it failed.
    pub(super) fn note<T>(&self, outcome: Result<T, DbError>) -> Option<T> {
        self.outage.note(&outcome);
        let done = outcome.ok()?;
        self.gauge.succeeded(now());
        Some(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_round_that_panics_is_not_the_end() {
        let rounds = Rounds::new(&Metrics::new(0), "mail", "away", "back");
        let panics = async |is_bug: bool| if is_bug { panic!("a bug") } else { Ok(7) };
        assert_eq!(rounds.run(panics(true)).await, None);
        assert_eq!(rounds.run(panics(false)).await, Some(7));
    }
}
