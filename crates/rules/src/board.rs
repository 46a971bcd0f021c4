//! Seeds in pits and stores of a game with two rows, burnt pits and tuzdyks. Knows nothing of turns or rules.

use super::{
    BySide, Pit, Side,
    ring::{Ring, SPOTS_MAX, Spots},
};

/// The seeds of a board with two rows. Counts are `u16` because a board of 12 by 12 holds 288 seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Board {
    ring: Ring,
    /// Seeds by spot of the ring; nothing lies beyond its end.
    seeds: [u16; SPOTS_MAX],
    /// Pits out of play (R9); they hold no seed.
    burnt: Spots,
    /// Pits that the other side owns (R44); they hold no seed.
    tuzdyks: Spots,
}

impl Board {
    /// Seeds in the pits of this side, in sowing order: the last pit touches the side's own store.
    #[must_use]
    pub fn pits(&self, side: Side) -> &[u16] {
        let row = usize::from(self.ring.row(side));
        &self.seeds[row..row + usize::from(self.ring.pits)]
    }

    /// Seeds in the store of this side.
    #[must_use]
    pub fn store(&self, side: Side) -> u16 {
        self.at(self.ring.store(side))
    }

    /// Seeds in both stores.
    pub(super) fn stores(&self) -> BySide<u16> {
        BySide { south: self.store(Side::South), north: self.store(Side::North) }
    }

    /// How many pits each side has.
    #[must_use]
    pub fn pits_per_side(&self) -> u8 {
        self.ring.pits
    }

    /// Seeds in this pit; none if the board has no such pit.
    #[must_use]
    pub fn seeds(&self, pit: Pit) -> u16 {
        self.pits(pit.side).get(usize::from(pit.index)).copied().unwrap_or(0)
    }

    /// Whether this pit is burnt: out of play for a round, because there were no seeds to fill it (R9). It stays empty
    /// for that round. Only a game of several rounds has burnt pits.
    #[must_use]
    pub fn is_burnt(&self, pit: Pit) -> bool {
        self.ring.pit(pit).is_some_and(|spot| self.burnt.has(spot))
    }

    /// Whether this pit is a tuzdyk: the other side owns it, and each seed that falls there goes to that side's store
    /// (R44). It stays empty.
    #[must_use]
    pub fn is_tuzdyk(&self, pit: Pit) -> bool {
        self.ring.pit(pit).is_some_and(|spot| self.tuzdyks.has(spot))
    }

    /// The tuzdyk that this side owns; it lies on the other row (R44).
    #[must_use]
    pub fn tuzdyk(&self, owner: Side) -> Option<Pit> {
        let mut row = (0..self.ring.pits).map(|index| Pit { side: !owner, index });
        row.find(|&pit| self.is_tuzdyk(pit))
    }

    /// All seeds, in pits and stores.
    #[must_use]
    pub fn total(&self) -> u16 {
        self.seeds.iter().sum()
    }

    /// Whether the pits of this side hold no seed.
    #[must_use]
    pub fn row_is_empty(&self, side: Side) -> bool {
        self.pits(side).iter().all(|&seeds| seeds == 0)
    }

    /// An empty board. Options and position strings ensure that `pits` is from 1 to [`ROW_MAX`](super::ROW_MAX).
    pub(super) const fn empty(pits: u8) -> Self {
        Self { ring: Ring { pits }, seeds: [0; SPOTS_MAX], burnt: Spots::NONE, tuzdyks: Spots::NONE }
    }

    /// The pits of this side, to be filled.
    pub(super) fn pits_mut(&mut self, side: Side) -> &mut [u16] {
        let row = usize::from(self.ring.row(side));
        &mut self.seeds[row..row + usize::from(self.ring.pits)]
    }

    pub(super) const fn ring(&self) -> Ring {
        self.ring
    }

    /// The spots of all burnt pits.
    pub(super) const fn burnt(&self) -> Spots {
        self.burnt
    }

    /// Burns these pits, which hold nothing, and no others.
    pub(super) fn burn(&mut self, spots: Spots) {
        self.burnt = spots;
    }

    /// Burns this pit, which holds nothing, too.
    pub(super) fn burn_one(&mut self, spot: u8) {
        self.burnt = self.burnt.with(spot);
    }

    /// Makes this pit, which holds nothing, a tuzdyk of the other side.
    pub(super) fn make_tuzdyk(&mut self, spot: u8) {
        self.tuzdyks = self.tuzdyks.with(spot);
    }

    pub(super) fn at(&self, spot: u8) -> u16 {
        self.seeds[usize::from(spot)]
    }

    /// Takes all seeds at a spot.
    pub(super) fn lift(&mut self, spot: u8) -> u16 {
        std::mem::take(&mut self.seeds[usize::from(spot)])
    }

    /// Adds seeds at a spot.
    pub(super) fn drop(&mut self, spot: u8, seeds: u16) {
        self.seeds[usize::from(spot)] += seeds;
    }

    /// Adds seeds to a store.
    pub(super) fn bank(&mut self, side: Side, seeds: u16) {
        self.drop(self.ring.store(side), seeds);
    }

    /// Moves all seeds of a row to a store and returns how many there were.
    pub(super) fn sweep(&mut self, row: Side, to: Side) -> u16 {
        let seeds = self.pits_mut(row).iter_mut().map(std::mem::take).sum();
        self.bank(to, seeds);
        seeds
    }
}
