//! What the search asks of a game, whatever its form. Knows no rule, and nothing of searching.

use arrayvec::ArrayVec;
use mancala_rules::{MOVES_MAX, Move, Pit, Side};

use crate::table::Key;

/// How finely the engine estimates: so many points make a seed.
pub const POINTS_PER_SEED: i32 = 100;

/// A game as the search walks through it. All numbers are as the person sees them who is to move.
pub(super) trait Tree {
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
pub(super) struct Standing {
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

/// Proven: the margin at the end, after best play by both, is neither less nor more, in seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    pub low: i32,
    pub high: i32,
}

impl Bounds {
    /// Whether only one margin is left.
    pub const fn is_exact(self) -> bool {
        self.low == self.high
    }

    /// As the other side sees them.
    pub const fn turned(self) -> Self {
        Self { low: -self.high, high: -self.low }
    }

    /// What is known if both are known.
    pub fn and(self, other: Self) -> Self {
        Self { low: self.low.max(other.low), high: self.high.min(other.high) }
    }

    /// The same counted from another margin.
    pub const fn shifted(self, by: i32) -> Self {
        Self { low: self.low + by, high: self.high + by }
    }

    /// The possible value that is nearest to an estimate in points.
    pub fn clamp(self, points: i32) -> i32 {
        points.clamp(self.low * POINTS_PER_SEED, self.high * POINTS_PER_SEED)
    }
}

/// A move as the side to move sees it: the index of its pit, or one of the moves without a pit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot(pub u8);

impl Slot {
    /// Above the index of every pit.
    pub const PASS: Self = Self(12);
    /// The people change seats.
    pub const SWAP: Self = Self(13);
    /// No move; fits in four bits as all others do.
    pub const NONE: Self = Self(15);

    /// What a legal move is for the side that plays it. An agreed end takes both people, so nobody searches it.
    pub const fn of(m: Move) -> Self {
        match m {
            Move::Sow(pit) => Self(pit.index),
            Move::Pass => Self::PASS,
            Move::Swap => Self::SWAP,
            Move::Agree => Self::NONE,
        }
    }

    /// The move of this side.
    pub const fn to_move(self, side: Side) -> Move {
        match self {
            Self::PASS => Move::Pass,
            Self::SWAP => Move::Swap,
            Self(index) => Move::Sow(Pit { side, index }),
        }
    }
}

/// The legal moves of a position.
pub(super) type Slots = ArrayVec<Slot, MOVES_MAX>;

/// Whether the value of a position is told from the view of the same person as that of the position before it. After a
/// swap the side to move is the same, but another person sits there.
pub(super) fn same_person<T: Tree>(tree: &T, before: &T::Position, slot: Slot, after: &T::Position) -> bool {
    slot != Slot::SWAP && tree.turn(before) == tree.turn(after)
}

/// The most plies that are looked ahead: more than most games have, and few enough for the recursion.
pub(super) const DEPTH_MAX: u8 = 200;
