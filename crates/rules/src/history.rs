//! The positions that a game has seen since its last capture: what a rule against repetition asks for (R8).
//!
//! Knows which boards came before, and nothing of what happens when one comes again.

use std::collections::VecDeque;

use super::{Board, Side};

/// How many positions a history holds: far more than people play between two captures, and a bound to what a game costs
/// that goes on without one for ever.
pub const HISTORY_MAX: usize = 1000;

/// The positions before the present one that could come again: those since the last capture, oldest first, and of more
/// than [`HISTORY_MAX`] the last. Where it is empty, nothing that came before matters.
///
/// A captured seed never leaves its store, so a position from before a capture cannot return, and its history begins
/// anew. Its length is that of the game since then, in plies.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub struct History {
    seen: VecDeque<(Board, Side)>,
}

impl History {
    /// How many positions there are: the plies since the last capture, or since the start that the history has, as far as
    /// [`HISTORY_MAX`].
    #[must_use]
    pub fn len(&self) -> usize {
        self.seen.len()
    }

    /// Whether nothing that came before matters.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// How often this board came with this side to move.
    #[must_use]
    pub fn count(&self, board: &Board, turn: Side) -> usize {
        self.seen.iter().filter(|&(seen, side)| *side == turn && seen == board).count()
    }

    /// The boards with their sides to move, oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Board, Side)> {
        self.seen.iter().map(|(board, turn)| (board, *turn))
    }

    pub(super) fn push(&mut self, board: Board, turn: Side) {
        if self.seen.len() == HISTORY_MAX {
            self.seen.pop_front();
        }
        self.seen.push_back((board, turn));
    }

    pub(super) fn clear(&mut self) {
        self.seen.clear();
    }
}

/// As derived, save that `clone_from` uses the memory that is there.
impl Clone for History {
    fn clone(&self) -> Self {
        Self { seen: self.seen.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        self.seen.clone_from(&source.seen);
    }
}
