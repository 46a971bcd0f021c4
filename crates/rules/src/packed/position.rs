//! A position in packed form: the halves of the board as the side to move sees them. Knows no rule.

use super::half::{Half, OTHER, PITS_MAX, SEEDS_MAX};
use crate::{Board, BySide, EndReason, Outcome, Pit, Side, ring::Spots};

/// A position as the side to move sees it. Small, and copied without the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    pub(super) own: Half,
    pub(super) other: Half,
    /// Plies since the last capture, in a game with a rule against repetition.
    pub(super) quiet: u32,
    pub(super) turn: Side,
    /// Whether the side to move is on an extra move.
    pub(super) extra: bool,
    pub(super) over: bool,
    pub(super) reason: Option<EndReason>,
}

impl Position {
    /// The side to move; once the game is over, the side to move when a rule ended it (R8).
    #[must_use]
    #[inline]
    pub const fn turn(&self) -> Side {
        self.turn
    }

    /// Whether the side to move is on an extra move (R7).
    #[must_use]
    #[inline]
    pub const fn is_extra(&self) -> bool {
        self.extra
    }

    /// Whether the game is over.
    #[must_use]
    #[inline]
    pub const fn is_over(&self) -> bool {
        self.over
    }

    /// The result, once the game is over: more seeds in store wins (R8).
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        let stores = BySide { south: self.store(Side::South).into(), north: self.store(Side::North).into() };
        self.over.then(|| Outcome::of(stores, self.reason))
    }

    /// Seeds in the store of this side.
    #[must_use]
    #[inline]
    pub fn store(&self, side: Side) -> u8 {
        self.half(side).store()
    }

    /// Seeds in this pit; none if the board has no such pit.
    #[must_use]
    #[inline]
    pub fn seeds(&self, pit: Pit) -> u8 {
        if pit.index < PITS_MAX { self.half(pit.side).at(pit.index) } else { 0 }
    }

    /// Seeds in all pits of this side.
    #[must_use]
    #[inline]
    pub fn row_total(&self, side: Side) -> u8 {
        self.half(side).row_total()
    }

    /// The seeds of the pits: a word for the side to move, one for the other side. Each pit is a byte, the first one the
    /// lowest.
    #[must_use]
    #[inline]
    pub const fn rows(&self) -> [u64; 2] {
        [self.own.row_word(), self.other.row_word()]
    }

    /// A position with these [`rows`](Self::rows) and stores, and South to move.
    #[must_use]
    #[inline]
    pub fn of_rows([own, other]: [u64; 2], [own_store, other_store]: [u8; 2]) -> Self {
        let (mut own, mut other) = (Half::of_row_word(own), Half::of_row_word(other));
        own.bank(own_store);
        other.bank(other_store);
        Self::of_halves(own, other, Side::South)
    }

    /// A position that is not over, with this side to move.
    #[inline]
    pub(super) const fn of_halves(own: Half, other: Half, turn: Side) -> Self {
        Self { own, other, quiet: 0, turn, extra: false, over: false, reason: None }
    }

    /// A board with this side to move; `None` if it has too many pits or seeds, or burnt pits.
    pub(super) fn of(board: &Board, turn: Side) -> Option<Self> {
        let fits = board.pits_per_side() <= PITS_MAX && board.total() <= SEEDS_MAX && board.marked() == Spots::NONE;
        let (own, other) = (Half::of(board, turn), Half::of(board, !turn));
        fits.then_some(Self::of_halves(own, other, turn))
    }

    /// The same position with this outcome; over if there is one.
    pub(super) fn with_outcome(self, outcome: Option<Outcome>) -> Self {
        Self { over: outcome.is_some(), reason: outcome.and_then(|outcome| outcome.reason), ..self }
    }

    /// Seeds at a place of either half.
    #[inline]
    pub(super) fn at(&self, place: u8) -> u8 {
        if place < OTHER { self.own.at(place) } else { self.other.at(place) }
    }

    /// Takes all seeds of a place of either half.
    #[inline]
    pub(super) fn lift(&mut self, place: u8) -> u8 {
        if place < OTHER { self.own.lift(place) } else { self.other.lift(place) }
    }

    #[inline]
    fn half(&self, side: Side) -> Half {
        if side == self.turn { self.own } else { self.other }
    }

    /// Gives the turn to the same side for an extra move, otherwise to the other side. Conditional moves choose the
    /// halves, because the processor cannot predict a branch here.
    #[inline]
    pub(super) fn go_on(&mut self, extra: bool) {
        let Self { own, other, turn, .. } = *self;
        self.own = if extra { own } else { other };
        self.other = if extra { other } else { own };
        self.turn = if extra { turn } else { !turn };
        self.extra = extra;
    }

    /// Gives the turn to the other side.
    #[inline]
    pub(super) fn pass_turn(&mut self) {
        std::mem::swap(&mut self.own, &mut self.other);
        self.turn = !self.turn;
    }

    /// Moves the seeds of each row to its own store.
    pub(super) fn sweep(&mut self) {
        for half in [&mut self.own, &mut self.other] {
            let seeds = half.lift_row();
            half.bank(seeds);
        }
    }

    /// Closes the game.
    pub(super) fn close(&mut self, reason: EndReason) {
        self.extra = false;
        self.quiet = 0;
        self.over = true;
        self.reason = Some(reason);
    }
}
