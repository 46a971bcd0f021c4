//! The actions of Omweso: arranging, laps, captures, choices and the end (R28 to R31).

use arrayvec::ArrayVec;

use super::{
    Endless, Position, Reverse,
    captures::{captured, captures_downward, is_reverse_pit, lap_captures_downward},
    position::{Choice, Phase},
};
use crate::{
    Direction, Effect, EndReason, PITS_MAX, Pit, Side,
    effect::EffectSink,
    four_row::{pit::CIRCUIT, setup::Captures},
};

/// A sowing in the middle of an action.
struct Sowing {
    /// The pit where this lap began: the next seed falls next to it.
    origin: Pit,
    direction: Direction,
    hand: u16,
    /// Seeds sown since the action began or last captured.
    sown: u32,
    /// The captures of the turn.
    captures: Captures,
}

/// How the seeds of an action come to rest.
#[derive(Clone, Copy)]
enum Rest {
    /// The turn is over.
    Turn,
    /// The seeds in the pit or in the hand may be sown either way.
    Choice(Choice),
    /// The mover has won, with the catch in the hand.
    Won { reason: EndReason, hand: u16 },
    /// The sowing counts as endless (R31).
    Endless,
}

impl Position {
    /// R28: fills the next pit. The last pit gets the rest with the action of the last but one.
    pub(super) fn arrange(&mut self, pit: Pit, seeds: u16, effects: &mut impl EffectSink) {
        let board = &mut self.frame.board;
        board.place(pit, seeds, effects);
        let next = pit.after(1, Direction::Up);
        if usize::from(next.index) + 1 == PITS_MAX {
            let rest = board.reserve(pit.side);
            board.place(next, rest, effects);
        }
        if board.reserve(pit.side) > 0 {
            self.phase = Phase::Arranging(next);
            self.act_again(0, effects);
        } else {
            let next = Pit::at(!pit.side, 0);
            self.phase = if pit.side == Side::South { Phase::Arranging(next) } else { Phase::Sowing };
            if self.phase == Phase::Sowing {
                self.first_turns = self.options.first_turns();
            }
            self.pass_turn(effects);
        }
    }

    /// Plays a sowing of the side to move, and what follows it.
    pub(super) fn sow_out(&mut self, pit: Pit, direction: Direction, effects: &mut impl EffectSink) {
        let rest = self.sow(pit, direction, effects);
        self.rest(rest, effects);
    }

    fn rest(&mut self, rest: Rest, effects: &mut impl EffectSink) {
        let mover = self.frame.turn;
        match rest {
            Rest::Turn => {
                self.first_turns[mover] = false;
                self.pass_turn(effects);
            }
            Rest::Choice(choice) => {
                self.phase = Phase::Choice(choice);
                self.act_again(choice.hand.unwrap_or(0), effects);
            }
            Rest::Won { reason, hand } => self.finish(reason, Some(mover), hand, effects),
            Rest::Endless => {
                let winner = (self.options.endless == Endless::Lose).then_some(!mover);
                self.finish(EndReason::EndlessMove, winner, 0, effects);
            }
        }
    }

    /// Plays a sowing until its seeds have come to rest. Each lap sows a seed or more, and R31 bounds the seeds between
    /// two captures, of which there are at most 64.
    fn sow(&mut self, pit: Pit, direction: Direction, effects: &mut impl EffectSink) -> Rest {
        let mut sowing = self.begin(pit, direction, effects);
        // Only a move that is not legal begins with nothing.
        while sowing.hand > 0 {
            let last = self.frame.board.sow(sowing.origin, sowing.direction, sowing.hand, effects);
            sowing.sown += u32::from(sowing.hand);
            if let Some(rest) = self.end_lap(&mut sowing, last, effects) {
                return rest;
            }
        }
        Rest::Turn
    }

    /// The first seeds of an action, in the hand.
    fn begin(&mut self, pit: Pit, direction: Direction, effects: &mut impl EffectSink) -> Sowing {
        let phase = std::mem::replace(&mut self.phase, Phase::Sowing);
        let (origin, hand, captures) = match phase {
            Phase::Choice(Choice { pit, hand: Some(seeds), captures }) => {
                effects.record(Effect::Resume { pit, seeds });
                (pit, seeds, captures)
            }
            Phase::Choice(Choice { pit, hand: None, captures }) => {
                let seeds = self.frame.board.lift(pit);
                effects.record(Effect::Relay { pit, seeds });
                (pit, seeds, captures)
            }
            Phase::Sowing | Phase::Arranging(_) => {
                let seeds = self.frame.board.lift(pit);
                effects.record(Effect::Lift { pit, seeds });
                (pit, seeds, Captures::default())
            }
        };
        Sowing { origin, direction, hand, sown: 0, captures }
    }

    /// R29, R30: ends a lap after its last seed has fallen. `None` if another lap follows.
    fn end_lap(&mut self, sowing: &mut Sowing, last: Pit, effects: &mut impl EffectSink) -> Option<Rest> {
        if self.frame.board.seeds(last) == 1 {
            return Some(Rest::Turn);
        }
        let may_capture = !self.is_in_first_turn();
        if let Some(pits) = captured(&self.frame.board, last).filter(|_| may_capture) {
            sowing.hand = pits.iter().map(|&pit| self.frame.board.lift(pit)).sum();
            effects.record(Effect::Take { from: ArrayVec::from(pits), seeds: sowing.hand });
            sowing.sown = 0;
            return self.end_by_capture(sowing, last).or_else(|| self.enter(sowing));
        }
        if sowing.sown >= CIRCUIT * u32::from(self.options.circuits) {
            return Some(Rest::Endless);
        }
        let may_reverse = matches!(self.options.reverse, Reverse::Full | Reverse::Any) && is_reverse_pit(last);
        if may_capture && may_reverse && lap_captures_downward(self.frame.board, last) {
            return Some(Rest::Choice(Choice { pit: last, hand: None, captures: sowing.captures }));
        }
        sowing.hand = self.frame.board.lift(last);
        effects.record(Effect::Relay { pit: last, seeds: sowing.hand });
        (sowing.origin, sowing.direction) = (last, Direction::Up);
        None
    }

    /// R31: whether a capture at `last` ends the game. *Akakyala* is checked first.
    fn end_by_capture(&mut self, sowing: &mut Sowing, last: Pit) -> Option<Rest> {
        let (mover, hand, captures) = (self.frame.turn, sowing.hand, &mut sowing.captures);
        if self.options.akakyala {
            if !captures.any && self.captured[mover] && !self.captured[!mover] {
                return Some(Rest::Won { reason: EndReason::Akakyala, hand });
            }
            captures.any = true;
            self.captured[mover] = true;
        }
        if self.options.two_heads {
            captures.at_a |= last.index == 0;
            captures.at_h |= last.index == 7;
            if captures.at_a && captures.at_h {
                return Some(Rest::Won { reason: EndReason::TwoHeads, hand });
            }
        }
        None
    }

    /// R30: a catch is sown from the pit where the lap began, upward unless the mover may choose.
    fn enter(&self, sowing: &mut Sowing) -> Option<Rest> {
        let may_reverse = match self.options.reverse {
            Reverse::None | Reverse::Start => false,
            Reverse::Full => sowing.direction == Direction::Down,
            Reverse::Any => is_reverse_pit(sowing.origin),
        };
        if may_reverse && captures_downward(self.frame.board, sowing.origin, sowing.hand) {
            let Sowing { origin: pit, hand, captures, .. } = *sowing;
            return Some(Rest::Choice(Choice { pit, hand: Some(hand), captures }));
        }
        sowing.direction = Direction::Up;
        None
    }

    /// The same side acts again, unless the game has as many plies as it may have.
    fn act_again(&mut self, hand: u16, effects: &mut impl EffectSink) {
        effects.record(Effect::ExtraTurn);
        if self.is_at_ply_limit() {
            self.finish(EndReason::PlyLimit, None, hand, effects);
        }
    }

    /// R31: the turn of the other side, or the end.
    fn pass_turn(&mut self, effects: &mut impl EffectSink) {
        self.frame.turn = !self.frame.turn;
        if self.phase == Phase::Sowing && !self.has_legal_sowing() {
            let winner = !self.frame.turn;
            self.finish(EndReason::NoMove, Some(winner), 0, effects);
        } else if self.is_at_ply_limit() {
            self.finish(EndReason::PlyLimit, None, 0, effects);
        }
    }
}
