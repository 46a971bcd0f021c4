//! Kalah in packed form. Read it beside `kalah/position.rs`.

use super::{
    Game, Path, Pits, Position,
    half::{OTHER, SEEDS_MAX, STORE},
    sowing::Sowing,
};
use crate::{
    EndReason, Game as _,
    kalah::{self, Capture, CaptureLand, End, ExtraTurn, MajorityRemaining, Options, Remaining, SowStores},
};

/// Kalah by one set of options.
#[derive(Clone, Debug)]
pub struct Kalah {
    options: Options,
    /// All seeds in the game.
    total: u16,
    sowing: Sowing,
    /// A bit for each place where a last seed may capture.
    capture_places: u16,
    /// Where a last seed gives an extra move; `u8::MAX`, which is no place, if nowhere.
    extra_place: u8,
    /// A store with more seeds ends the game; [`SEEDS_MAX`] if there is no such rule.
    majority: u16,
}

impl Kalah {
    /// The game that a position belongs to; `None` if it has no packed form.
    #[must_use]
    pub fn new(position: &kalah::Position) -> Option<Self> {
        let (options, total) = (position.options(), position.board().total());
        let has_choices = options.extra_turn == ExtraTurn::Optional || options.capture == Capture::Optional;
        if Position::of(position.board(), position.turn()).is_none() || has_choices {
            return None;
        }
        let skips_other_store = options.sow_stores == SowStores::Own;
        let row = (1 << options.pits) - 1;
        let capture_places = match (options.capture, options.capture_land) {
            (Capture::None, _) => 0,
            (Capture::Opposite | Capture::Optional, CaptureLand::Own) => row,
            (Capture::Opposite | Capture::Optional, CaptureLand::Opponent) => row << OTHER,
            (Capture::Opposite | Capture::Optional, CaptureLand::Any) => row | row << OTHER,
        };
        Some(Self {
            options,
            total,
            sowing: Sowing::new(options.pits, |_, place| skips_other_store && place == OTHER + STORE),
            capture_places,
            extra_place: if options.extra_turn == ExtraTurn::None { u8::MAX } else { STORE },
            majority: if options.majority_end { total / 2 } else { SEEDS_MAX },
        })
    }

    /// Whether a store with more than half of all seeds ends the game (R8).
    #[must_use]
    pub const fn has_majority_end(&self) -> bool {
        self.options.majority_end
    }

    /// Packs a position of this game; `None` if it belongs to another game or North can still swap.
    #[must_use]
    pub fn pack(&self, position: &kalah::Position) -> Option<Position> {
        let (board, turn) = (position.board(), position.turn());
        if position.options() != self.options || board.total() != self.total || position.has_pie() {
            return None;
        }
        let packed = Position::of(board, turn)?.with_outcome(position.outcome());
        Some(Position { extra: position.is_extra(), ..packed })
    }

    /// R5. A pit that holds one seed after the last drop was empty before it.
    #[inline]
    fn capture(&self, position: &mut Position, last: u8) {
        let Position { own, other, .. } = position;
        let (landed, across) = if last < OTHER { (own, other) } else { (other, own) };
        let facing = self.options.pits - 1 - last % OTHER;
        if landed.at(last) == 1 && (across.at(facing) > 0 || self.options.empty_capture) {
            let seeds = landed.lift(last) + across.lift(facing);
            position.own.bank(seeds);
        }
    }

    /// R8, steps 2 and 3.
    #[inline]
    fn end_of_sowing(&self, &Position { own, other, .. }: &Position) -> Option<EndReason> {
        if u16::from(own.store().max(other.store())) > self.majority {
            Some(EndReason::Majority)
        } else if self.options.end == End::SideEmpty && (own.row_is_empty() || other.row_is_empty()) {
            Some(EndReason::SideEmpty)
        } else {
            None
        }
    }

    /// R8: moves the seeds left in pits to the stores that the options name, and closes the game.
    #[cold]
    fn finish(&self, mut position: Position, reason: EndReason) -> Position {
        let stays = match reason {
            EndReason::Majority => self.options.majority_remaining == MajorityRemaining::Leave,
            _ => self.options.remaining == Remaining::Discard,
        };
        if reason != EndReason::Majority && self.options.remaining == Remaining::Emptier {
            let Position { own, other, .. } = &mut position;
            let (emptier, owner) = if own.row_is_empty() { (own, other) } else { (other, own) };
            emptier.bank(owner.lift_row());
        } else if !stays {
            position.sweep();
        }
        position.close(reason);
        position
    }
}

impl Game for Kalah {
    #[inline]
    fn legal_pits(&self, position: &Position) -> Pits {
        if position.over { Pits::NONE } else { position.own.filled_pits() }
    }

    /// R3, R5, R7, R8, in this order.
    #[expect(clippy::inline_always, reason = "the call would cost a fifth of the time")]
    #[inline(always)]
    fn play(&self, position: &Position, pit: u8, _: &Path) -> Position {
        let mut next = *position;
        let last = self.sowing.sow(&mut next, pit);
        if self.capture_places >> last & 1 == 1 {
            self.capture(&mut next, last);
        }
        if let Some(reason) = self.end_of_sowing(&next) {
            return self.finish(next, reason);
        }
        next.go_on(last == self.extra_place);
        if next.own.row_is_empty() { self.finish(next, EndReason::NoMove) } else { next }
    }

    /// The nearest pit whose number of seeds equals its distance to the store. Pits that sow whole laps are left out.
    #[inline]
    fn extra_pit(&self, position: &Position) -> Option<u8> {
        if position.over || self.extra_place != STORE {
            return None;
        }
        (0..self.options.pits).rev().find(|&pit| position.own.at(pit) == self.options.pits - pit)
    }
}
