//! The tables of exact values that engines share: which games have one, and when it is made. Does not know what is in it.

use std::sync::{Arc, Mutex, PoisonError};

use mancala_rules::{AnyPosition, packed::Kalah};

use crate::{endgame::Endgame, signal::Signal};

/// The most memory of a table that is shared.
const BYTES_MAX: usize = 10 << 20;

/// How many games keep their tables: the common ones, and two that players make up.
const GAMES_MAX: usize = 4;

/// Exact values of positions with few seeds in pits, for Kalah. Engines that share them make those of a game when the first of
/// them needs them, which takes less than a second.
///
/// With up to 14 seeds in twelve pits there are 9.7 million positions, a byte each. The table that was made first of more
/// than four games is dropped.
///
/// ```
/// use std::sync::Arc;
///
/// use mancala_engine::{Endgames, Engine, Limits, Signal};
/// use mancala_rules::{AnyOptions, AnyPosition, Variant};
///
/// let options = AnyOptions::parse(Variant::Kalah, "standard", "")?;
/// let position = AnyPosition::parse(&options, "2,0,0,1,0,3/0,0,2,2,0,1 18-19 S - 40 1S")?;
/// let mut engine = Engine::new(1).with_endgames(Arc::new(Endgames::default()));
/// let found = engine.search(&position, Limits::nodes(100), &Signal::new()).expect("there are moves");
/// assert!(found.value.is_exact);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Endgames {
    /// The most memory of a table.
    bytes: usize,
    /// By the game, without its seeds beyond those of a table: the latest is last.
    made: Mutex<Vec<(Game, Arc<Endgame>)>>,
}

/// What a table depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Game {
    options: mancala_rules::AnyOptions,
    seeds_max: u8,
}

impl Default for Endgames {
    fn default() -> Self {
        Self::of_size(BYTES_MAX)
    }
}

impl Endgames {
    /// Tables of at most so many bytes each.
    pub(crate) const fn of_size(bytes: usize) -> Self {
        Self { bytes, made: Mutex::new(Vec::new()) }
    }

    /// The table of a game in which only the seeds in pits matter before its end. Makes it if it is not there, unless the
    /// signal stops that.
    pub(crate) fn find(&self, game: &Kalah, position: &AnyPosition, signal: &Signal) -> Option<Arc<Endgame>> {
        let seeds_max = u8::try_from(position.total()).unwrap_or(u8::MAX);
        let key = Game { options: position.options(), seeds_max };
        let made = || self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, endgame)) = made().iter().find(|(of, _)| *of == key) {
            return Some(Arc::clone(endgame));
        }
        // Without the lock: a search may rest meanwhile. If two make the same table, one of them is dropped.
        let pits = position.board().pits_per_side();
        let endgame = Arc::new(Endgame::make(game, pits, seeds_max, self.bytes, signal)?);
        let mut made = made();
        made.retain(|(of, _)| *of != key);
        if made.len() >= GAMES_MAX {
            made.remove(0);
        }
        made.push((key, Arc::clone(&endgame)));
        Some(endgame)
    }
}
