//! Oware in packed form. Read it beside `oware/position.rs`.

use super::{
    Game, Path, Pits, Position,
    half::{Half, OTHER, SEEDS_MAX, STORE},
    sowing::Sowing,
};
use crate::{
    EndReason, Game as _, History,
    oware::{self, GrandSlam, MajorityRemaining, Options, RepetitionAward},
};

/// Oware by one set of options.
#[derive(Clone, Debug)]
pub struct Oware {
    options: Options,
    /// All seeds in the game.
    total: u16,
    sowing: Sowing,
    /// A store with more seeds ends the game; [`SEEDS_MAX`] if there is no such rule.
    majority: u16,
}

impl Oware {
    /// The game that a position belongs to; `None` if it has no packed form.
    #[must_use]
    pub fn new(position: &oware::Position) -> Option<Self> {
        let (options, total) = (position.options(), position.board().total());
        Position::of(position.board(), position.turn())?;
        Some(Self {
            options,
            total,
            sowing: Sowing::new(options.pits, |origin, place| place % OTHER == STORE || place == origin),
            majority: if options.majority_end { total / 2 } else { SEEDS_MAX },
        })
    }

    /// Packs a position of this game and its history as a path; `None` if it belongs to another game.
    #[must_use]
    pub fn pack(&self, position: &oware::Position, history: &History) -> Option<(Position, Path)> {
        let board = position.board();
        if position.options() != self.options || board.total() != self.total {
            return None;
        }
        let mut path = Path::default();
        for (board, turn) in history.iter() {
            path.push(&Position::of(board, turn)?);
        }
        let packed = Position::of(board, position.turn())?.with_outcome(position.outcome());
        let quiet = u32::try_from(history.len()).unwrap_or(u32::MAX);
        Some((Position { quiet, ..packed }, path))
    }

    /// A store with more seeds ends the game (R8); `None` if there is no such rule.
    #[must_use]
    pub fn majority(&self) -> Option<u8> {
        if self.options.majority_end { u8::try_from(self.majority).ok() } else { None }
    }

    /// Whether a repetition gives each side half of the seeds left in pits, and not its own row (R8).
    #[must_use]
    pub fn splits_repetitions(&self) -> bool {
        self.options.repetition_award == RepetitionAward::Split
    }

    /// R4: whether some of the pits that hold seeds may be forbidden. A grand slam takes at most three seeds from a
    /// pit.
    #[inline]
    fn forbids_some(&self, position: &Position) -> bool {
        let bars_slams = matches!(self.options.grand_slam, GrandSlam::Illegal | GrandSlam::Avoid);
        self.must_feed(position) || bars_slams && position.other.row_total() <= 3 * self.options.pits
    }

    /// R4: whether a pit that holds seeds may not be sown.
    fn is_forbidden(&self, position: &Position, pit: u8) -> bool {
        let is_slam = |pit| {
            let mut after = *position;
            let last = self.sowing.sow(&mut after, pit);
            is_slam(&after, chain(&after, last))
        };
        let starves = |pit| {
            let mut after = *position;
            let last = self.sowing.sow(&mut after, pit);
            self.capture(&mut after, last);
            after.other.row_is_empty()
        };
        let slam_barred = match self.options.grand_slam {
            GrandSlam::Illegal => is_slam(pit),
            GrandSlam::Avoid => is_slam(pit) && !position.own.filled_pits().all(is_slam),
            _ => false,
        };
        slam_barred || self.must_feed(position) && starves(pit)
    }

    #[inline]
    fn must_feed(&self, position: &Position) -> bool {
        self.options.must_feed && position.other.row_is_empty()
    }

    /// R6: captures the chain, as far as the rule on grand slams allows. Returns whether it was a grand slam.
    #[inline]
    fn capture(&self, position: &mut Position, last: u8) -> bool {
        let mut chain = chain(position, last);
        if chain.row_is_empty() {
            return false;
        }
        let is_slam = is_slam(position, chain);
        if is_slam {
            match self.options.grand_slam {
                GrandSlam::Capture | GrandSlam::Avoid | GrandSlam::ForfeitRest => {}
                GrandSlam::NoCapture | GrandSlam::Illegal => chain = Half::default(),
                GrandSlam::LeaveLanding => _ = chain.lift(last),
                GrandSlam::LeaveFirst => _ = chain.lift(0),
            }
        }
        position.other -= chain;
        position.own.bank(chain.row_total());
        is_slam
    }

    /// R8, steps 4 and 5: why the game is over before the side to act chooses; `None` if it goes on.
    #[expect(clippy::inline_always, reason = "the call would cost a twenty-fifth of the time of a search")]
    #[inline(always)]
    fn end_of_choice(&self, position: &Position, path: &Path) -> Option<EndReason> {
        let mut filled = position.own.filled_pits();
        if filled.is_empty() {
            Some(EndReason::NoMove)
        } else if self.forbids_some(position) && filled.all(|pit| self.is_forbidden(position, pit)) {
            Some(if self.must_feed(position) { EndReason::NoFeedingMove } else { EndReason::NoMove })
        } else if path.count(position) + 1 >= usize::from(self.options.repetition) {
            Some(EndReason::Repetition)
        } else {
            None
        }
    }

    /// R8: moves the seeds left in pits to the stores that the options name, and closes the game.
    #[cold]
    fn finish(&self, mut position: Position, reason: EndReason) -> Position {
        let Position { own, other, .. } = &mut position;
        match reason {
            EndReason::Majority if self.options.majority_remaining == MajorityRemaining::Leave => {}
            EndReason::GrandSlamForfeit => {
                let seeds = own.lift_row() + other.lift_row();
                other.bank(seeds);
            }
            // An odd seed stays with the side that moved last.
            EndReason::Repetition if self.options.repetition_award == RepetitionAward::Split => {
                let seeds = own.lift_row() + other.lift_row();
                own.bank(seeds / 2);
                other.bank(seeds / 2);
                other.drop(0, seeds % 2);
            }
            _ => position.sweep(),
        }
        position.close(reason);
        position
    }
}

impl Game for Oware {
    #[inline]
    fn legal_pits(&self, position: &Position) -> Pits {
        let filled = position.own.filled_pits();
        if position.over {
            Pits::NONE
        } else if self.forbids_some(position) {
            filled.keep(|pit| !self.is_forbidden(position, pit))
        } else {
            filled
        }
    }

    /// R3, R6, R8, in this order.
    #[expect(clippy::inline_always, reason = "the call would cost a fifth of the time")]
    #[inline(always)]
    fn play(&self, position: &Position, pit: u8, path: &Path) -> Position {
        let mut next = *position;
        let last = self.sowing.sow(&mut next, pit);
        let is_slam = self.capture(&mut next, last);
        if is_slam && self.options.grand_slam == GrandSlam::ForfeitRest {
            return self.finish(next, EndReason::GrandSlamForfeit);
        }
        let store = next.own.store();
        next.quiet = if store == position.own.store() { position.quiet.saturating_add(1) } else { 0 };
        if u16::from(store.max(next.other.store())) > self.majority {
            return self.finish(next, EndReason::Majority);
        }
        next.pass_turn();
        match self.end_of_choice(&next, path) {
            Some(reason) => self.finish(next, reason),
            None => next,
        }
    }
}

/// R6: the seeds of the pits back from the last seed, as long as these are on the other row and hold two or three.
#[inline]
fn chain(position: &Position, last: u8) -> Half {
    if last < OTHER { Half::default() } else { position.other.twos_and_threes_back_from(last - OTHER) }
}

/// Whether a chain holds every seed of the other row; `false` for an empty chain.
#[inline]
fn is_slam(position: &Position, chain: Half) -> bool {
    !chain.row_is_empty() && chain == position.other.row()
}
