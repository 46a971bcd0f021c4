//! Offers: making and answering one, and what an agreement leads to.

use mancala_rules::{AnyPosition, Move};
use time::Duration;

use super::{Command, Context, NothingToOffer, OFFERS_MAX, Refusal, facts::Facts};
use crate::{
    Clock, Fact, Game, GameResult, Moved, Offer, OfferAnswer, OfferKind, Opponent, PLIES_MAX, Pause, PlayerId, Ply,
    PlyAction, RUNNING_GAMES_MAX, Reason, Seat, Status,
    game::{EVENTS_MAX, Increments, in_microseconds, standing_plies},
};

impl Game {
    pub(super) fn make_offer(
        &self,
        command: &Command<'_>,
        kind: OfferKind,
        context: &Context<'_>,
    ) -> Result<Facts, Refusal> {
        let seat = self.own_seat(command.player, kind)?;
        if kind == OfferKind::Rematch {
            self.check_rematch(context)?;
        }
        let pending = self.offer(kind);
        let is_done = kind != OfferKind::Takeback && self.is_agreed(kind, seat.other(), context);
        if is_done || pending.is_some_and(|offer| offer.seat == seat) {
            return Ok(Facts::default());
        }
        self.check_version(command)?;
        match kind {
            OfferKind::Rematch if self.status() != Status::Finished => return Err(NothingToOffer::NotOver.into()),
            OfferKind::Rematch => {}
            _ => self.check_active()?,
        }
        match pending {
            // The other player wants to take back another turn.
            Some(_) if kind == OfferKind::Takeback => Err(Refusal::OfferPending),
            Some(offer) => self.agree(offer, seat, context),
            None if self.is_log_full() => Err(NothingToOffer::LogFull.into()),
            None if context.is_blocked => Err(NothingToOffer::NotTaken.into()),
            None => {
                let to_ply = self.check_offer(kind, seat, context)?;
                if context.offers_made >= OFFERS_MAX {
                    return Err(NothingToOffer::Often.into());
                }
                if self.is_practice() {
                    // The computer agrees at once.
                    return self.agree(&Offer { kind, seat, at: context.now, to_ply }, seat.other(), context);
                }
                Ok(vec![Fact::Offered { seat, kind, to_ply }].into())
            }
        }
    }

    pub(super) fn answer_offer(
        &self,
        command: &Command<'_>,
        kind: OfferKind,
        answer: OfferAnswer,
        context: &Context<'_>,
    ) -> Result<Facts, Refusal> {
        let seat = self.own_seat(command.player, kind)?;
        if (kind, answer) == (OfferKind::Rematch, OfferAnswer::Accept) {
            self.check_rematch(context)?;
        }
        let offer = self.offer(kind);
        let is_own = offer.is_some_and(|offer| offer.seat == seat);
        if answer == OfferAnswer::Accept && offer.is_none() && self.is_agreed(kind, seat.other(), context) {
            return Ok(Facts::default());
        }
        self.check_version(command)?;
        match (answer, offer) {
            (OfferAnswer::Accept, Some(offer)) if !is_own => self.agree(offer, seat, context),
            (OfferAnswer::Decline, Some(_)) if !is_own => Ok(vec![Fact::OfferDeclined { seat, kind }].into()),
            (OfferAnswer::Withdraw, Some(_)) if is_own => Ok(vec![Fact::OfferWithdrawn { seat, kind }].into()),
            (OfferAnswer::Withdraw, None) if kind == OfferKind::Pause => match self.time().pause {
                Some(Pause { is_held, .. }) if is_held || context.is_stopped => Err(NothingToOffer::ClockHeld.into()),
                Some(_) => Ok(vec![Fact::Resumed { seat }].into()),
                None => Err(Refusal::NoSuchOffer),
            },
            _ => Err(Refusal::NoSuchOffer),
        }
    }

    /// What follows when both players want what was offered.
    fn agree(&self, offer: &Offer, seat: Seat, context: &Context<'_>) -> Result<Facts, Refusal> {
        match offer.kind {
            OfferKind::Draw => {
                let drawn = GameResult { winner: None, reason: Reason::Agreement, score: self.score() };
                Ok(vec![Fact::Finished(drawn)].into())
            }
            OfferKind::End => self.moved_to(self.seat_at(self.position().turn()), Move::Agree),
            OfferKind::Takeback => self.take_back(offer.seat, context),
            OfferKind::Pause => Ok(vec![Fact::Paused { seat }].into()),
            OfferKind::Rematch if context.is_blocked => Err(NothingToOffer::NotTaken.into()),
            OfferKind::Rematch => {
                let game = (context.new_game_id)().in_slot(self.id().slot());
                Ok(vec![Fact::Rematched { seat, game }].into())
            }
        }
    }

    /// The last turn of a seat is taken back, and the increments of what is undone. Offers to end the game were about
    /// another position.
    fn take_back(&self, seat: Seat, context: &Context<'_>) -> Result<Facts, Refusal> {
        let (to_ply, position) = self.turn_began(context.newest_plies, seat).ok_or(NothingToOffer::NoTurn)?;
        let increments = Increments::of(self.id(), context.log).unwrap_or_default().since(to_ply);
        let mv = PlyAction::Takeback { to_ply, increments };
        let mut facts = vec![Fact::Moved(Moved { ply: self.ply() + 1, seat, mv, position })];
        let mut after = self.clone();
        for event in self.events(facts.clone(), in_microseconds(context.now)) {
            after.apply(&event).expect("the events of a decision follow the game");
        }
        // The clock would run out at once.
        let has_none = |seat| increments[seat] > Duration::ZERO && after.time().banks[seat].is_zero();
        if Seat::ALL.into_iter().any(has_none) {
            return Err(NothingToOffer::NoTime.into());
        }
        facts.extend(self.offers().iter().filter_map(|&Offer { kind, seat, .. }| match kind {
            OfferKind::Draw | OfferKind::End => Some(Fact::OfferWithdrawn { seat, kind }),
            OfferKind::Takeback | OfferKind::Pause | OfferKind::Rematch => None,
        }));
        Ok(facts.into())
    }

    /// Whether nothing but moves and ends may be added to the log. Offers could be made and withdrawn without end.
    pub(super) const fn is_log_full(&self) -> bool {
        self.version() >= EVENTS_MAX || self.ply() + 1 >= PLIES_MAX
    }

    /// Whether an offer that a seat made was accepted, and could not be made again since.
    fn is_agreed(&self, kind: OfferKind, offered_by: Seat, context: &Context<'_>) -> bool {
        match kind {
            OfferKind::Draw => self.is_over_by_agreement() && self.position().outcome().is_none(),
            // An agreed end is a move, which an agreed draw is not.
            OfferKind::End => self.is_over_by_agreement() && self.position().outcome().is_some(),
            OfferKind::Takeback => context.newest_plies.last().is_some_and(|last| {
                matches!(last.mv, PlyAction::Takeback { .. }) && self.players()[offered_by] == Some(last.player)
            }),
            OfferKind::Pause => self.time().pause.is_some(),
            OfferKind::Rematch => self.rematch().is_some(),
        }
    }

    fn is_over_by_agreement(&self) -> bool {
        self.result().is_some_and(|result| result.reason == Reason::Agreement)
    }

    /// The seat of a player whose opponent answers such an offer.
    fn own_seat(&self, player: PlayerId, kind: OfferKind) -> Result<Seat, Refusal> {
        self.check_seated(player)?;
        let is_answered = !self.is_practice() || matches!(kind, OfferKind::Takeback | OfferKind::Rematch);
        self.only_seat(player).filter(|_| is_answered).ok_or_else(|| NothingToOffer::Alone.into())
    }

    /// Whether a player plays one side, and an opponent that answers offers the other.
    pub(super) fn sits_at_one_side(&self, player: PlayerId) -> bool {
        self.only_seat(player).is_some()
    }

    fn only_seat(&self, player: PlayerId) -> Option<Seat> {
        // The computer answers no offer, except in practice.
        if matches!(self.terms().opponent, Opponent::Computer { .. }) && !self.is_practice() {
            return None;
        }
        let mut own = Seat::ALL.into_iter().filter(|seat| self.players()[*seat] == Some(player));
        own.next().filter(|_| own.next().is_none())
    }

    /// A rematch needs both players, and room for one more game of each.
    fn check_rematch(&self, context: &Context<'_>) -> Result<(), Refusal> {
        if self.rematch().is_some() {
            Ok(())
        } else if context.is_opponent_erased {
            Err(NothingToOffer::OpponentGone.into())
        } else if context.running_games >= RUNNING_GAMES_MAX {
            Err(Refusal::TooManyGamesForRematch)
        } else {
            Ok(())
        }
    }

    /// The game allows such an offer; for a takeback, the ply after which the game would go on.
    fn check_offer(&self, kind: OfferKind, seat: Seat, context: &Context<'_>) -> Result<Option<u32>, NothingToOffer> {
        match kind {
            OfferKind::Takeback => {
                let (to_ply, _) = self.turn_began(context.newest_plies, seat).ok_or(NothingToOffer::NoTurn)?;
                Ok(Some(to_ply))
            }
            OfferKind::Pause if self.terms().clock == Clock::Unlimited => Err(NothingToOffer::NoClock),
            OfferKind::End if self.position().play(Move::Agree).is_err() => Err(NothingToOffer::NoAgreedEnd),
            OfferKind::Draw | OfferKind::End | OfferKind::Pause | OfferKind::Rematch => Ok(None),
        }
    }

    /// The number of the ply before a seat's last turn, and the position after it, by the newest plies of the game.
    /// `None` if the seat has no standing turn, or if the turn began before these plies.
    fn turn_began(&self, plies: &[Ply], seat: Seat) -> Option<(u32, AnyPosition)> {
        let standing = standing_plies(plies);
        let is_own = |ply: &&Ply| self.players()[seat] == Some(ply.player);
        let last = standing.iter().rposition(is_own)?;
        let before = standing[..last].iter().rposition(|ply| !is_own(ply));
        match before.map(|before| standing[before]) {
            Some(before) => Some((before.number, before.position.clone())),
            None if plies.first().is_some_and(|first| first.number == 1) => Some((0, self.terms().opening())),
            None => None,
        }
    }
}
