//! What the search asks of a game, whatever its form. Knows no rule, and nothing of searching.

use mancala_rules::Side;

use crate::{
    slot::{Slot, Slots},
    table::Key,
    value::Bounds,
};

/// A game as the search walks through it. All numbers are as the person sees them who is to move.
pub(crate) trait Tree {
    /// A position with all that the search must know of it.
    type Position: Clone;

    /// The legal moves in the order of the rules; none when the game is over, and only then.
    fn slots(&self, position: &Self::Position) -> Slots;

    /// The position after a legal move. The positions that led to this one must have been [entered](Tree::enter).
    fn play(&self, position: &Self::Position, slot: Slot) -> Self::Position;

    /// Goes on from this position.
    fn enter(&mut self, position: &Self::Position);

    /// Goes back to the position that was entered last.
    fn leave(&mut self);

    /// The side to move.
    fn turn(&self, position: &Self::Position) -> Side;

    /// Whether the side to move is inside its turn, so that an estimate would say little.
    fn is_extra(&self, position: &Self::Position) -> bool;

    /// What is certain about the end of the game.
    fn standing(&self, position: &Self::Position) -> Standing;

    /// By what the position is remembered. The position before it must have been entered.
    fn key(&self, position: &Self::Position) -> Key;

    /// The margin at the end as it looks, in points.
    fn estimate(&self, position: &Self::Position) -> i32;
}

/// What is certain about the margin at the end of the game: own seeds less the other's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    /// The margin if nobody gained anything any more. What is remembered of a position is told relative to it.
    pub margin: i32,
    /// How far from it the end can be at most, in seeds; 0 once the game is over.
    pub reach: i32,
}

impl Standing {
    /// The margins that are possible.
    pub fn bounds(self) -> Bounds {
        Bounds { low: self.margin - self.reach, high: self.margin + self.reach }
    }
}

/// Whether the value of a position is told from the view of the same person as that of the position before it. After a
/// swap the side to move is the same, but another person sits there.
pub(crate) fn same_person<T: Tree>(tree: &T, before: &T::Position, slot: Slot, after: &T::Position) -> bool {
    slot != Slot::SWAP && tree.turn(before) == tree.turn(after)
}
