//! Readings of game logs that several streams share.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, Weak},
};

use actix_web::web::Bytes;
use mancala_domain::GameId;
use mancala_wire::view::event::Follows;
use tokio::sync::OnceCell;

/// Some events of a game, as the text that streams send.
#[derive(Debug)]
pub struct Chunk {
    pub text: Bytes,
    /// The number of the last event.
    pub last: u32,
    /// The game's version at the time of the reading.
    pub version: u32,
    /// The events that may follow the last one.
    pub follows: Follows,
}

/// A range of a game's events: those after one event, in a log known to reach to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EventRange {
    pub game: GameId,
    pub after: u32,
    pub until: u32,
}

/// The readings in progress. When several streams are woken together, one of them reads for all.
#[derive(Debug, Default)]
pub struct Readings(Mutex<HashMap<EventRange, Weak<Reading>>>);

/// A reading, done by the stream that came first. If that stream ends, another one reads.
pub type Reading = OnceCell<Arc<Chunk>>;

impl Readings {
    /// Joins the reading of a range, or begins it.
    pub fn enter(&self, range: EventRange) -> Share<'_> {
        let mut readings = self.lock();
        let reading = readings.get(&range).and_then(Weak::upgrade).unwrap_or_else(|| {
            let reading = Arc::<Reading>::default();
            readings.insert(range, Arc::downgrade(&reading));
            reading
        });
        Share { readings: self, range, reading }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<EventRange, Weak<Reading>>> {
        self.0.lock().expect("nothing panics while it holds the readings")
    }
}

/// A stream's share in a reading. The last share removes the reading.
pub struct Share<'a> {
    readings: &'a Readings,
    range: EventRange,
    pub reading: Arc<Reading>,
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        let mut readings = self.readings.lock();
        if Arc::strong_count(&self.reading) == 1 {
            readings.remove(&self.range);
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn streams_share_a_reading_and_the_last_one_removes_it() {
        let readings = Readings::default();
        let range = |until| EventRange { game: GameId(Uuid::nil()), after: 1, until };
        let (first, second, later) = (readings.enter(range(2)), readings.enter(range(2)), readings.enter(range(3)));
        assert!(Arc::ptr_eq(&first.reading, &second.reading) && !Arc::ptr_eq(&first.reading, &later.reading));
        drop(first);
        assert!(Arc::ptr_eq(&second.reading, &readings.enter(range(2)).reading));
        drop((second, later));
        assert!(readings.lock().is_empty());
    }
}
