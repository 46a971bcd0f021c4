//! The games again, for those who try out millions of moves: a board is two machine words, and a sowing is one addition
//! from a table.
//!
//! The rules are those of `kalah.rs`, `oware.rs` and `congkak.rs`, which tell them as `docs/rules.md` does; here they are
//! told for the machine, and the tests compare the two, position by position. What is not covered has no packed form
//! and is left to the others: boards of more than seven pits a side, optional extra moves, a swap that can still be made,
//! and matches of several rounds. A packed position counts no plies, and playing it tells no effects.
//!
//! ```
//! use mancala_rules::{kalah, packed::{Game, Kalah, Path}};
//!
//! let opening = kalah::Position::opening(kalah::Preset::Standard.options());
//! let game = Kalah::new(&opening).expect("six pits fit");
//! let start = game.pack(&opening).expect("it is of this game");
//! let path = Path::default();
//! let replies: usize = game.legal_pits(&start).map(|pit| game.legal_pits(&game.play(&start, pit, &path)).len()).sum();
//! assert_eq!(replies, 35);
//! ```

mod congkak;
mod half;
mod kalah;
mod oware;
mod path;
mod sowing;

use super::{Board, BySide, EndReason, Outcome, Pit, Side, ring::Spots};
use half::{Half, PITS_MAX, SEEDS_MAX};
use sowing::OTHER;

pub use congkak::Congkak;
pub use half::Pits;
pub use kalah::Kalah;
pub use oware::Oware;
pub use path::Path;

/// The rules of one game, made ready for its options.
pub trait Game {
    /// The pits of the side to move that may be sown (R4); none when the game is over, and only then.
    fn legal_pits(&self, position: &Position) -> Pits;

    /// The position after sowing one of [`Game::legal_pits`]. Any other pit does not panic, but may lead to a position
    /// that no game has.
    ///
    /// `path` has the positions that came before this one, at least those since the last capture. Only a game with a rule
    /// against repetition looks at it.
    #[must_use]
    fn play(&self, position: &Position, pit: u8, path: &Path) -> Position;
}

/// A position as the side to move sees it. Small, and copied without the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    own: Half,
    other: Half,
    /// Plies since the last capture, where there is a rule against repetition.
    quiet: u32,
    turn: Side,
    /// Whether the side to move is on an extra move.
    extra: bool,
    over: bool,
    reason: Option<EndReason>,
}

impl Position {
    /// The side to move; once the game is over, the side to move when that was noticed (R8).
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

    /// Whether nothing may be played any more.
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

    /// A board with this side to move; `None` if it does not fit.
    fn of(board: &Board, turn: Side) -> Option<Self> {
        let fits = board.pits_per_side() <= PITS_MAX && board.total() <= SEEDS_MAX && board.burnt() == Spots::NONE;
        let (own, other) = (Half::of(board, turn), Half::of(board, !turn));
        fits.then_some(Self { own, other, quiet: 0, turn, extra: false, over: false, reason: None })
    }

    /// Closed if a game has this outcome.
    fn with_outcome(self, outcome: Option<Outcome>) -> Self {
        Self { over: outcome.is_some(), reason: outcome.and_then(|outcome| outcome.reason), ..self }
    }

    /// Seeds at a place of either half.
    #[inline]
    fn at(&self, place: u8) -> u8 {
        if place < OTHER { self.own.at(place) } else { self.other.at(place) }
    }

    /// Takes all seeds of a place of either half.
    #[inline]
    fn lift(&mut self, place: u8) -> u8 {
        if place < OTHER { self.own.lift(place) } else { self.other.lift(place) }
    }

    #[inline]
    fn half(&self, side: Side) -> Half {
        if side == self.turn { self.own } else { self.other }
    }

    /// The same side acts again on an extra move, otherwise the other side does. The halves are chosen and not swapped in
    /// a branch, because the processor cannot foresee which it is.
    #[inline]
    fn go_on(&mut self, extra: bool) {
        let Self { own, other, turn, .. } = *self;
        self.own = if extra { own } else { other };
        self.other = if extra { other } else { own };
        self.turn = if extra { turn } else { !turn };
        self.extra = extra;
    }

    /// The other side acts.
    #[inline]
    fn pass_turn(&mut self) {
        std::mem::swap(&mut self.own, &mut self.other);
        self.turn = !self.turn;
    }

    /// Each row goes to its own store.
    fn sweep(&mut self) {
        for half in [&mut self.own, &mut self.other] {
            let seeds = half.lift_row();
            half.bank(seeds);
        }
    }

    /// Closes the game.
    fn close(&mut self, reason: EndReason) {
        self.extra = false;
        self.quiet = 0;
        self.over = true;
        self.reason = Some(reason);
    }
}
