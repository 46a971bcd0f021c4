//! The ring of the two rows of a side (R19). Knows the way round it, not what lies in it.

use crate::{Direction, Pit, Side};

/// Seeds of one circuit of the ring (R31).
pub(crate) const CIRCUIT: u32 = RING as u32;

/// How many pits a ring has.
const RING: u8 = 16;

/// How many of them are in the front row.
const FRONT: u8 = 8;

/// A pit of a side's ring: `A` to `H` are its front row, next to the other side; `I` to `P` its back row.
impl Pit {
    /// The pit with this index, counted on round the ring.
    pub(crate) fn at(side: Side, index: u8) -> Self {
        Self { side, index: index % RING }
    }

    /// The pits of a side, from `A` to `P`.
    pub(crate) fn all(side: Side) -> impl Iterator<Item = Self> {
        (0..RING).map(move |index| Self { side, index })
    }

    /// The front row of a side, from `A` to `H`.
    pub(crate) fn front(side: Side) -> impl Iterator<Item = Self> {
        (0..FRONT).map(move |index| Self { side, index })
    }

    /// Whether it is in the front row.
    pub(crate) fn is_front(self) -> bool {
        self.index < FRONT
    }

    /// The front pit across the board; `None` for a pit of the back row.
    pub(crate) fn facing(self) -> Option<Self> {
        self.is_front().then(|| Self { side: !self.side, index: FRONT - 1 - self.index })
    }

    /// The pit of the same side in the other row.
    pub(crate) fn behind(self) -> Self {
        Self::at(self.side, RING - 1 - self.index % RING)
    }

    /// The pit that is `steps` steps further round the ring.
    pub(crate) fn after(self, steps: u16, direction: Direction) -> Self {
        let steps = match direction {
            Direction::Up => steps % 16,
            Direction::Down => 16 - steps % 16,
        };
        // The sum fits: an index is a `u8`, and the steps are at most 16.
        Self { side: self.side, index: ((u16::from(self.index) + steps) % 16) as u8 }
    }

    /// Its place in a list of the pits of its side. A pit that these boards lack stands for one that they have.
    pub(crate) fn place(self) -> usize {
        usize::from(self.index % RING)
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
                assert_eq!(pit.facing().and_then(Pit::facing), pit.is_front().then_some(pit));
            }
        }
        let next = |text: &str, direction| text.parse::<Pit>().unwrap().after(1, direction).to_string();
        assert_eq!([next("H", Direction::Up), next("A", Direction::Down)], ["I", "P"]);
    }
}
