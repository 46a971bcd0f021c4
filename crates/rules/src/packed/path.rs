//! The line of play that led to a position: what a rule against repetition asks for (R8). Knows no rule itself.

use super::{Position, half::Half};
use crate::HISTORY_MAX;

/// The positions that came before one, oldest first. Whoever follows a move pushes the position that it was played in,
/// and pops it on the way back: so that trying out moves allocates nothing once the line has been this long before.
#[derive(Clone, Debug, Default)]
pub struct Path {
    boards: Vec<(Half, Half)>,
}

impl Path {
    /// Goes on from this position.
    #[inline]
    pub fn push(&mut self, position: &Position) {
        self.boards.push((position.own, position.other));
    }

    /// Goes back by one position.
    #[inline]
    pub fn pop(&mut self) {
        self.boards.pop();
    }

    /// Forgets all, for a new game.
    pub fn clear(&mut self) {
        self.boards.clear();
    }

    /// How often the position two plies beyond the last of this path came among those of its last quiet plies, as
    /// far as a history goes. The sides move in turn, so only every second position has the same side to move.
    #[inline]
    pub(super) fn count(&self, position: &Position) -> usize {
        let board = (position.own, position.other);
        let same_turn =
            self.boards.iter().rev().step_by(2).take(usize::min(position.quiet as usize, HISTORY_MAX + 1) / 2);
        same_turn.filter(|&&seen| seen == board).count()
    }
}
