//! The positions of a game since its last capture, for a rule against repetition (R8, R45).
//!
//! Knows which boards came before, not what happens when one comes again.

use std::collections::VecDeque;

use super::{Board, Side};

/// The most positions that a history holds. That is far more than players make between two captures, and it bounds the
/// memory of a game that goes on without one.
pub const HISTORY_MAX: usize = 1000;

/// The earlier positions that could come again: those since the last capture, oldest first, at most the last
/// [`HISTORY_MAX`]. An empty history means that no earlier position matters.
///
/// A captured seed never leaves its store, so no position from before a capture can return. A capture therefore clears
/// the history, and its length counts the plies since then. A seed that falls in a tuzdyk counts as captured (R44).
#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub struct History {
    seen: VecDeque<(Board, Side)>,
}

impl History {
    /// The history of a position without earlier ones that matter.
    pub(super) const EMPTY: Self = Self { seen: VecDeque::new() };

    /// How many positions it holds: the plies since the last capture or since the first known position, at most
    /// [`HISTORY_MAX`].
    #[must_use]
    pub fn len(&self) -> usize {
        self.seen.len()
    }

    /// Whether no earlier position matters.
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

    /// The newest board.
    pub(super) fn newest(&self) -> Option<&Board> {
        self.seen.back().map(|(board, _)| board)
    }

    /// Adds a position; the answer is the oldest one if there was no room left.
    pub(super) fn push(&mut self, board: Board, turn: Side) -> Option<(Board, Side)> {
        let dropped = if self.seen.len() == HISTORY_MAX { self.seen.pop_front() } else { None };
        self.seen.push_back((board, turn));
        dropped
    }

    /// Removes the newest position, and puts back the oldest one that it left no room for.
    pub(super) fn pop(&mut self, dropped: Option<(Board, Side)>) {
        self.seen.pop_back();
        if let Some(oldest) = dropped {
            self.seen.push_front(oldest);
        }
    }

    pub(super) fn clear(&mut self) {
        self.seen.clear();
    }
}

/// As derived, but `clone_from` reuses the memory of the target.
impl Clone for History {
    fn clone(&self) -> Self {
        Self { seen: self.seen.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        self.seen.clone_from(&source.seen);
    }
}
