//! The actions of Bao: laps, captures, the house, takasia and the end (R24 to R27, R31).

use arrayvec::ArrayVec;

use super::{
    Position, Takasia,
    captures::{facing_seeds, first_capture, forced_direction, is_house, is_working_house, pit_to_block},
};
use crate::{Direction, Effect, EndReason, Move, Pit, Side, effect::EffectSink, four_row::pit::CIRCUIT};

/// Seeds that are taken from a working house and sown (R24).
const TAX: u16 = 2;

/// A sowing in the middle of an action.
struct Sowing {
    /// The pit next to which the next seed falls.
    from: Pit,
    direction: Direction,
    hand: u16,
    /// The turn captures; otherwise it is a takata.
    captures: bool,
    first_stage: bool,
    /// Seeds sown since the action began or last captured.
    sown: u32,
    /// This lap continues from the blocked pit (R27).
    passes_block: bool,
}

/// How the seeds of an action come to rest.
pub(super) enum Rest {
    /// The turn is over; after a takata of the second stage a pit may be blocked.
    Turn { may_block: bool },
    /// The lap in this direction has ended in the working house.
    Choice(Direction),
    /// The other front row is empty, with the catch in the hand.
    Won { hand: u16 },
    /// The sowing counts as endless (R31).
    Endless,
}

impl Position {
    /// R31: whether a move counts as endless.
    pub(super) fn sows_endlessly(&self, m: Move) -> bool {
        let mut after = *self;
        matches!(after.sow(m, &mut ()), Rest::Endless)
    }

    /// Plays a move until its seeds have come to rest. Each lap sows a seed or more, and R31 bounds the seeds between
    /// two captures, of which there are at most 64.
    pub(super) fn sow(&mut self, m: Move, effects: &mut impl EffectSink) -> Rest {
        let turn_over = Rest::Turn { may_block: false };
        let going_on = self.choice.take().is_some();
        let mut sowing = match m {
            Move::Pass => {
                effects.record(Effect::Pass);
                return turn_over;
            }
            Move::SowTo { pit, direction } if pit.side == self.frame.turn => {
                self.begin(pit, direction, going_on, effects)
            }
            _ => return turn_over,
        };
        loop {
            // Only a capture empties a front row, and only a move that is not legal begins with nothing.
            if self.frame.board.front_is_empty(!self.frame.turn) {
                return Rest::Won { hand: sowing.hand };
            }
            if sowing.hand == 0 {
                return turn_over;
            }
            let last = self.frame.board.sow(sowing.from, sowing.direction, sowing.hand, effects);
            sowing.sown += u32::from(sowing.hand);
            if let Some(rest) = self.end_lap(&mut sowing, last, effects) {
                return rest;
            }
        }
    }

    /// The first seeds of an action, taken up into the hand.
    fn begin(&mut self, pit: Pit, direction: Direction, going_on: bool, effects: &mut impl EffectSink) -> Sowing {
        let first_stage = self.is_first_stage();
        let board = &self.frame.board;
        let works = is_working_house(board, pit);
        let mut sowing =
            Sowing { from: pit, direction, hand: 0, captures: true, first_stage, sown: 0, passes_block: false };
        if going_on {
            sowing.hand = self.lift(pit, effects, |pit, seeds| Effect::Relay { pit, seeds });
        } else if first_stage {
            sowing.captures = facing_seeds(board, pit).is_some();
            self.frame.board.place(pit, 1, effects);
            if sowing.captures {
                self.capture(&mut sowing, pit, effects);
            } else if works {
                sowing.hand = TAX;
                let left = self.frame.board.lift(pit) - TAX;
                self.frame.board.drop(pit, left);
                effects.record(Effect::Tax { pit, seeds: TAX });
            } else {
                sowing.hand = self.lift(pit, effects, |pit, seeds| Effect::Lift { pit, seeds });
            }
        } else {
            sowing.captures = first_capture(board, pit, direction).is_some();
            sowing.passes_block = works && self.options.takasia_house_lap;
            sowing.hand = self.lift(pit, effects, |pit, seeds| Effect::Lift { pit, seeds });
        }
        sowing
    }

    /// R25: ends a lap after its last seed has fallen. `None` if another lap follows.
    fn end_lap(&mut self, sowing: &mut Sowing, last: Pit, effects: &mut impl EffectSink) -> Option<Rest> {
        let board = &self.frame.board;
        let turn_over = Rest::Turn { may_block: !sowing.captures && !sowing.first_stage };
        if board.seeds(last) == 1 {
            return Some(turn_over);
        }
        if sowing.captures && facing_seeds(board, last).is_some() {
            self.capture(sowing, last, effects);
            return None;
        }
        if sowing.first_stage && is_working_house(board, last) {
            return Some(if sowing.captures { Rest::Choice(sowing.direction) } else { turn_over });
        }
        if !sowing.captures && board.blocked() == Some(last) && !sowing.passes_block {
            return Some(turn_over);
        }
        if sowing.sown >= CIRCUIT * u32::from(self.options.circuits) {
            return Some(Rest::Endless);
        }
        sowing.hand = self.lift(last, effects, |pit, seeds| Effect::Relay { pit, seeds });
        (sowing.from, sowing.passes_block) = (last, false);
        None
    }

    /// R25: captures the pit facing `at`; the catch is in the hand, to be sown from a kichwa.
    fn capture(&mut self, sowing: &mut Sowing, at: Pit, effects: &mut impl EffectSink) {
        let Some(from) = at.facing() else { return };
        let is_lost = is_house(&self.frame.board, from);
        sowing.hand = self.frame.board.lift(from);
        effects.record(Effect::Take { from: ArrayVec::from_iter([from]), seeds: sowing.hand });
        if is_lost {
            self.lose_house(from.side, effects);
        }
        if self.options.harvest_ends_house && !sowing.first_stage && self.frame.board.owns_house(at.side) {
            self.lose_house(at.side, effects);
        }
        sowing.direction = forced_direction(at).unwrap_or(sowing.direction);
        sowing.from = match sowing.direction {
            // The first seed falls in the kichwa itself: A, or H.
            Direction::Up => Position::kichwa(at.side, Direction::Up).after(1, Direction::Down),
            Direction::Down => Position::kichwa(at.side, Direction::Down).after(1, Direction::Up),
        };
        (sowing.sown, sowing.passes_block) = (0, false);
    }

    /// Takes up all seeds of a pit. A house that is lifted is lost.
    fn lift<S: EffectSink>(&mut self, pit: Pit, effects: &mut S, effect: impl FnOnce(Pit, u16) -> Effect) -> u16 {
        let is_lost = is_house(&self.frame.board, pit);
        let seeds = self.frame.board.lift(pit);
        effects.record(effect(pit, seeds));
        if is_lost {
            self.lose_house(pit.side, effects);
        }
        seeds
    }

    fn lose_house(&mut self, side: Side, effects: &mut impl EffectSink) {
        self.frame.board.set_house(side, false);
        effects.record(Effect::HouseLost { side });
    }

    /// R27, R31: the marks of takasia, then the turn of the other side or the end.
    pub(super) fn pass_turn(&mut self, may_block: bool, effects: &mut impl EffectSink) {
        self.mark(may_block, effects);
        self.frame.turn = !self.frame.turn;
        if !self.has_legal_move() {
            let winner = !self.frame.turn;
            self.frame.finish(EndReason::NoMove, Some(winner), 0, effects);
        } else if self.is_at_ply_limit() {
            self.frame.finish(EndReason::PlyLimit, None, 0, effects);
        }
    }

    /// R27: a mark goes, and a new one may come.
    fn mark(&mut self, may_block: bool, effects: &mut impl EffectSink) {
        let (mover, takasia) = (self.frame.turn, self.options.takasia);
        let board = &mut self.frame.board;
        let before = board.blocked();
        let may_block = may_block && takasia != Takasia::Off && Side::ALL.iter().all(|&side| board.reserve(side) == 0);
        let new = if may_block { pit_to_block(board, &self.options, mover) } else { None };
        if let Some(pit) = before {
            // With `take`, the mark stays for the next turn of the side that has made it.
            let stays = takasia == Takasia::Take && pit.side == mover && board.seeds(pit) > 0;
            if stays && new.is_none() {
                return;
            }
            effects.record(Effect::Unblock { pit });
        }
        board.set_blocked(new);
        if let Some(pit) = new {
            effects.record(Effect::Block { pit });
        }
    }
}
