//! The decision on a command, and what the passing of time leads to.

use mancala_rules::Effect;
use time::OffsetDateTime;

use super::{Action, Command, Refusal, facts::Facts};
use crate::{Event, Fact, Game, GameResult, Offer, OfferKind, PlayerId, Reason, Seat, Status, game::in_microseconds};

/// The result of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// The events to append. Empty if the game already is as the command demands: a repeated request.
    pub events: Vec<Event>,
    /// The effects on the board of the single move among the events, in order. The log does not store them. Empty if there are several
    /// moves.
    pub effects: Vec<Effect>,
}

impl Game {
    /// Decides on a command. Apart from [`Game::due`], whose events come first, only this function decides what may happen to a game.
    pub fn decide(&self, command: &Command<'_>, now: OffsetDateTime) -> Result<Decision, Refusal> {
        let Facts { facts, effects } = match command.action {
            Action::Join { join_code, context } => self.join(command, join_code, context)?.into(),
            Action::RenewCode { join_code } => self.renew_code(command, join_code)?.into(),
            Action::Decline => self.decline(command)?.into(),
            Action::Play { ply, word, recorded } => self.play(command, ply, word, recorded)?,
            Action::PlayTurn { ply, words, recorded } => self.play_turn(command, ply, words, recorded, now)?,
            Action::Offer { subject, context } => self.make_offer(command, &subject, context, now)?,
            Action::Accept(subject) => self.accept_offer(command, &subject, now)?,
            Action::DeclineOffer(kind) => self.decline_offer(command, kind)?.into(),
            Action::Withdraw { kind, has_suspended_player } => {
                self.withdraw_offer(command, kind, has_suspended_player)?.into()
            }
            Action::Resign => self.resign(command)?.into(),
            Action::Abort => self.abort(command, now)?.into(),
            Action::Leave => self.leave(command, now)?.into(),
        };
        Ok(Decision { events: self.events(facts, in_microseconds(now)), effects })
    }

    /// The events that the passing of time has led to: the player to move has no time left, or no player has joined.
    /// The fold takes them before anything else is decided. They are dated when they were due, not when they are
    /// noticed.
    pub fn due(&self, now: OffsetDateTime) -> Vec<Event> {
        let Some(wakes_at) = self.wakes_at().filter(|wakes_at| *wakes_at < now) else { return vec![] };
        let facts = match self.seat_to_move() {
            None => vec![Fact::Expired],
            Some(seat) if !self.moved()[seat] => vec![Fact::TimedOut { seat }, Fact::Aborted { seat }],
            Some(seat) => {
                let winner = Some(self.position().turn().other());
                let lost = GameResult { winner, reason: Reason::Timeout, score: self.score() };
                vec![Fact::TimedOut { seat }, Fact::Finished(lost)]
            }
        };
        self.events(facts, wakes_at)
    }

    /// The event that the game's analysis was stored.
    pub fn analysed(&self, at: OffsetDateTime) -> Vec<Event> {
        self.events(vec![Fact::Analysed], in_microseconds(at))
    }

    /// The events by which an account takes over the seats of a guest. A game between the two becomes a game against oneself: its offers
    /// are withdrawn, because no opponent is left to answer. An invitation of the account by the guest is aborted.
    pub fn reseated(&self, guest: PlayerId, player: PlayerId, at: OffsetDateTime) -> Vec<Event> {
        let seats = Seat::ALL.into_iter().filter(|seat| self.players()[*seat] == Some(guest));
        let mut facts: Vec<Fact> = seats.map(|seat| Fact::Reseated { seat, player }).collect();
        if facts.is_empty() {
            return vec![];
        }
        if self.seats(player) {
            facts.extend(self.offers().iter().map(|&Offer { seat, kind, .. }| Fact::OfferWithdrawn { seat, kind }));
            if self.status() == Status::Active && self.time().pause.is_some() {
                facts.push(Fact::Resumed { seat: self.terms().creator });
            }
        } else if self.status() == Status::Open && self.invited() == Some(player) {
            facts.push(Fact::Aborted { seat: self.terms().creator });
        }
        self.events(facts, in_microseconds(at))
    }

    /// The events by which the clock stops for a player who is suspended. No player can let it run again. None if it stands
    /// already.
    pub fn hold_clock(&self, player: PlayerId, at: OffsetDateTime) -> Vec<Event> {
        let seat = Seat::ALL.into_iter().find(|seat| self.players()[*seat] == Some(player));
        let Some(seat) = seat.filter(|_| self.time().deadline.is_some()) else { return vec![] };
        let offered = self.offer(OfferKind::Pause).map(|&Offer { seat, kind, .. }| Fact::OfferWithdrawn { seat, kind });
        self.events(offered.into_iter().chain([Fact::Paused { seat }]).collect(), in_microseconds(at))
    }

    /// The event by which a held clock runs again; none if no clock is held. The event carries a waiting seat so that the
    /// player to move is notified.
    pub fn release_clock(&self, at: OffsetDateTime) -> Vec<Event> {
        let is_held = self.time().pause.is_some_and(|pause| pause.is_held);
        let facts = self.seat_to_move().filter(|_| is_held).map(|seat| Fact::Resumed { seat: seat.other() });
        self.events(facts.into_iter().collect(), in_microseconds(at))
    }

    /// Gives facts their numbers and times. Time never runs backwards within a game, even if the machine's clock does.
    pub(super) fn events(&self, facts: Vec<Fact>, at: OffsetDateTime) -> Vec<Event> {
        let at = at.max(self.updated_at());
        (self.version() + 1..).zip(facts).map(|(seq, fact)| Event { seq, at, fact }).collect()
    }
}
