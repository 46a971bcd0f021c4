//! Playing a move, and its effect on pending offers.

use std::slice;

use mancala_rules::{Move, ParseMoveError};
use time::OffsetDateTime;

use super::{Command, Refusal, facts::Facts};
use crate::{
    Fact, Game, GameResult, Moved, Offer, OfferKind, PLIES_MAX, Ply, PlyAction, Reason, Seat, Status,
    game::{in_microseconds, score_of},
};

impl Game {
    pub(super) fn play(&self, command: &Command<'_>, ply: u32, word: &str, recorded: &[Ply]) -> Result<Facts, Refusal> {
        self.check_seated(command.player)?;
        if is_recorded(command, ply, slice::from_ref(&word), recorded) {
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
        let mv = self.position().read_move(word).map_err(Refusal::NotAMove)?;
        if mv == Move::Agree {
            let rows = self.terms().options.variant().rows_per_side();
            return Err(Refusal::NotAMove(ParseMoveError::of_rows(rows)));
        }
        let mut played = self.moved_to(seat, mv)?;
        let is_over = played.facts.len() > 1;
        if !is_over {
            played.facts.extend(self.offers().iter().filter_map(|offer| dropped_by_move(offer, seat)));
        }
        Ok(played)
    }

    /// Several plies of one turn: each one as if it were sent alone, and all of them or none.
    pub(super) fn play_turn(
        &self,
        command: &Command<'_>,
        ply: u32,
        words: &[String],
        recorded: &[Ply],
        now: OffsetDateTime,
    ) -> Result<Facts, Refusal> {
        self.check_seated(command.player)?;
        if is_recorded(command, ply, words, recorded) {
            return Ok(Facts::default());
        }
        let seat = self.seat_to_move();
        let (mut game, mut facts) = (self.clone(), vec![]);
        for (index, word) in words.iter().enumerate() {
            let version = command.if_version.filter(|_| index == 0);
            let of_turn = |refusal| Refusal::InTurn {
                index,
                position: Box::new(game.position().clone()),
                refusal: Box::new(refusal),
            };
            if index > 0 && game.status() == Status::Active && game.seat_to_move() != seat {
                return Err(of_turn(Refusal::NotYourTurn));
            }
            let number = ply.saturating_add(u32::try_from(index).unwrap_or(u32::MAX));
            let played = game.play(&Command { if_version: version, ..*command }, number, word, &[]);
            let played = played.map_err(|refusal| match refusal {
                Refusal::Illegal(_) | Refusal::NotAMove(_) => of_turn(refusal),
                refusal if index > 0 => of_turn(refusal),
                refusal => refusal,
            })?;
            for event in game.events(played.facts.clone(), in_microseconds(now)) {
                game.apply(&event).expect("the events of a decision follow the game");
            }
            facts.extend(played.facts);
        }
        Ok(facts.into())
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

/// Whether the log has these moves of this player under these numbers: the request is a repetition.
fn is_recorded(command: &Command<'_>, ply: u32, words: &[impl AsRef<str>], recorded: &[Ply]) -> bool {
    let is_same = |(number, word, recorded): (u32, &str, &Ply)| {
        recorded.number == number
            && word.parse().is_ok_and(|mv| recorded.mv == PlyAction::Move(mv))
            && recorded.player == command.player
    };
    let words = words.iter().map(AsRef::as_ref);
    !recorded.is_empty()
        && recorded.len() == words.len()
        && (ply..).zip(words).zip(recorded).all(|((number, word), recorded)| is_same((number, word, recorded)))
}

/// The effect of a move on a pending offer. The other player's offer of a draw, an end or a takeback is declined. The mover's own offer of
/// a takeback is withdrawn.
fn dropped_by_move(&Offer { kind, seat: by, .. }: &Offer, seat: Seat) -> Option<Fact> {
    match kind {
        OfferKind::Draw | OfferKind::End | OfferKind::Takeback if by != seat => {
            Some(Fact::OfferDeclined { seat, kind })
        }
        OfferKind::Takeback => Some(Fact::OfferWithdrawn { seat, kind }),
        OfferKind::Draw | OfferKind::End | OfferKind::Pause | OfferKind::Rematch => None,
    }
}
