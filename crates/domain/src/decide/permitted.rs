//! The actions that a player may take in a game now. Each is found by a decision that is not executed.

use std::iter;

use time::OffsetDateTime;
use uuid::Uuid;

use super::{Action, Command, JoinContext, OfferContext, RematchContext, RematchOpponent, Subject, TakebackContext};
use crate::{Game, GameId, OfferAnswer, OfferKind, PlayerId, Seat, Status, seat::seat_to_move};

/// Something that a player may do with a game now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permitted {
    /// Take the free seat, without a join code.
    Join,
    /// Decline the invitation.
    Decline,
    /// Renew the join code.
    RenewCode,
    /// Play one of the legal moves.
    Move,
    /// Get a hint.
    Hint,
    /// Resign the game.
    Resign,
    /// End the game without a result.
    Abort,
    /// Make an offer.
    Offer(OfferKind),
    /// Accept, decline or withdraw an offer. An accepted pause is withdrawn, too.
    Answer(OfferKind, OfferAnswer),
}

/// All of them but offers, in the order in which they are listed.
const BESIDE_OFFERS: [Permitted; 7] = [
    Permitted::Join,
    Permitted::Decline,
    Permitted::RenewCode,
    Permitted::Move,
    Permitted::Hint,
    Permitted::Resign,
    Permitted::Abort,
];

impl Permitted {
    /// The word for it on the wire.
    pub const fn as_str(self) -> &'static str {
        use OfferAnswer::{Accept, Decline, Withdraw};
        use OfferKind::{Draw, End, Pause, Rematch, Takeback};
        match self {
            Permitted::Join => "join",
            Permitted::Decline => "decline",
            Permitted::RenewCode => "renew_join_code",
            Permitted::Move => "move",
            Permitted::Hint => "hint",
            Permitted::Resign => "resign",
            Permitted::Abort => "abort",
            Permitted::Offer(Draw) => "offer_draw",
            Permitted::Offer(End) => "offer_end",
            Permitted::Offer(Takeback) => "offer_takeback",
            Permitted::Offer(Pause) => "offer_pause",
            Permitted::Offer(Rematch) => "offer_rematch",
            Permitted::Answer(Draw, Accept) => "accept_draw",
            Permitted::Answer(Draw, Decline) => "decline_draw",
            Permitted::Answer(Draw, Withdraw) => "withdraw_draw",
            Permitted::Answer(End, Accept) => "accept_end",
            Permitted::Answer(End, Decline) => "decline_end",
            Permitted::Answer(End, Withdraw) => "withdraw_end",
            Permitted::Answer(Takeback, Accept) => "accept_takeback",
            Permitted::Answer(Takeback, Decline) => "decline_takeback",
            Permitted::Answer(Takeback, Withdraw) => "withdraw_takeback",
            Permitted::Answer(Pause, Accept) => "accept_pause",
            Permitted::Answer(Pause, Decline) => "decline_pause",
            Permitted::Answer(Pause, Withdraw) => "withdraw_pause",
            Permitted::Answer(Rematch, Accept) => "accept_rematch",
            Permitted::Answer(Rematch, Decline) => "decline_rematch",
            Permitted::Answer(Rematch, Withdraw) => "withdraw_rematch",
        }
    }
}

impl Game {
    /// The actions that a player may take at a moment. Limits on the number of games are ignored, because they depend on other games.
    pub fn permitted(&self, player: PlayerId, is_opponent_erased: bool, now: OffsetDateTime) -> Vec<Permitted> {
        if self.status() == Status::Aborted {
            return vec![];
        }
        let has_opponent = self.sits_at_one_side(player) && self.status() != Status::Open;
        let offers = OfferKind::ALL.into_iter().filter(|_| has_opponent).flat_map(|kind| {
            let answers = OfferAnswer::ALL.map(|answer| Permitted::Answer(kind, answer));
            iter::once(Permitted::Offer(kind)).chain(answers)
        });
        let all = BESIDE_OFFERS.into_iter().chain(offers);
        all.filter(|permitted| self.permits(*permitted, player, is_opponent_erased, now)).collect()
    }

    fn permits(&self, permitted: Permitted, player: PlayerId, is_erased: bool, now: OffsetDateTime) -> bool {
        let (running_games, is_blocked) = (0, false);
        let subject = |kind| match kind {
            OfferKind::Draw => Subject::Draw,
            OfferKind::End => Subject::End,
            OfferKind::Pause => Subject::Pause,
            OfferKind::Takeback => Subject::Takeback(TakebackContext { newest_plies: &[], log: &[] }),
            OfferKind::Rematch => Subject::Rematch(RematchContext {
                new_game_id: || GameId(Uuid::nil()),
                running_games,
                opponent: RematchOpponent::Person { is_erased, is_blocked },
            }),
        };
        let action = match permitted {
            Permitted::Move => return self.turn().is_some_and(|side| self.player_at(side) == Some(player)),
            Permitted::Hint => return self.check_hint(player).is_ok(),
            // Decided by the newest plies, which are not read for this.
            Permitted::Offer(OfferKind::Takeback) => return self.has_turn_to_take_back(player),
            Permitted::Answer(kind @ OfferKind::Takeback, OfferAnswer::Accept) => {
                return self.offer(kind).is_some_and(|offer| self.players()[offer.seat] != Some(player));
            }
            // To offer the same would accept the other player's offer.
            Permitted::Offer(kind) if self.offer(kind).is_some() => return false,
            Permitted::Answer(kind, answer) if self.offer(kind).is_none() => {
                let is_agreed = self.time().pause.is_some_and(|pause| !pause.is_held);
                return (kind, answer) == (OfferKind::Pause, OfferAnswer::Withdraw) && is_agreed;
            }
            Permitted::Join => Action::Join { join_code: None, context: JoinContext { running_games, is_blocked } },
            Permitted::Decline => Action::Decline,
            Permitted::RenewCode => Action::RenewCode { join_code: "" },
            Permitted::Resign => Action::Resign,
            Permitted::Abort => Action::Abort,
            Permitted::Offer(kind) => {
                Action::Offer { subject: subject(kind), context: OfferContext { offers_made: 0, is_blocked } }
            }
            Permitted::Answer(kind, OfferAnswer::Accept) => Action::Accept(subject(kind)),
            Permitted::Answer(kind, OfferAnswer::Decline) => Action::DeclineOffer(kind),
            Permitted::Answer(kind, OfferAnswer::Withdraw) => Action::Withdraw { kind, has_suspended_player: false },
        };
        let command = Command { player, if_version: None, action };
        self.decide(&command, now).is_ok_and(|decision| !decision.events.is_empty())
    }

    /// Whether a player has a turn that stands. The position counts the plies that stand: one for a turn of the opener,
    /// and one more for a turn of the opponent. It does not tell whether the opponent has one, if that player's first
    /// turn was taken back and the opener's has several plies. The answer is then `true`.
    fn has_turn_to_take_back(&self, player: PlayerId) -> bool {
        let own = |seat: &Seat| self.players()[*seat] == Some(player) && self.moved()[*seat];
        let Some(seat) = Seat::ALL.into_iter().find(own) else { return false };
        let opening = self.terms().opening();
        let plies_min = if seat == seat_to_move(&opening) { 1 } else { 2 };
        self.status() == Status::Active
            && self.position().plies() >= opening.plies() + plies_min
            && self.offer(OfferKind::Takeback).is_none()
            && !self.is_log_full()
    }
}
