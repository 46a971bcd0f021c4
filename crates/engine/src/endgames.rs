//! The tables of exact values that engines share: which games have one, and when it is made. Does not know what is in it.

use std::sync::{Arc, Mutex, PoisonError};

use mancala_rules::{
    AnyOptions, AnyPosition,
    packed::{Kalah, Oware},
};

use crate::{endgame_kalah::KalahEndgame, endgame_oware::OwareEndgame, signal::Signal};

/// The most memory of a table that is shared.
const BYTES_MAX: usize = 10 << 20;

/// The most memory of a table of Oware, where an entry has four bytes: with twelve pits that is nine seeds.
const OWARE_BYTES_MAX: usize = 11 << 20;

/// How many games keep their tables: the common ones, and two that players make up.
const GAMES_MAX: usize = 4;

/// Exact values of positions with few seeds in pits, for Kalah, and proven bounds for Oware. Engines that share them make those
/// of a game when the first of them needs them, which takes a second or two.
///
/// With up to 14 seeds in twelve pits there are 9.7 million positions of Kalah, a byte each. With up to nine there are
/// 2.7 million of Oware, four bytes each. The table that was made first of more than four games of a kind is dropped.
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
    /// The most memory of a table of Kalah, and of Oware if there are any.
    bytes: usize,
    oware_bytes: Option<usize>,
    kalah: Shared<KalahEndgame>,
    oware: Shared<OwareEndgame>,
}

impl Default for Endgames {
    fn default() -> Self {
        Self { oware_bytes: Some(OWARE_BYTES_MAX), ..Self::of_size(BYTES_MAX) }
    }
}

impl Endgames {
    /// Tables of at most `bytes` bytes each, for Kalah alone.
    pub(crate) const fn of_size(bytes: usize) -> Self {
        Self { bytes, oware_bytes: None, kalah: Shared::new(), oware: Shared::new() }
    }

    /// The table of a game of Kalah in which only the seeds in pits matter before its end. Makes it if it is not there, unless
    /// the signal stops that.
    pub(crate) fn of_kalah(&self, game: &Kalah, position: &AnyPosition, signal: &Signal) -> Option<Arc<KalahEndgame>> {
        let pits = position.board().pits_per_side();
        self.kalah.find(position, |seeds| KalahEndgame::make(game, pits, seeds, self.bytes, signal))
    }

    /// The table of a game of Oware. Its seeds are even, as those of all games from an opening.
    pub(crate) fn of_oware(&self, game: &Oware, position: &AnyPosition, signal: &Signal) -> Option<Arc<OwareEndgame>> {
        let (bytes, pits) = (self.oware_bytes?, position.board().pits_per_side());
        let make = |seeds| OwareEndgame::make(game, pits, seeds, bytes, signal);
        if position.total().is_multiple_of(2) { self.oware.find(position, make) } else { None }
    }
}

/// The key of a table: the options on which it depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Game {
    options: AnyOptions,
    seeds: u8,
}

/// The tables of one kind, by their games: the latest is last.
#[derive(Debug)]
struct Shared<E> {
    made: Mutex<Vec<(Game, Arc<E>)>>,
}

impl<E> Shared<E> {
    const fn new() -> Self {
        Self { made: Mutex::new(Vec::new()) }
    }

    /// The table of the game of a position. Makes it for as many seeds as the game has if it is not there.
    fn find(&self, position: &AnyPosition, make: impl FnOnce(u8) -> Option<E>) -> Option<Arc<E>> {
        let key = Game { options: position.options(), seeds: u8::try_from(position.total()).unwrap_or(u8::MAX) };
        let made = || self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, endgame)) = made().iter().find(|(of, _)| *of == key) {
            return Some(Arc::clone(endgame));
        }
        // Without the lock: a search may rest meanwhile. If two make the same table, one of them is dropped.
        let endgame = Arc::new(make(key.seeds)?);
        let mut made = made();
        made.retain(|(of, _)| *of != key);
        if made.len() >= GAMES_MAX {
            made.remove(0);
        }
        made.push((key, Arc::clone(&endgame)));
        Some(endgame)
    }
}
