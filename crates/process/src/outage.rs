//! An outage in the log: a line when it begins, and a line when it is over.
//!
//! An outage of the database makes most of the server fail. It has two lines, and what fails because of it has none.

use std::{
    collections::BTreeMap,
    fmt::Display,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use crate::repeats::{self, Admitted};

/// How many failures in a row are an outage. A single one may be a lost connection.
const FAILURES: u64 = 2;

/// How long work that needs the database has to fail while the database answers. The outage of the database is found within this
/// time, and connections are renewed within it afterwards.
const GRACE: Duration = Duration::from_secs(5);

/// The pause after which a kind of failure has a line again that an outage of the database may soon explain.
const PAUSE: Duration = Duration::from_secs(1);

/// Whether the database answers, as [`Outage::of_database`] says.
static DATABASE: Mutex<Known> = Mutex::new(Known::NOTHING);

#[derive(Debug)]
struct Known {
    availability: Availability,
    /// When each kind of failure had its last line, within the last second.
    last_lines: BTreeMap<u64, Instant>,
    /// How many failures had no line since the last one.
    left_out: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Availability {
    /// Since the last outage, if there was one.
    Answers {
        since: Option<Instant>,
    },
    Away,
}

impl Availability {
    /// For how long work has failed beside a database that answers.
    fn failing_for(self, since: Instant, now: Instant) -> Duration {
        match self {
            Self::Answers { since: back } => now.duration_since(back.map_or(since, |back| back.max(since))),
            Self::Away => Duration::ZERO,
        }
    }
}

impl Known {
    const NOTHING: Self =
        Self { availability: Availability::Answers { since: None }, last_lines: BTreeMap::new(), left_out: 0 };

    fn admit(&mut self, kind: u64, now: Instant) -> Option<Admitted> {
        let is_explained = match self.availability {
            Availability::Answers { since } => since.is_some_and(|since| now.duration_since(since) < GRACE),
            Availability::Away => true,
        };
        self.last_lines.retain(|_, at| now.duration_since(*at) < PAUSE);
        if is_explained || self.last_lines.contains_key(&kind) {
            self.left_out += 1;
            return None;
        }
        self.last_lines.insert(kind, now);
        Some(Admitted { left_out: self.take_left_out() })
    }

    fn take_left_out(&mut self) -> Option<u64> {
        Some(std::mem::take(&mut self.left_out)).filter(|lines| *lines > 0)
    }
}

fn database() -> MutexGuard<'static, Known> {
    DATABASE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a failure for lack of the database is logged. Each kind of failure has a line a second, and none while the database is away or
/// has just come back. The next line, or the line for the end of the outage, counts the skipped ones.
pub fn admit_failure(place: &'static str, cause: &str) -> Option<Admitted> {
    database().admit(repeats::id(place, cause), Instant::now())
}

/// Follows the outcomes of one kind of work. A success costs one load of an atomic.
#[derive(Debug)]
pub struct Outage {
    begins: &'static str,
    ends: &'static str,
    cause: Cause,
    is_failing: AtomicBool,
    state: Mutex<State>,
}

/// The likely cause of an outage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// The database itself: the work only checks that it answers.
    Database,
    /// Most often the database.
    BehindDatabase,
    Other,
}

#[derive(Debug, Default)]
struct State {
    /// When the first failure was seen, while there is no success after it.
    since: Option<Instant>,
    failures: u64,
    is_logged: bool,
}

/// An outage that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Over {
    lasted: Duration,
    failures: u64,
}

impl Outage {
    /// An outage of a service other than the database. `begins` is the line when it begins, and `ends` the line when the service works
    /// again.
    pub const fn new(begins: &'static str, ends: &'static str) -> Self {
        Self::with_cause(Cause::Other, begins, ends)
    }

    /// An outage of the database itself.
    pub const fn of_database(begins: &'static str, ends: &'static str) -> Self {
        Self::with_cause(Cause::Database, begins, ends)
    }

    /// An outage of work that needs the database. The log has lines only if the work fails for some seconds while the database answers.
    pub const fn behind_database(begins: &'static str, ends: &'static str) -> Self {
        Self::with_cause(Cause::BehindDatabase, begins, ends)
    }

    const fn with_cause(cause: Cause, begins: &'static str, ends: &'static str) -> Self {
        let state = Mutex::new(State { since: None, failures: 0, is_logged: false });
        Self { begins, ends, cause, is_failing: AtomicBool::new(false), state }
    }

    /// Notes the outcome of one piece of work.
    pub fn note<T>(&self, outcome: &Result<T, impl Display>) {
        match outcome {
            Ok(_) => self.works(),
            Err(error) => self.failed(&error.to_string()),
        }
    }

    /// Notes a failure, and logs the cause if an outage begins with it.
    pub fn failed(&self, cause: &str) {
        if self.count(Instant::now(), database().availability) {
            if self.cause == Cause::Database {
                database().availability = Availability::Away;
            }
            tracing::warn!(cause, "{}", self.begins);
        }
    }

    /// Records a success. If it ends the outage, logs how long the outage took.
    pub fn works(&self) {
        let now = Instant::now();
        if let Some(Over { lasted, failures }) = self.end(now) {
            let mut left_out = None;
            if self.cause == Cause::Database {
                let mut database = database();
                database.availability = Availability::Answers { since: Some(now) };
                left_out = database.take_left_out();
            }
            tracing::warn!(failures, left_out, "{}, after {:.0} s", self.ends, lasted.as_secs_f64().ceil());
        }
    }

    /// Counts a failure; `true` if it makes an outage of those before.
    fn count(&self, now: Instant, database: Availability) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let since = *state.since.get_or_insert(now);
        state.failures += 1;
        self.is_failing.store(true, Ordering::Relaxed);
        let is_explained = self.cause == Cause::BehindDatabase && database.failing_for(since, now) < GRACE;
        let begins = !state.is_logged && !is_explained && state.failures >= FAILURES;
        state.is_logged |= begins;
        begins
    }

    /// The outage that is over; `None` if none had begun, or its begin was left out.
    fn end(&self, now: Instant) -> Option<Over> {
        if !self.is_failing.load(Ordering::Relaxed) {
            return None;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_failing.store(false, Ordering::Relaxed);
        let State { since, failures, is_logged } = std::mem::take(&mut *state);
        let lasted = now.duration_since(since?);
        is_logged.then_some(Over { lasted, failures })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWERS: Availability = Availability::Answers { since: None };

    #[test]
    fn an_outage_begins_once_and_ends_once() {
        let (outage, begun) = (Outage::new("away", "back"), Instant::now());
        let at = |seconds| begun + Duration::from_secs(seconds);
        assert_eq!(outage.end(at(0)), None);
        let told: Vec<_> = (0..12).map(|second| outage.count(at(second), ANSWERS)).collect();
        assert_eq!(told.iter().filter(|told| **told).count(), 1);
        assert!(told[1]);
        assert_eq!(outage.end(at(12)), Some(Over { lasted: Duration::from_secs(12), failures: 12 }));
        assert_eq!(outage.end(at(13)), None);
    }

    #[test]
    fn a_single_failure_is_no_outage() {
        let (outage, now) = (Outage::new("away", "back"), Instant::now());
        assert!(!outage.count(now, ANSWERS));
        assert_eq!(outage.end(now), None);
        assert!(!outage.count(now, ANSWERS));
    }

    #[test]
    fn work_behind_the_database_has_no_lines_while_that_is_away() {
        let (outage, begun) = (Outage::behind_database("waits", "goes on"), Instant::now());
        let at = |seconds| begun + Duration::from_secs(seconds);
        // The failures come before the outage is found, during it, and just after it.
        assert!(!outage.count(at(0), ANSWERS) && !outage.count(at(4), ANSWERS));
        assert!((5..60).all(|second| !outage.count(at(second), Availability::Away)));
        let back = Availability::Answers { since: Some(at(60)) };
        assert!(!outage.count(at(61), back));
        assert_eq!(outage.end(at(62)), None);
    }

    #[test]
    fn work_that_fails_beside_a_database_that_answers_has_lines() {
        let (outage, begun) = (Outage::behind_database("waits", "goes on"), Instant::now());
        let at = |seconds| begun + Duration::from_secs(seconds);
        let back = Availability::Answers { since: Some(at(2)) };
        let told: Vec<_> = (0..12).map(|second| outage.count(at(second), back)).collect();
        assert_eq!(told.iter().position(|told| *told), Some(7), "{told:?}");
        assert_eq!(told.iter().filter(|told| **told).count(), 1);
        assert_eq!(outage.end(at(12)), Some(Over { lasted: Duration::from_secs(12), failures: 12 }));
    }

    #[test]
    fn a_kind_of_failure_has_a_line_a_second_and_none_in_an_outage() {
        let (mut known, begun) = (Known::NOTHING, Instant::now());
        let at = |tenths: u64| begun + Duration::from_millis(tenths * 100);
        assert_eq!(known.admit(1, at(0)), Some(Admitted { left_out: None }));
        assert!((1..10).all(|tenth| known.admit(1, at(tenth)).is_none()));
        assert_eq!(known.admit(2, at(9)), Some(Admitted { left_out: Some(9) }));
        assert_eq!(known.admit(1, at(10)), Some(Admitted { left_out: None }));
        known.availability = Availability::Away;
        assert!((20..100).all(|tenth| known.admit(1, at(tenth)).is_none()));
        known.availability = Availability::Answers { since: Some(at(100)) };
        assert!((100..150).all(|tenth| known.admit(1, at(tenth)).is_none()));
        assert_eq!(known.admit(1, at(150)), Some(Admitted { left_out: Some(130) }));
    }
}
