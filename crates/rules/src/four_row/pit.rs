//! The ring of the two rows of a side (R19). Knows the way round it, not what lies in it.

use crate::{Direction, PITS_MAX, Pit, Side};

/// Seeds of one circuit of the ring (R31).
pub(super) const CIRCUIT: u32 = 16;

/// How many pits are in the front row.
const FRONT: u8 = 8;

/// A pit of a side's ring: `A` to `H` are its front row, next to the other side; `I` to `P` its back row.
pub(super) trait RingPit: Sized {
    /// The pit with this index, counted on round the ring.
    fn at(side: Side, index: u8) -> Self;

    /// The pits of a side, from `A` to `P`.
    fn all(side: Side) -> impl Iterator<Item = Self>;

    /// The front row of a side, from `A` to `H`.
    fn front(side: Side) -> impl Iterator<Item = Self>;

    /// Whether it is in the front row.
    fn is_front(&self) -> bool;

    /// The front pit across the board; `None` for a pit of the back row.
    fn facing(self) -> Option<Self>;

    /// The pit of the same side in the other row.
    fn behind(self) -> Self;

    /// The pit that is `steps` steps further round the ring.
    fn after(self, steps: u16, direction: Direction) -> Self;

    /// Its place in a list of the pits of its side. A pit that these boards lack stands for one that they have.
    fn place(self) -> usize;
}

impl RingPit for Pit {
    fn at(side: Side, index: u8) -> Self {
        Self { side, index: index % 16 }
    }

    fn all(side: Side) -> impl Iterator<Item = Self> {
        (0..16).map(move |index| Self { side, index })
    }

    fn front(side: Side) -> impl Iterator<Item = Self> {
        (0..FRONT).map(move |index| Self { side, index })
    }

    fn is_front(&self) -> bool {
        self.index < FRONT
    }

    fn facing(self) -> Option<Self> {
        self.is_front().then(|| Self { side: !self.side, index: FRONT - 1 - self.index })
    }

    fn behind(self) -> Self {
        Self::at(self.side, 15 - self.index % 16)
    }

    fn after(self, steps: u16, direction: Direction) -> Self {
        let steps = match direction {
            Direction::Up => steps % 16,
            Direction::Down => 16 - steps % 16,
        };
        // Both are at most 16, so the sum fits.
        Self { side: self.side, index: ((u16::from(self.index) + steps) % 16) as u8 }
    }

    fn place(self) -> usize {
        usize::from(self.index) % PITS_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_of_a_side_closes_both_ways() {
        for side in Side::ALL {
            for pit in Pit::all(side) {
                assert_eq!(pit.after(1, Direction::Up).after(1, Direction::Down), pit);
                assert_eq!((pit.after(16, Direction::Up), pit.after(32, Direction::Down)), (pit, pit));
                assert_eq!(pit.behind().behind(), pit);
                assert_eq!(pit.facing().and_then(RingPit::facing), pit.is_front().then_some(pit));
            }
        }
        let next = |text: &str, direction| text.parse::<Pit>().unwrap().after(1, direction).to_string();
        assert_eq!([next("H", Direction::Up), next("A", Direction::Down)], ["I", "P"]);
    }
}
