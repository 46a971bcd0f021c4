//! A round of Congkak in packed form. Read it beside `congkak/position.rs`.

use super::{
    Game, Path, Pits, Position,
    half::{OTHER, STORE},
    sowing::Sowing,
};
use crate::{
    EndReason, Game as _,
    congkak::{self, Options, Rounds},
};

/// Congkak of a single round by one set of options.
#[derive(Clone, Debug)]
pub struct Congkak {
    options: Options,
    /// All seeds in the game.
    total: u16,
    sowing: Sowing,
}

impl Congkak {
    /// The game that a position belongs to; `None` if it has no packed form.
    #[must_use]
    pub fn new(position: &congkak::Position) -> Option<Self> {
        let (options, board) = (position.options(), position.board());
        Position::of(board, position.turn()).filter(|_| options.rounds == Rounds::Single)?;
        let sowing = Sowing::new(options.pits, |_, place| place == OTHER + STORE);
        Some(Self { options, total: board.total(), sowing })
    }

    /// Packs a position of this game; `None` if it belongs to another game, or both sides still choose what to sow at once.
    #[must_use]
    pub fn pack(&self, position: &congkak::Position) -> Option<Position> {
        let board = position.board();
        if position.options() != self.options || board.total() != self.total || position.lockstep().is_some() {
            return None;
        }
        let packed = Position::of(board, position.turn())?.with_outcome(position.outcome());
        Some(Position { extra: position.is_extra(), ..packed })
    }

    /// R5. A pit that holds one seed after the last drop was empty before it.
    #[inline]
    fn capture(&self, position: &mut Position, last: u8) {
        if position.own.at(last) != 1 {
            return;
        }
        let facing = self.options.pits - 1 - last;
        if position.other.at(facing) == 0 && !self.options.empty_capture {
            return;
        }
        let own_seed = if self.options.take_own_seed { position.own.lift(last) } else { 0 };
        let seeds = own_seed + position.other.lift(facing);
        position.own.bank(seeds);
    }

    /// R8: each row goes to its owner's store.
    #[cold]
    fn finish(mut position: Position) -> Position {
        position.sweep();
        position.close(EndReason::SideEmpty);
        position
    }
}

impl Game for Congkak {
    #[inline]
    fn legal_pits(&self, position: &Position) -> Pits {
        if position.over { Pits::NONE } else { position.own.filled_pits() }
    }

    /// R3, R5, R7, R8, in this order. The loop ends as that of `sow_in_laps` in `sowing.rs` does.
    #[expect(clippy::inline_always, reason = "the call would cost a fifth of the time")]
    #[inline(always)]
    fn play(&self, position: &Position, pit: u8, _: &Path) -> Position {
        let mut next = *position;
        let mut last = self.sowing.sow(&mut next, pit);
        while last != STORE && next.at(last) > 1 {
            last = self.sowing.sow(&mut next, last);
        }
        let reached_other_row = next.own.store() > position.own.store();
        if last < STORE && (reached_other_row || !self.options.capture_needs_lap) {
            self.capture(&mut next, last);
        }
        if next.own.row_is_empty() || next.other.row_is_empty() {
            return Self::finish(next);
        }
        next.go_on(last == STORE);
        next
    }
}
