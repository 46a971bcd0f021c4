//! The interface between the search and a game in any form. Knows no rule, and nothing of searching.

use std::ops::DerefMut;

use mancala_rules::{Move, Side};

use crate::{child::Child, table::Key, value::Bounds};

/// A game as the search walks through it. All numbers are from the view of the player to move.
pub(crate) trait Tree {
    /// Whether [`endgame`](Self::endgame) knows any position. A constant, so that a search without tables takes no
    /// instruction for them.
    const HAS_ENDGAMES: bool;

    /// Whether moves are ordered by what earlier depths found of them, where that is looked up, and not by what they gain.
    const ORDERS_BY_ESTIMATES: bool;

    /// Whether moves that come late in this order are searched less deep, unless they seem better than those before.
    const REDUCES_LATER_MOVES: bool;

    /// The least depth at which the search of a position looks into the table, and stores its result. Positions nearer to the leaves
    /// have no key.
    const TABLE_DEPTH: u8;

    /// A position with all the state that the search needs.
    type Position: Clone;

    /// A move as the side to move sees it.
    type Move: Copy;

    /// The moves of a position.
    type Moves: IntoIterator<Item = Self::Move>;

    /// The moves of a position that is searched. The moves of every ply of a line are kept at once.
    type Children: DerefMut<Target = [Child<Self::Position, Self::Move>]>
        + FromIterator<Child<Self::Position, Self::Move>>
        + IntoIterator<Item = Child<Self::Position, Self::Move>>;

    /// The legal moves in the order of the rules; none when the game is over, and only then.
    fn moves(&self, position: &Self::Position) -> Self::Moves;

    /// The position after a legal move. The positions that led to this one must have been [entered](Tree::enter).
    fn play(&self, position: &Self::Position, m: Self::Move) -> Self::Position;

    /// The move as the rules write it, for the side that plays it.
    fn to_move(m: Self::Move, side: Side) -> Move;

    /// The moves that leave the most for later moves have the greatest number: those near to the store.
    fn nearness(m: Self::Move) -> i32;

    /// Whether the move is the pie rule's swap: the players exchange sides.
    fn is_swap(m: Self::Move) -> bool;

    /// Appends this position to the line that is searched.
    fn enter(&mut self, position: &Self::Position);

    /// Removes the position that was entered last.
    fn leave(&mut self);

    /// The side to move.
    fn turn(&self, position: &Self::Position) -> Side;

    /// Whether the side to move has an extra move, so that an estimate would say little.
    fn is_extra(&self, position: &Self::Position) -> bool;

    /// The margins at the end of the game that are possible.
    fn margin_range(&self, position: &Self::Position) -> MarginRange;

    /// Whether [`floor`](Self::floor) can say more than [`margin_range`](Self::margin_range).
    fn has_floor(&self) -> bool;

    /// A margin at the end that the player to move has for certain. It counts the seeds that the player's next moves
    /// bank, as if the other side got all others. Looks no further than to a margin that is `wanted`.
    fn floor(&self, position: &Self::Position, wanted: i32) -> i32;

    /// Whether a table of positions with few seeds has this one.
    fn has_endgame(&self, position: &Self::Position) -> bool;

    /// The proven bounds of the margin at the end, if a table of positions with few seeds has them. The position before it must
    /// have been entered.
    fn endgame(&self, position: &Self::Position) -> Option<Bounds>;

    /// Narrower bounds, found by visiting thousands of positions; `None` if no narrower ones can be found.
    fn endgame_by_strategy(&self, position: &Self::Position) -> Option<Bounds>;

    /// The position's key in the table. The position before it must have been entered.
    fn key(&self, position: &Self::Position) -> Key;

    /// The estimated margin at the end, in points.
    fn estimate(&self, position: &Self::Position) -> i32;
}

/// The range of possible margins at the end of the game: own seeds less the other side's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MarginRange {
    /// The margin so far, by the stores. The values of a table entry are relative to it.
    pub margin: i32,
    /// How far the margin at the end can be from it at most, in seeds; 0 once the game is over.
    pub reach: i32,
}

impl MarginRange {
    /// The margins that are possible.
    pub fn bounds(self) -> Bounds {
        Bounds { low: self.margin - self.reach, high: self.margin + self.reach }
    }
}

/// Whether the values of a position and of the one before it are from the view of the same player. After a swap the
/// side to move is the same, but the other player sits there.
pub(crate) fn same_player<T: Tree>(tree: &T, before: &T::Position, m: T::Move, after: &T::Position) -> bool {
    !T::is_swap(m) && tree.turn(before) == tree.turn(after)
}
