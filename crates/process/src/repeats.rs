//! How often a line of the log is repeated, so that an outage writes no gigabytes.
//!
//! Lines of one place that differ only in numbers and ids are of one kind. A kind has ten lines at once and then one a second; the
//! next line says how many were left out.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{LazyLock, Mutex, PoisonError},
    time::{Duration, Instant},
};

/// How many lines of a kind are logged at once.
const BURST: u32 = 10;

/// The pause after which one more is logged.
const PAUSE: Duration = Duration::from_secs(1);

/// How many kinds are counted apart. Further ones share one allowance.
const KINDS_MAX: usize = 256;

/// A kind without a line for this long is dropped, once its skipped lines have been reported.
const FORGOTTEN_AFTER: Duration = Duration::from_mins(1);

/// How long skipped lines wait for a next line before they are reported without one.
const REPORTED_AFTER: Duration = Duration::from_secs(10);

/// The kind of all further lines once there are too many kinds; they share an allowance.
const OTHERS: u64 = 0;

static LINES: LazyLock<Repeats> = LazyLock::new(Repeats::default);

/// A line may be logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// How many lines of its kind were left out since the last one; `None` for none.
    pub left_out: Option<u64>,
}

/// Whether a line may be logged now. `place` names the code that logs it, and `cause` what the line is about.
pub fn admit(place: &'static str, cause: &str) -> Option<Admitted> {
    LINES.admit(place, cause, Instant::now())
}

/// Reports skipped lines of kinds that have no next line. Runs until it is dropped.
pub async fn report() {
    loop {
        tokio::time::sleep(REPORTED_AFTER).await;
        for (place, left_out) in LINES.overdue(Instant::now()) {
            tracing::warn!(left_out, "{place}: more lines of the same kind were left out");
        }
    }
}

#[derive(Default)]
struct Repeats(Mutex<HashMap<u64, Kind>>);

struct Kind {
    place: &'static str,
    /// When the last line was admitted, or the kind last had its whole burst.
    last: Instant,
    /// How many lines may still be logged at once.
    left: u32,
    left_out: u64,
}

impl Repeats {
    fn admit(&self, place: &'static str, cause: &str, now: Instant) -> Option<Admitted> {
        let mut kinds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut id = id(place, cause);
        if !kinds.contains_key(&id) && kinds.len() >= KINDS_MAX {
            kinds.retain(|_, kind| kind.left_out > 0 || now.duration_since(kind.last) < FORGOTTEN_AFTER);
            id = if kinds.len() < KINDS_MAX { id } else { OTHERS };
        }
        let kind = kinds.entry(id).or_insert(Kind { place, last: now, left: BURST, left_out: 0 });
        let pauses = now.duration_since(kind.last).as_secs() / PAUSE.as_secs();
        kind.left = BURST.min(kind.left.saturating_add(u32::try_from(pauses).unwrap_or(BURST)));
        if kind.left == 0 {
            kind.left_out += 1;
            return None;
        }
        kind.left -= 1;
        kind.last = now;
        let left_out = std::mem::take(&mut kind.left_out);
        Some(Admitted { left_out: (left_out > 0).then_some(left_out) })
    }

    /// Takes the counts of skipped lines of kinds whose last line is some time ago.
    fn overdue(&self, now: Instant) -> Vec<(&'static str, u64)> {
        let mut kinds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_overdue = |kind: &&mut Kind| kind.left_out > 0 && now.duration_since(kind.last) >= REPORTED_AFTER;
        kinds.values_mut().filter(is_overdue).map(|kind| (kind.place, std::mem::take(&mut kind.left_out))).collect()
    }
}

/// The kind of a line: its place and its cause, without words that hold a digit, such as numbers and most parts of ids.
pub fn id(place: &str, cause: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    place.hash(&mut hasher);
    for word in cause.split(|letter: char| !letter.is_alphanumeric()) {
        let is_hexadecimal = word.len() >= 4 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_hexadecimal && !word.contains(|letter: char| letter.is_ascii_digit()) {
            word.hash(&mut hasher);
        }
    }
    // 0 is taken by the kind of all others.
    hasher.finish().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_one_kind_is_a_few_lines_and_a_count() {
        let (lines, begun) = (Repeats::default(), Instant::now());
        let admitted = |n: u32, millis: u64| {
            lines.admit("requests", &format!("game 01a2-{n} is away"), begun + Duration::from_millis(millis))
        };
        let at_once = (0..1000).filter_map(|n| admitted(n, 0)).count();
        assert_eq!(at_once, BURST as usize);
        // Another cause is not part of it.
        assert!(lines.admit("requests", "disk full", begun).is_some());
        assert_eq!(admitted(1, 999), None);
        assert_eq!(admitted(2, 1000), Some(Admitted { left_out: Some(991) }));
        let later = (0..600_u64).filter_map(|n| admitted(3, 1000 + n * 100)).count();
        assert!((58..=61).contains(&later), "{later}");
    }

    #[test]
    fn what_is_left_out_is_reported_when_no_line_follows() {
        let (lines, begun) = (Repeats::default(), Instant::now());
        for _ in 0..=BURST {
            lines.admit("requests", "away", begun);
        }
        assert!(lines.overdue(begun + REPORTED_AFTER / 2).is_empty());
        assert_eq!(lines.overdue(begun + REPORTED_AFTER), [("requests", 1)]);
        assert!(lines.overdue(begun + REPORTED_AFTER * 2).is_empty());
    }

    #[test]
    fn any_number_of_kinds_takes_bounded_memory() {
        let (lines, begun) = (Repeats::default(), Instant::now());
        let word = |n: u32| char::from_u32(0x4e00 + n).expect("a letter").to_string();
        for n in 0..10_000 {
            lines.admit("requests", &word(n), begun);
        }
        assert!(lines.0.lock().expect("it is free").len() <= KINDS_MAX + 1);
        // Old kinds make room.
        assert!(lines.admit("requests", "away", begun + FORGOTTEN_AFTER * 2).is_some());
        assert!(lines.0.lock().expect("it is free").len() <= KINDS_MAX);
    }
}
