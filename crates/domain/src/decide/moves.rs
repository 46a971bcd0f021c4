//! Playing a move, and what it does to pending offers.

use mancala_rules::Move;

use super::{Command, Context, Refusal, facts::Facts};
use crate::{Fact, Game, GameResult, Moved, Offer, OfferKind, PLIES_MAX, PlyAction, Reason, Seat, game::score_of};

impl Game {
    pub(super) fn play(
        &self,
        command: &Command<'_>,
        ply: u32,
        word: &str,
        context: &Context<'_>,
    ) -> Result<Facts, Refusal> {
        self.check_seated(command.player)?;
        let mv = word.parse::<Move>();
        if let (Some(recorded), Ok(mv)) = (context.recorded, mv)
            && recorded.number == ply
            && recorded.mv == PlyAction::Move(mv)
            && recorded.player == command.player
        {
            return Ok(Facts::default());
        }
        self.check_version(command)?;
        self.check_active()?;
        let next = self.ply() + 1;
        if ply != next {
            return Err(Refusal::StalePly { next });
        }
        let seat = self.seat_at(self.position().turn());
        if self.players()[seat] != Some(command.player) {
            return Err(Refusal::NotYourTurn);
        }
        // An agreed end takes both players; a ply that one of them sends is no agreement.
        let mv = mv.ok().filter(|&mv| mv != Move::Agree).ok_or(Refusal::NotAMove)?;
        let mut played = self.moved_to(seat, mv)?;
        let is_over = played.facts.len() > 1;
        if !is_over {
            played.facts.extend(self.offers().iter().filter_map(|offer| dropped_by_move(offer, seat)));
        }
        Ok(played)
    }

    /// A move by the rules, and the end of the game if it leads there. The last possible ply ends it with a draw.
    pub(super) fn moved_to(&self, seat: Seat, mv: Move) -> Result<Facts, Refusal> {
        let (position, effects) = self.position().play(mv)?;
        let outcome = position.outcome();
        let (ply, score) = (self.ply() + 1, score_of(&position));
        let mut facts = vec![Fact::Moved(Moved { ply, seat, mv: PlyAction::Move(mv), position })];
        // A position that play leads to and that is over says why.
        if let Some(outcome) = outcome
            && let Some(reason) = outcome.reason
        {
            let result = GameResult { winner: outcome.winner, reason: reason.into(), score: outcome.score };
            facts.push(Fact::Finished(result));
        } else if ply >= PLIES_MAX {
            facts.push(Fact::Finished(GameResult { winner: None, reason: Reason::PlyLimit, score }));
        }
        Ok(Facts { facts, effects })
    }
}

/// What a move does to a pending offer. A move declines the other player's offer to end the game, and changes what
/// could be taken back.
fn dropped_by_move(&Offer { kind, seat: by, .. }: &Offer, seat: Seat) -> Option<Fact> {
    match kind {
        OfferKind::Draw | OfferKind::End | OfferKind::Takeback if by != seat => {
            Some(Fact::OfferDeclined { seat, kind })
        }
        OfferKind::Takeback => Some(Fact::OfferWithdrawn { seat, kind }),
        OfferKind::Draw | OfferKind::End | OfferKind::Pause | OfferKind::Rematch => None,
    }
}
