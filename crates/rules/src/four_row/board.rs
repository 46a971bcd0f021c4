//! Seeds in pits and reserves, houses, and a blocked pit. Knows nothing of turns or rules.

use crate::{BySide, Direction, Effect, PITS_MAX, Pit, Place, Side, effect::EffectSink};

/// All seeds of a game, in pits, reserves and the hand (R19).
pub const SEEDS: u16 = 64;

/// The seeds of each side at the start (R19).
pub const SEEDS_PER_SIDE: u16 = SEEDS / 2;

/// The seeds of a board, and the marks of Bao on it. Seeds in the hand are not part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Board {
    pits: BySide<[u16; PITS_MAX]>,
    reserves: BySide<u16>,
    houses: BySide<bool>,
    blocked: Option<Pit>,
}

impl Board {
    /// Seeds in the pits of this side, from `A` to `P`.
    #[must_use]
    pub const fn pits(&self, side: Side) -> &[u16; PITS_MAX] {
        match side {
            Side::South => &self.pits.south,
            Side::North => &self.pits.north,
        }
    }

    /// Seeds in this pit; none if the board has no such pit.
    #[must_use]
    pub fn seeds(&self, pit: Pit) -> u16 {
        self.pits[pit.side].get(usize::from(pit.index)).copied().unwrap_or(0)
    }

    /// Seeds in the reserve of this side.
    #[must_use]
    pub fn reserve(&self, side: Side) -> u16 {
        self.reserves[side]
    }

    /// Whether this side still owns a house (R24). Omweso has no houses.
    #[must_use]
    pub fn owns_house(&self, side: Side) -> bool {
        self.houses[side]
    }

    /// The pit that is blocked by takasia (R27).
    #[must_use]
    pub const fn blocked(&self) -> Option<Pit> {
        self.blocked
    }

    /// Seeds in pits and reserve of each side: the score (R31).
    #[must_use]
    pub fn score(&self) -> BySide<u16> {
        let of = |side: Side| self.pits[side].iter().sum::<u16>() + self.reserves[side];
        BySide { south: of(Side::South), north: of(Side::North) }
    }

    /// All seeds in pits and reserves.
    #[must_use]
    pub fn total(&self) -> u16 {
        let BySide { south, north } = self.score();
        south + north
    }

    /// Whether the front row of this side holds no seed.
    #[must_use]
    pub fn front_is_empty(&self, side: Side) -> bool {
        Pit::front(side).all(|pit| self.seeds(pit) == 0)
    }

    pub(crate) fn set_reserve(&mut self, side: Side, seeds: u16) {
        self.reserves[side] = seeds;
    }

    pub(crate) fn set_house(&mut self, side: Side, owned: bool) {
        self.houses[side] = owned;
    }

    pub(crate) fn set_blocked(&mut self, pit: Option<Pit>) {
        self.blocked = pit;
    }

    /// Takes all seeds of a pit.
    pub(crate) fn lift(&mut self, pit: Pit) -> u16 {
        std::mem::take(&mut self.pits[pit.side][pit.place()])
    }

    /// Adds seeds to a pit.
    pub(crate) fn drop(&mut self, pit: Pit, seeds: u16) {
        self.pits[pit.side][pit.place()] += seeds;
    }

    /// Moves seeds from the reserve of the pit's side to the pit; no more than there are.
    pub(crate) fn place(&mut self, pit: Pit, seeds: u16, effects: &mut impl EffectSink) {
        let seeds = seeds.min(self.reserves[pit.side]);
        if seeds > 0 {
            self.reserves[pit.side] -= seeds;
            self.drop(pit, seeds);
            effects.record(Effect::Place { pit, seeds });
        }
    }

    /// Sows one lap: a seed in each pit after `from`, which is not passed over. Returns the pit of the last seed.
    pub(crate) fn sow(&mut self, from: Pit, direction: Direction, hand: u16, effects: &mut impl EffectSink) -> Pit {
        let mut last = from;
        for _ in 0..hand {
            last = last.after(1, direction);
            self.drop(last, 1);
            effects.record(Effect::Sow { to: Place::Pit(last) });
        }
        last
    }
}
