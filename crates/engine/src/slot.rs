//! Moves as small numbers, as the search holds them; the table has four bits for one. Knows the kinds of moves, and no
//! rule.

use arrayvec::ArrayVec;
use mancala_rules::{Direction, MOVES_MAX, Move, Pit, Side};

/// A move as the side to move sees it: the index of its pit, or one of the moves without a pit. Declined
/// captures and moves of games with four rows have greater numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot(pub u16);

/// From here on: a pit of a game with four rows that is sown in the direction of the game.
const FAR: u16 = 16;

/// From here on: a pit that is sown upward.
const UPWARD: u16 = 32;

/// From here on: a pit that is sown downward.
const DOWNWARD: u16 = 48;

/// From here on: seeds that are put in a pit.
const PLACED: u16 = 64;

/// More than the seeds that a move can put in a pit, so that pit and seeds share a number.
const PLACED_MAX: u16 = 128;

/// From here on, above all others: a pit that is sown while its capture is declined.
const DECLINED: u16 = 4096;

impl Slot {
    /// A pass; above the index of every pit of a game with two rows.
    pub const PASS: Self = Self(12);
    /// The pie rule's swap: the players exchange sides.
    pub const SWAP: Self = Self(13);
    /// No move; fits in four bits.
    pub const NONE: Self = Self(15);

    /// The slot of a legal move. An agreed end has none: it takes both players, so no search considers it.
    pub fn of(m: Move) -> Self {
        match m {
            Move::Sow(Pit { index, .. }) if u16::from(index) < Self::PASS.0 => Self(index.into()),
            Move::Sow(pit) => Self(FAR + u16::from(pit.index)),
            Move::Decline(pit) => Self(DECLINED + u16::from(pit.index)),
            Move::SowTo { pit, direction: Direction::Up } => Self(UPWARD + u16::from(pit.index)),
            Move::SowTo { pit, direction: Direction::Down } => Self(DOWNWARD + u16::from(pit.index)),
            Move::Place { pit, seeds } => Self(PLACED + u16::from(pit.index) * PLACED_MAX + u16::from(seeds)),
            Move::Pass => Self::PASS,
            Move::Swap => Self::SWAP,
            Move::Agree => Self::NONE,
        }
    }

    /// The move, as this side plays it.
    pub fn to_move(self, side: Side) -> Move {
        let pit = |index: u16| Pit { side, index: low(index) };
        match self {
            Self::PASS => Move::Pass,
            Self::SWAP => Move::Swap,
            Self(slot @ DECLINED..) => Move::Decline(pit(slot - DECLINED)),
            Self(slot @ PLACED..) => {
                let (index, seeds) = ((slot - PLACED) / PLACED_MAX, (slot - PLACED) % PLACED_MAX);
                Move::Place { pit: pit(index), seeds: low(seeds) }
            }
            Self(slot @ DOWNWARD..) => Move::SowTo { pit: pit(slot - DOWNWARD), direction: Direction::Down },
            Self(slot @ UPWARD..) => Move::SowTo { pit: pit(slot - UPWARD), direction: Direction::Up },
            Self(slot @ FAR..) => Move::Sow(pit(slot - FAR)),
            Self(slot) => Move::Sow(pit(slot)),
        }
    }

    /// Orders moves that gain the same: later pits first, and a declined capture after all others.
    #[inline]
    pub const fn order(self) -> u16 {
        if self.0 < DECLINED { self.0 } else { 0 }
    }

    /// The pit of a game with two rows.
    #[inline]
    pub const fn pit(self) -> u8 {
        low(self.0)
    }

    /// The slot in four bits, as the table holds it. One that does not fit is [`Slot::NONE`].
    #[inline]
    pub fn in_four_bits(self) -> u32 {
        if self.0 < FAR { self.0.into() } else { Self::NONE.0.into() }
    }
}

/// The lower eight bits: all that a pit or a number of seeds has.
const fn low(number: u16) -> u8 {
    number.to_le_bytes()[0]
}

/// The legal moves of a position.
pub(crate) type Slots = ArrayVec<Slot, MOVES_MAX>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_move_is_read_back_from_its_slot() {
        for word in ["A", "L", "M", "P", "AU", "AV", "PU", "PV", "A0", "O0", "A32", "O32", "A~", "L~", "pass", "swap"] {
            let m: Move = word.parse().unwrap();
            assert_eq!(Slot::of(m).to_move(Side::South), m, "{word}");
        }
        let fits = |word: &str| Slot::of(word.parse().unwrap()).in_four_bits() != u32::from(Slot::NONE.0);
        assert!(fits("L") && fits("pass") && !fits("M") && !fits("AU") && !fits("A~"));
    }
}
