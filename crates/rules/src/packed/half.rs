//! Half of a board in one machine word: the pits and the store of one side, a byte each. Knows no rule.

use std::ops::{AddAssign, SubAssign};

use crate::{Board, Side};

/// The most pits that fit beside a store.
pub(super) const PITS_MAX: u8 = 7;

/// A bound on the moves of a packed position: each pit is a byte of a word of eight.
pub const MOVES_MAX: usize = 8;

/// The place of the store. The places of the pits are their indices.
pub(super) const STORE: u8 = 7;

/// The distance between the numbers of the own half's places and those of the other half.
pub(super) const OTHER: u8 = 8;

/// The most seeds that a board may hold, so that neither a place nor a sum of places overflows.
pub(super) const SEEDS_MAX: u16 = u8::MAX as u16;

/// The pits and the store of one side. Every method takes a place modulo 8, so that no place is out of range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Half(u64);

impl Half {
    /// The bytes of all pits.
    const PITS: u64 = (1 << (8 * STORE)) - 1;

    /// A one in every byte. The highest byte of a product with it is the sum of the bytes of the other factor.
    const ONES: u64 = u64::MAX / 255;

    /// Half of a board with at most [`PITS_MAX`] pits a side and [`SEEDS_MAX`] seeds.
    pub fn of(board: &Board, side: Side) -> Self {
        let mut half = Self::default();
        let pits = (0..).zip(board.pits(side).iter().copied());
        for (place, seeds) in pits.chain([(STORE, board.store(side))]) {
            half.drop(place, seeds.try_into().unwrap_or(u8::MAX));
        }
        half
    }

    #[inline]
    pub const fn at(self, place: u8) -> u8 {
        (self.0 >> (8 * (place % 8))).to_le_bytes()[0]
    }

    #[inline]
    pub const fn store(self) -> u8 {
        self.at(STORE)
    }

    #[inline]
    pub const fn row_is_empty(self) -> bool {
        self.0 & Self::PITS == 0
    }

    /// The pits without the store.
    #[inline]
    pub const fn row(self) -> Self {
        Self(self.0 & Self::PITS)
    }

    /// The bytes of the pits.
    #[inline]
    pub const fn row_word(self) -> u64 {
        self.0 & Self::PITS
    }

    /// A half of these pits, with an empty store.
    #[inline]
    pub const fn of_row_word(word: u64) -> Self {
        Self(word & Self::PITS)
    }

    /// The pits that hold seeds.
    #[inline]
    pub const fn filled_pits(self) -> Pits {
        Pits(self.0 & Self::PITS)
    }

    /// The seeds in all pits.
    #[inline]
    pub const fn row_total(self) -> u8 {
        (self.0 & Self::PITS).wrapping_mul(Self::ONES).to_le_bytes()[STORE as usize]
    }

    /// The seeds of this pit and of those before it, back to the first that holds neither two nor three. Without a branch for each pit,
    /// because the processor cannot predict it.
    #[inline]
    pub const fn twos_and_threes_back_from(self, place: u8) -> Self {
        const LOW: u64 = 0x7f * Half::ONES;
        // Zero in a byte of two or three; then the highest bit of every other byte.
        let others = (self.0 ^ (2 * Self::ONES)) & !Self::ONES;
        let others = (((others & LOW) + LOW) | others) & !LOW;
        // The pits above are shifted out, and a byte below the lowest pit ends the chain.
        let above = 8 * (STORE - place % 8) as u32;
        let chain = ((others << above) | (1 << above >> 1)).leading_zeros();
        Self(self.0 & (!u64::MAX.unbounded_shr(chain) >> above))
    }

    /// Takes all seeds of a place.
    #[inline]
    pub fn lift(&mut self, place: u8) -> u8 {
        let seeds = self.at(place);
        self.0 &= !(0xff << (8 * (place % 8)));
        seeds
    }

    /// Takes all seeds of all pits.
    pub fn lift_row(&mut self) -> u8 {
        let seeds = self.row_total();
        self.0 &= !Self::PITS;
        seeds
    }

    /// Adds seeds at a place.
    #[inline]
    pub fn drop(&mut self, place: u8, seeds: u8) {
        self.0 = self.0.wrapping_add(u64::from(seeds) << (8 * (place % 8)));
    }

    /// Adds seeds to the store.
    #[inline]
    pub fn bank(&mut self, seeds: u8) {
        self.drop(STORE, seeds);
    }
}

/// Adds the seeds of each place.
impl AddAssign for Half {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 = self.0.wrapping_add(other.0);
    }
}

/// Takes these seeds from each place, which must hold at least as many.
impl SubAssign for Half {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        self.0 = self.0.wrapping_sub(other.0);
    }
}

/// A set of pits of one side, in ascending order. In the word, a pit of the set has a byte other than zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pits(u64);

impl Pits {
    pub(super) const NONE: Self = Self(0);

    /// How many pits are left in the set.
    #[must_use]
    #[inline]
    pub const fn len(&self) -> usize {
        // The highest bit of each byte marks a byte other than zero. The sum of the lower bits cannot carry into the
        // next byte.
        const LOW: u64 = 0x7f * Half::ONES;
        ((((self.0 & LOW) + LOW) | self.0) & !LOW).count_ones() as usize
    }

    /// Whether no pit is left in the set.
    #[must_use]
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.0 == 0
    }

    /// The pits for which `wanted` holds.
    pub(super) fn keep(self, mut wanted: impl FnMut(u8) -> bool) -> Self {
        self.filter(|&pit| wanted(pit)).fold(Self::NONE, |kept, pit| Self(kept.0 | 1 << (8 * pit)))
    }
}

impl Iterator for Pits {
    type Item = u8;

    #[inline]
    fn next(&mut self) -> Option<u8> {
        if self.is_empty() {
            return None;
        }
        let pit = self.0.trailing_zeros() / 8 % 8;
        self.0 &= !(0xff << (8 * pit));
        u8::try_from(pit).ok()
    }
}
