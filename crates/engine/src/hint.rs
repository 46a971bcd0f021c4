//! Hints: the value of each move in a position. Knows how far a hint searches, and nothing of searching.

use mancala_rules::AnyPosition;

use crate::{engine::Engine, explore::Candidate, games::nodes_within, limits::Limits, root::Breadth, signal::Signal};

/// The most positions of a hint: a third of what the highest level visits for a move.
const NODES_MAX: u64 = 1_000_000;

/// The value of each move in a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// Every legal move, best first.
    pub candidates: Vec<Candidate>,
    /// The last depth that the search completed, in plies; 0 if it completed none, and the moves are only estimated.
    pub depth: u8,
    /// Whether the [`Signal`] ended it. Then a longer search may say otherwise.
    pub is_stopped: bool,
}

impl Engine {
    /// The value of every legal move, within a third of a second in release builds; `None` if the game is over.
    ///
    /// Clears the table first, so it is deterministic for the position, its history and the size of the table, unless
    /// `stop` ends it. A table of 16 MiB is enough.
    ///
    /// ```
    /// use mancala_engine::{Engine, Signal};
    /// use mancala_rules::{AnyOptions, AnyPosition, Variant};
    ///
    /// let options = AnyOptions::parse(Variant::Kalah, "standard", "pits=4;seeds=2")?;
    /// let opening = AnyPosition::opening(&options);
    /// let hint = Engine::new(1).hint(&opening, &Signal::new()).expect("there are moves");
    /// assert_eq!(hint.candidates.len(), 4);
    /// assert_eq!((hint.candidates[0].m().to_string(), hint.candidates[0].value.seeds()), ("D".to_owned(), 6.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn hint(&mut self, position: &AnyPosition, stop: &Signal) -> Option<Hint> {
        self.forget();
        let limits = Limits::nodes(nodes_within(position, NODES_MAX));
        let (found, candidates) = self.explore(position, limits, Breadth::Every, stop)?;
        Some(Hint { candidates, depth: found.depth, is_stopped: found.is_stopped })
    }
}
