//! The line of play that led to a position, for a rule against repetition (R8). Knows no rule itself.

use super::{Position, half::Half};
use crate::HISTORY_MAX;

/// The positions before the current one, oldest first.
///
/// A search pushes the position in which it plays a move and pops it on the way back. Trying moves allocates memory
/// only when the line becomes longer than any before.
#[derive(Clone, Debug, Default)]
pub struct Path {
    boards: Vec<(Half, Half)>,
}

impl Path {
    /// Adds the position in which a move is played.
    #[inline]
    pub fn push(&mut self, position: &Position) {
        self.boards.push((position.own, position.other));
    }

    /// Removes the last position.
    #[inline]
    pub fn pop(&mut self) {
        self.boards.pop();
    }

    /// Removes all positions, for a new game.
    pub fn clear(&mut self) {
        self.boards.clear();
    }

    /// The positions of the quiet plies of `position`, the newest first, and whether its side to move is to move there. The last
    /// position of this path is the one before `position`.
    #[inline]
    pub fn quiet(&self, position: &Position) -> impl Iterator<Item = (Position, bool)> {
        let (turn, quiet) = (position.turn(), usize::min(position.quiet as usize, HISTORY_MAX));
        self.boards.iter().rev().take(quiet).enumerate().map(move |(ply, &(own, other))| {
            let is_same_side = ply % 2 == 1;
            (Position::of_halves(own, other, if is_same_side { turn } else { !turn }), is_same_side)
        })
    }

    /// How often `position` came among the positions of its quiet plies, at most [`HISTORY_MAX`] of them. It lies two
    /// plies beyond the last position of this path. The sides alternate, so only every second position has the same
    /// side to move.
    #[inline]
    pub(super) fn count(&self, position: &Position) -> usize {
        let board = (position.own, position.other);
        let same_turn =
            self.boards.iter().rev().step_by(2).take(usize::min(position.quiet as usize, HISTORY_MAX + 1) / 2);
        same_turn.filter(|&&seen| seen == board).count()
    }
}
