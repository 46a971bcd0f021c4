//! Proven bounds of all positions of Oware with few seeds in pits. Knows that a store may end the game, and what a repetition is
//! worth; no other rule. `oware_layer.rs` finds the bounds.
//!
//! **What is proven.** A bound is what a *strategy* gains for certain: one move for each position, against every play, if no
//! position came before. Each line by it ends by the rules, or comes back to a position, which ends the game sooner or later. The
//! strategy gains as much by an end, and by the repetition of each position that it lets come back. So its bound holds, though
//! with another strategy more might be gained: for that, it would matter in which order positions came.
//!
//! **Where positions came before**, a line by the strategy can also end by a repetition of one of those. `gain` counts
//! the worst of them. `gain_by_strategy` (`oware_strategy.rs`) looks whether the strategy leads to one at all. Each
//! entry has a *rank* that leads the strategy towards its end, so it can be followed without searching.

use mancala_rules::packed::{Oware, Path, Position};

use crate::{
    endgame_index::{Index, SEEDS_MAX},
    value::Bounds,
};

/// For each position, the bounds of how many seeds more than the other side the side to move still gains.
#[derive(Clone, Debug)]
pub(crate) struct OwareEndgame {
    game: Oware,
    index: Index,
    /// By the seeds in pits: the number of the first entry.
    starts: Vec<usize>,
    /// Entries with the same number of seeds, in the order of their slack, then of the index. The slack is how many seeds the
    /// store of the side to move may still take before it ends the game.
    entries: Vec<Entry>,
}

/// What a player gains for certain in a position where it is to move, and in one where the other side is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Entry {
    pub own: Gain,
    pub other: Gain,
}

/// What a strategy of a player gains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Gain {
    /// In seeds, from the view of the player.
    pub seeds: i8,
    /// A move of the strategy leads to a gain of more seeds, or of as many and a lower rank. The rank may be the same
    /// where a repetition is worth the seeds.
    pub rank: u8,
}

impl OwareEndgame {
    /// An empty table for a game with `pits` pits a side, with as many seeds as fit in `bytes`.
    pub fn new(game: &Oware, pits: u8, seeds_max: u8, bytes: usize) -> Self {
        let seeds_max = seeds_max.min(SEEDS_MAX).min(game.majority().unwrap_or(SEEDS_MAX));
        let len = |index: &Index| {
            (0..=index.seeds_max()).map(|seeds| slacks(game, seeds) * index.count(seeds)).sum::<usize>()
        };
        let fits = |&seeds: &u8| len(&Index::new(pits, seeds, usize::MAX)) * size_of::<Entry>() <= bytes;
        let index = Index::new(pits, (0..=seeds_max).take_while(fits).last().unwrap_or(0), usize::MAX);
        let entries = Vec::with_capacity(len(&index));
        Self { game: game.clone(), index, starts: Vec::new(), entries }
    }

    /// Adds the positions with one seed more than before.
    pub fn add(&mut self, entries: Vec<Entry>) {
        self.starts.push(self.entries.len());
        self.entries.extend(entries);
    }

    /// The numbers of the positions.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// The game that the bounds are of.
    pub fn game(&self) -> &Oware {
        &self.game
    }

    /// A position with these rows, in which South is to move and may take `slack` of the seeds.
    pub fn position(&self, rows: [u64; 2], seeds: u8, slack: usize) -> Position {
        let own = u8::try_from(slack).unwrap_or(u8::MAX);
        let stores = self.game.majority().map_or([0, 0], |most| [most - own, most - (seeds - own)]);
        Position::of_rows(rows, stores)
    }

    /// Whether a position has few enough seeds.
    #[inline]
    pub fn covers(&self, position: &Position) -> bool {
        seeds(position) <= self.index.seeds_max()
    }

    /// The bounds of what the side to move still gains in a position that is not over, if it has few enough seeds. The positions
    /// since the last capture are the last ones of `path`.
    #[inline]
    pub fn gain(&self, position: &Position, path: &Path) -> Option<Bounds> {
        let Entry { own, other } = self.entries[self.place(position)?];
        let mut bounds = Bounds { low: own.seeds.into(), high: -i32::from(other.seeds) };
        for (before, is_same_side) in path.quiet(position) {
            let gain = self.gain_by_repetition(&before, is_same_side);
            bounds = Bounds { low: bounds.low.min(gain), high: bounds.high.max(gain) };
        }
        Some(bounds)
    }

    /// What a player gains for certain in a position with few seeds that is not over, if none came before.
    #[inline]
    pub fn gain_of(&self, position: &Position, is_to_move: bool) -> Option<Gain> {
        let Entry { own, other } = self.entries[self.place(position)?];
        Some(if is_to_move { own } else { other })
    }

    /// What a player still gains by a move that captures or ends the game: `is_to_move` says whether the player moves.
    pub fn gain_by(&self, before: &Position, after: &Position, is_to_move: bool) -> i32 {
        let turn = before.turn();
        let margin = |position: &Position| i32::from(position.store(turn)) - i32::from(position.store(!turn));
        let banked = margin(after) - margin(before);
        let further = if after.is_over() { None } else { self.gain_of(after, !is_to_move) };
        (if is_to_move { banked } else { -banked }) + further.map_or(0, |gain| gain.seeds.into())
    }

    /// What a player gains where a position comes again.
    #[inline]
    pub fn gain_by_repetition(&self, position: &Position, is_to_move: bool) -> i32 {
        let row = |side| i32::from(position.row_total(side));
        let margin = if self.game.splits_repetitions() { 0 } else { row(position.turn()) - row(!position.turn()) };
        if is_to_move { margin } else { -margin }
    }

    /// The number of a position's entry.
    #[inline]
    pub fn place(&self, position: &Position) -> Option<usize> {
        let (place, seeds) = (self.index.place(position.rows())?, seeds(position));
        let slack = self.game.majority().map_or(0, |most| usize::from(most - position.store(position.turn())));
        Some(self.starts[usize::from(seeds)] + slack * self.index.count(seeds) + place - self.index.first(seeds))
    }
}

/// Seeds in pits.
#[inline]
pub(crate) fn seeds(position: &Position) -> u8 {
    position.row_total(position.turn()) + position.row_total(!position.turn())
}

/// In how many ways the seeds that are not in pits can be in the stores, as far as that matters. The side to move may
/// take none or more of those in pits before its store ends the game. The other side may take the rest of them.
pub(crate) fn slacks(game: &Oware, seeds: u8) -> usize {
    if game.majority().is_some() { usize::from(seeds) + 1 } else { 1 }
}
