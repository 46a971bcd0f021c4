//! The common parts of the metrics of a family: the sets of labels, and the buckets of histograms.

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family},
    registry::{Metric, Registry},
};

use super::labels::Labelled;

/// Upper bounds of the buckets in seconds: a move takes a millisecond, and a request that takes 10 seconds is cut off.
pub(super) const REQUEST_BUCKETS_S: [f64; 14] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// Upper bounds of the buckets in seconds: a request waits for a change for up to 50 seconds.
pub(super) const WAIT_BUCKETS_S: [f64; 8] = [0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 51.0, 60.0];

/// Upper bounds of the buckets in seconds: from a commit to a fast disk up to the timeout of a statement.
pub(super) const APPEND_BUCKETS_S: [f64; 12] =
    [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5, 8.0];

/// Upper bounds of the buckets in seconds: the computer thinks for two at most; a longer time is spent in the queue.
pub(super) const TURN_BUCKETS_S: [f64; 10] = [0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0, 600.0];

/// Upper bounds of the buckets: a group has at most 64 appends.
pub(super) const GROUP_BUCKETS: [f64; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct RequestLabels {
    pub method: &'static str,
    pub route: &'static str,
    pub status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct RouteLabels {
    pub method: &'static str,
    pub route: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct IssuerLabels {
    /// The operator's id.
    pub issuer: String,
    pub outcome: &'static str,
}

/// A label and its value.
pub(super) type Label<T> = [(&'static str, T); 1];

/// A counter for each value of an enum. They exist from the start, so that their rates begin at zero.
pub(super) struct Counters<E: 'static>(Vec<(E, Counter)>);

impl<E: Labelled> Counters<E> {
    pub(super) fn register(registry: &mut Registry, name: &str, help: &str, label: &'static str) -> Self {
        let family = Family::<Label<&'static str>, Counter>::default();
        let counter = |word| Counter::clone(&family.get_or_create(&[(label, word)]));
        let counters = E::ALL.iter().map(|&value| (value, counter(value.word()))).collect();
        registry.register(name, help, family);
        Self(counters)
    }

    /// Counts one of a value.
    pub(super) fn count(&self, value: E) {
        self.count_by(value, 1);
    }

    /// Counts several of a value.
    pub(super) fn count_by(&self, value: E, count: u64) {
        if let Some((_, counter)) = self.0.iter().find(|(of, _)| *of == value) {
            counter.inc_by(count);
        }
    }
}

/// A metric that is registered.
pub(super) fn registered<M: Metric + Clone>(registry: &mut Registry, name: &str, help: &str, metric: M) -> M {
    registry.register(name, help, metric.clone());
    metric
}
