//! The common part of positions of both games: board, side to move, plies, and the end. Knows no rule of a game.

use super::{Board, refusals};
use crate::{Effect, EndReason, IllegalMove, Move, Outcome, PITS_MAX, PLIES_MAX, Side, effect::EffectSink};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Frame {
    pub board: Board,
    /// The side to move; once the game is over, that of R31.
    pub turn: Side,
    pub plies: u32,
    pub end: Option<End>,
}

/// How a game has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct End {
    pub winner: Option<Side>,
    pub reason: Option<EndReason>,
}

impl Frame {
    /// The start of a game: South is to move.
    pub const fn opening(board: Board) -> Self {
        Self { board, turn: Side::South, plies: 0, end: None }
    }

    pub fn count_ply(&mut self) {
        self.plies = self.plies.saturating_add(1).min(PLIES_MAX);
    }

    /// Refuses a move that neither game has, and one out of a pit that the side to move does not have.
    pub fn check_form(&self, m: Move) -> Result<(), IllegalMove> {
        match (m, m.pit()) {
            (Move::Pass, _) => Err(IllegalMove::Rule(&refusals::NO_PASS, None)),
            (Move::Swap, _) => Err(IllegalMove::Rule(&refusals::NO_SWAP, None)),
            (_, Some(pit)) if usize::from(pit.index) >= PITS_MAX => Err(IllegalMove::NoSuchPit(pit)),
            (Move::Sow(_) | Move::SowTo { .. } | Move::Place { .. }, Some(pit)) if pit.side != self.turn => {
                Err(IllegalMove::NotYourPit(pit))
            }
            (Move::Decline(_), _) => Err(IllegalMove::WrongForm),
            (Move::Agree, _) => Err(IllegalMove::NoAgree),
            _ => Ok(()),
        }
    }

    pub const fn is_over(&self) -> bool {
        self.end.is_some()
    }

    pub fn outcome(&self) -> Option<Outcome> {
        self.end.map(|End { winner, reason }| Outcome { winner, reason, score: self.board.score() })
    }

    /// Ends the game. Seeds in the hand go to the mover's reserve, and no pit is blocked any more (R31).
    pub fn finish(&mut self, reason: EndReason, winner: Option<Side>, hand: u16, effects: &mut impl EffectSink) {
        if hand > 0 {
            let side = self.turn;
            self.board.set_reserve(side, self.board.reserve(side) + hand);
            effects.record(Effect::Reserve { side, seeds: hand });
        }
        self.board.set_blocked(None);
        self.end = Some(End { winner, reason: Some(reason) });
        effects.record(Effect::GameOver { reason });
    }
}
