//! Readings of logs that several streams share.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, Weak},
};

use actix_web::web::Bytes;
use tokio::sync::OnceCell;

use crate::{domain::GameId, http::view::event::Follows};

/// Some events as they are sent.
#[derive(Debug)]
pub struct Chunk {
    pub(crate) text: Bytes,
    /// The last of them.
    pub(crate) last: u32,
    /// The game's version when they were read.
    pub(crate) version: u32,
    /// What may come after the last of them that there was.
    pub(crate) follows: Follows,
}

/// Events that somebody asks for: those after one, of a log that was seen to go as far as another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Asked {
    pub(crate) game: GameId,
    pub(crate) after: u32,
    pub(crate) until: u32,
}

/// What is read for streams right now: of those who are woken together, one reads for all.
#[derive(Debug, Default)]
pub struct Readings(Mutex<HashMap<Asked, Weak<Reading>>>);

/// One such reading, by whoever came first; if that one goes away, by another.
pub(crate) type Reading = OnceCell<Arc<Chunk>>;

impl Readings {
    pub(crate) fn enter(&self, asked: Asked) -> Taking<'_> {
        let mut readings = self.lock();
        let reading = readings.get(&asked).and_then(Weak::upgrade).unwrap_or_else(|| {
            let reading = Arc::<Reading>::default();
            readings.insert(asked, Arc::downgrade(&reading));
            reading
        });
        Taking { readings: self, asked, reading }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Asked, Weak<Reading>>> {
        self.0.lock().expect("nothing panics while it holds the readings")
    }
}

/// Somebody's part in a reading, which is forgotten with the last of them.
pub(crate) struct Taking<'a> {
    pub(crate) readings: &'a Readings,
    pub(crate) asked: Asked,
    pub(crate) reading: Arc<Reading>,
}

impl Drop for Taking<'_> {
    fn drop(&mut self) {
        let mut readings = self.readings.lock();
        if Arc::strong_count(&self.reading) == 1 {
            readings.remove(&self.asked);
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn who_asks_for_the_same_shares_a_reading_and_nothing_is_left_of_it() {
        let readings = Readings::default();
        let asked = |until| Asked { game: GameId(Uuid::nil()), after: 1, until };
        let (first, second, later) = (readings.enter(asked(2)), readings.enter(asked(2)), readings.enter(asked(3)));
        assert!(Arc::ptr_eq(&first.reading, &second.reading) && !Arc::ptr_eq(&first.reading, &later.reading));
        drop(first);
        assert!(Arc::ptr_eq(&second.reading, &readings.enter(asked(2)).reading));
        drop((second, later));
        assert!(readings.lock().is_empty());
    }
}
