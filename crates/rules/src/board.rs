//! Seeds in pits and stores of a game with two rows, and marked pits. Knows nothing of turns or rules.

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
    /// Pits that the game marks, such as burnt pits and tuzdyks; they hold no seed.
    marked: Spots,
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

    /// Whether the game has marked this pit. Such a pit holds no seed; what the mark means is the game's.
    #[must_use]
    pub fn is_marked(&self, pit: Pit) -> bool {
        self.ring.pit(pit).is_some_and(|spot| self.marked.has(spot))
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
        Self { ring: Ring { pits }, seeds: [0; SPOTS_MAX], marked: Spots::NONE }
    }

    /// A board with as many seeds in each pit.
    pub(super) fn filled(pits: u8, seeds: u16) -> Self {
        let mut board = Self::empty(pits);
        for side in Side::ALL {
            board.pits_mut(side).fill(seeds);
        }
        board
    }

    /// The pits of this side that hold seeds, in order.
    pub(super) fn filled_pits(&self, side: Side) -> impl Iterator<Item = Pit> {
        let pits = (0..).zip(self.pits(side));
        pits.filter(|&(_, &seeds)| seeds > 0).map(move |(index, _)| Pit { side, index })
    }

    /// The pits of this side, to be filled.
    pub(super) fn pits_mut(&mut self, side: Side) -> &mut [u16] {
        let row = usize::from(self.ring.row(side));
        &mut self.seeds[row..row + usize::from(self.ring.pits)]
    }

    pub(super) const fn ring(&self) -> Ring {
        self.ring
    }

    /// The spots of all marked pits.
    pub(super) const fn marked(&self) -> Spots {
        self.marked
    }

    /// Marks these pits, which hold nothing, and no others.
    pub(super) fn set_marked(&mut self, spots: Spots) {
        self.marked = spots;
    }

    /// Marks this pit, which holds nothing, too.
    pub(super) fn mark(&mut self, spot: u8) {
        self.marked = self.marked.with(spot);
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
