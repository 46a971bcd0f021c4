//! Offers: making and answering one, and what an agreement leads to.

use mancala_rules::{AnyPosition, Move};
use time::{Duration, OffsetDateTime};

use super::{
    Command, NothingToOffer, OFFERS_MAX, OfferContext, Refusal, RematchOpponent, Subject, TakebackContext, facts::Facts,
};
use crate::{
    Clock, Fact, Game, GameResult, Moved, Offer, OfferKind, Opponent, PLIES_MAX, PlayerId, Ply, PlyAction,
    RUNNING_GAMES_MAX, Reason, Seat, Status,
    game::{EVENTS_MAX, Increments, in_microseconds, standing_plies},
};

impl Game {
    pub(super) fn make_offer(
        &self,
        command: &Command<'_>,
        subject: &Subject<'_>,
        context: OfferContext,
        now: OffsetDateTime,
    ) -> Result<Facts, Refusal> {
        let kind = subject.kind();
        let seat = self.own_seat(command.player, kind)?;
        self.check_room(subject)?;
        let pending = self.offer(kind);
        let is_done = kind != OfferKind::Takeback && self.is_agreed(subject, seat.other());
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
            Some(offer) => self.agree(subject, offer.seat, now),
            None if self.is_log_full() => Err(NothingToOffer::LogFull.into()),
            None if context.is_blocked => Err(NothingToOffer::NotTaken.into()),
            None => {
                let to_ply = self.check_offer(subject, seat)?;
                if context.offers_made >= OFFERS_MAX {
                    return Err(NothingToOffer::Often.into());
                }
                if self.is_practice() {
                    // The computer agrees at once.
                    return self.agree(subject, seat, now);
                }
                Ok(vec![Fact::Offered { seat, kind, to_ply }].into())
            }
        }
    }

    pub(super) fn accept_offer(
        &self,
        command: &Command<'_>,
        subject: &Subject<'_>,
        now: OffsetDateTime,
    ) -> Result<Facts, Refusal> {
        let seat = self.own_seat(command.player, subject.kind())?;
        self.check_room(subject)?;
        let offer = self.offer(subject.kind());
        if offer.is_none() && self.is_agreed(subject, seat.other()) {
            return Ok(Facts::default());
        }
        self.check_version(command)?;
        match offer {
            Some(offer) if offer.seat != seat => self.agree(subject, offer.seat, now),
            _ => Err(Refusal::NoSuchOffer),
        }
    }

    pub(super) fn decline_offer(&self, command: &Command<'_>, kind: OfferKind) -> Result<Vec<Fact>, Refusal> {
        let seat = self.own_seat(command.player, kind)?;
        self.check_version(command)?;
        match self.offer(kind) {
            Some(offer) if offer.seat != seat => Ok(vec![Fact::OfferDeclined { seat, kind }]),
            _ => Err(Refusal::NoSuchOffer),
        }
    }

    pub(super) fn withdraw_offer(
        &self,
        command: &Command<'_>,
        kind: OfferKind,
        has_suspended_player: bool,
    ) -> Result<Vec<Fact>, Refusal> {
        let seat = self.own_seat(command.player, kind)?;
        self.check_version(command)?;
        let pause = self.time().pause.filter(|_| kind == OfferKind::Pause);
        match (self.offer(kind), pause) {
            (Some(offer), _) if offer.seat == seat => Ok(vec![Fact::OfferWithdrawn { seat, kind }]),
            (None, Some(pause)) if pause.is_held || has_suspended_player => Err(NothingToOffer::ClockHeld.into()),
            (None, Some(_)) => Ok(vec![Fact::Resumed { seat }]),
            _ => Err(Refusal::NoSuchOffer),
        }
    }

    /// The facts that follow when both players want what a seat has offered.
    fn agree(&self, subject: &Subject<'_>, offered_by: Seat, now: OffsetDateTime) -> Result<Facts, Refusal> {
        let seat = offered_by.other();
        match subject {
            Subject::Draw => {
                let drawn = GameResult { winner: None, reason: Reason::Agreement, score: self.score() };
                Ok(vec![Fact::Finished(drawn)].into())
            }
            Subject::End => self.moved_to(self.seat_at(self.position().turn()), Move::Agree),
            Subject::Takeback(context) => self.take_back(offered_by, context, now),
            Subject::Pause => Ok(vec![Fact::Paused { seat }].into()),
            Subject::Rematch(context) => {
                if matches!(context.opponent, RematchOpponent::Person { is_blocked: true, .. }) {
                    return Err(NothingToOffer::NotTaken.into());
                }
                let game = (context.new_game_id)().in_slot(self.id().slot());
                Ok(vec![Fact::Rematched { seat, game }].into())
            }
        }
    }

    /// Takes back the last turn of a seat, with the increments of the undone plies. Offers to end the game are dropped, because they were
    /// about another position.
    fn take_back(&self, seat: Seat, context: &TakebackContext<'_>, now: OffsetDateTime) -> Result<Facts, Refusal> {
        let (to_ply, position) = self.turn_began(context.newest_plies, seat).ok_or(NothingToOffer::NoTurn)?;
        let increments = Increments::of(self.id(), context.log).unwrap_or_default().since(to_ply);
        let mv = PlyAction::Takeback { to_ply, increments };
        let mut facts = vec![Fact::Moved(Moved { ply: self.ply() + 1, seat, mv, position })];
        let mut after = self.clone();
        for event in self.events(facts.clone(), in_microseconds(now)) {
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
    fn is_agreed(&self, subject: &Subject<'_>, offered_by: Seat) -> bool {
        match subject {
            Subject::Draw => self.is_over_by_agreement() && self.position().outcome().is_none(),
            // An agreed end is a ply of the game; an agreed draw is not.
            Subject::End => self.is_over_by_agreement() && self.position().outcome().is_some(),
            Subject::Takeback(context) => context.newest_plies.last().is_some_and(|last| {
                matches!(last.mv, PlyAction::Takeback { .. }) && self.players()[offered_by] == Some(last.player)
            }),
            Subject::Pause => self.time().pause.is_some(),
            Subject::Rematch(_) => self.rematch().is_some(),
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

    /// A rematch that has not begun needs both players, and room for one more game of each.
    fn check_room(&self, subject: &Subject<'_>) -> Result<(), Refusal> {
        let Subject::Rematch(context) = subject else { return Ok(()) };
        if self.rematch().is_some() {
            return Ok(());
        }
        match context.opponent {
            RematchOpponent::Person { is_erased: true, .. } => return Err(NothingToOffer::OpponentGone.into()),
            RematchOpponent::Computer(games) if self.status() == Status::Finished => games.check()?,
            RematchOpponent::Person { .. } | RematchOpponent::Computer(_) => {}
        }
        if context.running_games >= RUNNING_GAMES_MAX { Err(Refusal::TooManyGamesForRematch) } else { Ok(()) }
    }

    /// The game allows such an offer; for a takeback, the ply after which the game would go on.
    fn check_offer(&self, subject: &Subject<'_>, seat: Seat) -> Result<Option<u32>, NothingToOffer> {
        match subject {
            Subject::Takeback(context) => {
                let (to_ply, _) = self.turn_began(context.newest_plies, seat).ok_or(NothingToOffer::NoTurn)?;
                Ok(Some(to_ply))
            }
            Subject::Pause if self.terms().clock == Clock::Unlimited => Err(NothingToOffer::NoClock),
            Subject::End if self.position().play(Move::Agree).is_err() => Err(NothingToOffer::NoAgreedEnd),
            Subject::Draw | Subject::End | Subject::Pause | Subject::Rematch(_) => Ok(None),
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
