//! Offers: what one player proposes and the other may accept, and what follows then.

use mancala_rules::{AnyPosition, Move};
use time::OffsetDateTime;

use crate::{
    Circumstances, Clock, Command, Fact, Game, GameResult, Moved, NothingToOffer, Opponent, Played, PlayerId, Ply,
    Reason, Refusal, Seat, Status, history::line,
};

/// What can be offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfferKind {
    /// To end the game without a winner.
    Draw,
    /// To end the game where the rules let both agree to (Oware): each takes the own row.
    End,
    /// To undo the last turn of whoever asks, and what was played since.
    Takeback,
    /// To let no time run for now.
    Pause,
    /// To play the same again, with sides exchanged.
    Rematch,
}

impl OfferKind {
    pub const ALL: [OfferKind; 5] =
        [OfferKind::Draw, OfferKind::End, OfferKind::Takeback, OfferKind::Pause, OfferKind::Rematch];

    /// The word for it, in the database and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            OfferKind::Draw => "draw",
            OfferKind::End => "end",
            OfferKind::Takeback => "takeback",
            OfferKind::Pause => "pause",
            OfferKind::Rematch => "rematch",
        }
    }
}

/// An offer that waits for an answer. Of each kind there is one at most: who offers what the other has offered accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    pub kind: OfferKind,
    /// Who made it.
    pub seat: Seat,
    pub at: OffsetDateTime,
    /// Of a takeback: the ply after which the game would go on.
    pub to_ply: Option<u32>,
}

/// What becomes of an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// By the other side.
    Accept,
    /// By the other side.
    Decline,
    /// By whoever made it; of a pause that was accepted, by either.
    Withdraw,
}

impl Game {
    pub(super) fn make_offer(
        &self,
        command: &Command<'_>,
        kind: OfferKind,
        circumstances: &Circumstances<'_>,
    ) -> Result<Vec<Fact>, Refusal> {
        let seat = self.own_seat(command.player)?;
        let pending = self.offer(kind);
        let is_so = kind != OfferKind::Takeback && self.is_agreed(kind, seat.other(), circumstances);
        if is_so || pending.is_some_and(|offer| offer.seat == seat) {
            return Ok(vec![]);
        }
        self.check_version(command)?;
        match kind {
            OfferKind::Rematch if self.status != Status::Finished => return Err(NothingToOffer::NotOver.into()),
            OfferKind::Rematch => {}
            _ => self.check_active()?,
        }
        match pending {
            // Both want to take back something else.
            Some(_) if kind == OfferKind::Takeback => Err(Refusal::OfferPending),
            Some(offer) => self.agree(offer, seat, circumstances),
            None => {
                let to_ply = match kind {
                    OfferKind::Takeback => {
                        Some(self.turn_began(circumstances.plies, seat).ok_or(NothingToOffer::NoTurn)?.0)
                    }
                    OfferKind::Pause if self.terms.clock == Clock::Unlimited => {
                        return Err(NothingToOffer::NoClock.into());
                    }
                    OfferKind::End => {
                        self.position.play(Move::Agree).map_err(|_| NothingToOffer::NoAgreedEnd)?;
                        None
                    }
                    _ => None,
                };
                Ok(vec![Fact::Offered { seat, kind, to_ply }])
            }
        }
    }

    pub(super) fn answer_offer(
        &self,
        command: &Command<'_>,
        kind: OfferKind,
        answer: Answer,
        circumstances: &Circumstances<'_>,
    ) -> Result<Vec<Fact>, Refusal> {
        let seat = self.own_seat(command.player)?;
        let offer = self.offer(kind);
        let is_mine = offer.is_some_and(|offer| offer.seat == seat);
        if answer == Answer::Accept && offer.is_none() && self.is_agreed(kind, seat.other(), circumstances) {
            return Ok(vec![]);
        }
        self.check_version(command)?;
        match (answer, offer) {
            (Answer::Accept, Some(offer)) if !is_mine => self.agree(offer, seat, circumstances),
            (Answer::Decline, Some(_)) if !is_mine => Ok(vec![Fact::OfferDeclined { seat, kind }]),
            (Answer::Withdraw, Some(_)) if is_mine => Ok(vec![Fact::OfferWithdrawn { seat, kind }]),
            (Answer::Withdraw, None) if kind == OfferKind::Pause && self.time.pause.is_some() => {
                Ok(vec![Fact::Resumed { seat }])
            }
            _ => Err(Refusal::NoSuchOffer),
        }
    }

    /// What follows when both want what was offered.
    fn agree(&self, offer: &Offer, seat: Seat, circumstances: &Circumstances<'_>) -> Result<Vec<Fact>, Refusal> {
        match offer.kind {
            OfferKind::Draw => {
                let drawn = GameResult { winner: None, reason: Reason::Agreement, score: self.score() };
                Ok(vec![Fact::Finished(drawn)])
            }
            OfferKind::End => self.moved_to(self.seat_at(self.position.turn()), Move::Agree),
            OfferKind::Takeback => {
                let (to_ply, position) =
                    self.turn_began(circumstances.plies, offer.seat).ok_or(NothingToOffer::NoTurn)?;
                let mv = Played::Takeback { to_ply };
                let mut facts = vec![Fact::Moved(Moved { ply: self.ply + 1, seat: offer.seat, mv, position })];
                // They were about another position.
                facts.extend(self.offers.iter().filter_map(|&Offer { kind, seat, .. }| match kind {
                    OfferKind::Draw | OfferKind::End => Some(Fact::OfferWithdrawn { seat, kind }),
                    _ => None,
                }));
                Ok(facts)
            }
            OfferKind::Pause => Ok(vec![Fact::Paused { seat }]),
            OfferKind::Rematch => Ok(vec![Fact::Rematched { seat, game: circumstances.rematch }]),
        }
    }

    /// Whether what a seat offered was accepted, and nothing has happened since that would let it be offered again.
    fn is_agreed(&self, kind: OfferKind, offered_by: Seat, circumstances: &Circumstances<'_>) -> bool {
        match kind {
            OfferKind::Draw | OfferKind::End => {
                self.result.as_ref().is_some_and(|result| result.reason == Reason::Agreement)
            }
            OfferKind::Takeback => circumstances.plies.last().is_some_and(|last| {
                matches!(last.mv, Played::Takeback { .. }) && self.players[offered_by] == Some(last.player)
            }),
            OfferKind::Pause => self.time.pause.is_some(),
            OfferKind::Rematch => self.rematch.is_some(),
        }
    }

    /// The seat of a player who sits in the game with somebody else.
    fn own_seat(&self, player: PlayerId) -> Result<Seat, Refusal> {
        self.check_seated(player)?;
        // The computer answers nothing.
        if matches!(self.terms.opponent, Opponent::Computer { .. }) {
            return Err(NothingToOffer::Alone.into());
        }
        let mut own = Seat::ALL.into_iter().filter(|seat| self.players[*seat] == Some(player));
        match (own.next(), own.next()) {
            (Some(seat), None) => Ok(seat),
            _ => Err(NothingToOffer::Alone.into()),
        }
    }

    /// The number of the ply before a seat's last turn, and the position after it, by the newest plies of the game. `None` if
    /// the seat has no turn that was not taken back, or if it lies too far back.
    fn turn_began(&self, plies: &[Ply], seat: Seat) -> Option<(u32, AnyPosition)> {
        let line = line(plies);
        let is_own = |ply: &&Ply| self.players[seat] == Some(ply.player);
        let last = line.iter().rposition(is_own)?;
        let before = line[..last].iter().rposition(|ply| !is_own(ply));
        match before.map(|before| line[before]) {
            Some(before) => Some((before.number, before.position.clone())),
            None if plies.first().is_some_and(|first| first.number == 1) => Some((0, self.terms.opening())),
            None => None,
        }
    }
}
