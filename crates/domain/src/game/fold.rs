//! A game: the fold of its log.

use mancala_rules::{AnyPosition, BySide, History, Side};
use thiserror::Error;
use time::{Duration, OffsetDateTime};

use super::{
    Change, Created, Event, Fact, GameResult, GameState, Moved, Offer, OfferKind, Opponent, PlyAction, Status, Terms,
    Visibility,
};
use crate::{BySeat, GameId, Level, PlayerId, Seat, Time, seat::seat_at};

/// A game: the fold of its log. Only [`Game::apply`] changes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Game {
    state: GameState,
}

/// Why a list of events is not the log of a game.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReplayError {
    /// The log is empty, or begins with another event.
    #[error("the first event is not `created`")]
    NotCreated,
    /// The `seq` of an event is not that of its predecessor plus one.
    #[error("event {found} follows event {after}")]
    Gap {
        /// The `seq` before.
        after: u32,
        /// The `seq` that follows it.
        found: u32,
    },
    /// A later event is `created` again.
    #[error("event {seq} creates the game a second time")]
    CreatedTwice {
        /// The `seq` of that event.
        seq: u32,
    },
}

/// The beginning of a game: created, replayed from its log, or read from its row.
impl Game {
    /// A new game, and the event that begins its log. An open game expires after `open_for`.
    pub fn create(
        id: GameId,
        terms: Terms,
        player: PlayerId,
        open_for: Duration,
        now: OffsetDateTime,
    ) -> (Self, Event) {
        let at = in_microseconds(now);
        let expires_at = terms.opponent.is_awaited().then(|| at + open_for);
        let created = Created { terms, player, expires_at, returns_increments: false };
        (Self::created(id, &created, at), Event { seq: 1, at, fact: Fact::Created(created) })
    }

    /// The rematch on which the players agreed with these events of this game, if they did. It is a game with the sides
    /// exchanged, and the events that begin its log. The player that offered it creates the game, and the other player
    /// has joined. The computer needs not join.
    pub fn begin_rematch(&self, events: &[Event]) -> Option<(Self, Vec<Event>)> {
        let (accepted_by, id, at) = events.iter().find_map(|event| match event.fact {
            Fact::Rematched { seat, game } => Some((seat, game, event.at)),
            _ => None,
        })?;
        let offered_by = accepted_by.other();
        let (host, guest) = (self.players()[offered_by]?, self.players()[accepted_by]?);
        let opponent = match self.terms().opponent {
            Opponent::Computer { level } => Opponent::Computer { level },
            _ => Opponent::Player { player: guest },
        };
        let terms = Terms { opponent, creator: accepted_by, ..self.terms().clone() };
        let (mut game, created) = Self::create(id, terms, host, Duration::ZERO, at);
        let mut log = vec![created];
        if game.status() == Status::Open {
            let joined =
                Event { seq: 2, at: game.updated_at(), fact: Fact::Joined { seat: offered_by, player: guest } };
            game.apply(&joined).expect("a game that was just created can be joined");
            log.push(joined);
        }
        Some((game, log))
    }

    /// The fold of a log.
    pub fn replay<'a>(id: GameId, log: impl IntoIterator<Item = &'a Event>) -> Result<Self, ReplayError> {
        let mut log = log.into_iter();
        let mut game = match log.next() {
            Some(Event { seq: 1, at, fact: Fact::Created(created) }) => Self::created(id, created, *at),
            _ => return Err(ReplayError::NotCreated),
        };
        for event in log {
            game.apply(event)?;
        }
        Ok(game)
    }

    /// The game that was stored beside its log. The state is taken as it is. A reader that finds columns which
    /// contradict one another reports them before this. [`audit`](crate::audit()) compares the game with the fold of
    /// its log.
    pub const fn from_stored(state: GameState) -> Self {
        Self { state }
    }

    fn created(id: GameId, created: &Created, at: OffsetDateTime) -> Self {
        let Created { terms, player, expires_at, .. } = created;
        let position = terms.opening();
        let mut players = BySeat::default();
        players[terms.creator] = Some(*player);
        let other = match terms.opponent {
            Opponent::Oneself => Some(*player),
            Opponent::Computer { level } => Some(level.player()),
            Opponent::Open | Opponent::Link { .. } | Opponent::Player { .. } | Opponent::Imported { .. } => None,
        };
        players[terms.creator.other()] = other;
        let mut game = Self {
            state: GameState {
                id,
                version: 1,
                status: Status::Open,
                players,
                moved: BySeat::default(),
                ply: 0,
                history_from_seq: position.history().map(|_| 1),
                position,
                time: Time::of(terms.clock),
                offers: vec![],
                rematch: None,
                result: None,
                created_at: at,
                started_at: None,
                updated_at: at,
                finished_at: None,
                analysed_at: None,
                expires_at: *expires_at,
                terms: terms.clone(),
            },
        };
        if other.is_some() {
            game.begin(at);
        }
        game
    }
}

/// Changes of a game, by its events.
impl Game {
    /// Folds an event into the game. Events come in the order of their `seq`, without gaps.
    pub fn apply(&mut self, event: &Event) -> Result<(), ReplayError> {
        let state = &mut self.state;
        if event.seq != state.version + 1 {
            return Err(ReplayError::Gap { after: state.version, found: event.seq });
        }
        match &event.fact {
            Fact::Created(_) => return Err(ReplayError::CreatedTwice { seq: event.seq }),
            Fact::Joined { seat, player } => {
                state.players[*seat] = Some(*player);
                self.begin(event.at);
            }
            Fact::Reseated { seat, player } => state.players[*seat] = Some(*player),
            Fact::CodeRenewed { join_code } => {
                state.terms.opponent = Opponent::Link { join_code: join_code.clone() };
            }
            Fact::Moved(moved) => self.follow(moved, event),
            Fact::Offered { seat, kind, to_ply } => {
                state.offers.push(Offer { kind: *kind, seat: *seat, at: event.at, to_ply: *to_ply });
            }
            Fact::OfferDeclined { kind, .. } | Fact::OfferWithdrawn { kind, .. } => self.drop_offer(*kind),
            Fact::Paused { .. } => {
                // A pause without an offer was made for a suspended player.
                let is_held = state.offers.iter().all(|offer| offer.kind != OfferKind::Pause);
                state.time.pause(event.at, is_held);
                self.drop_offer(OfferKind::Pause);
            }
            Fact::Resumed { .. } => state.time.resume(event.at),
            Fact::Rematched { game, .. } => {
                state.rematch = Some(*game);
                self.drop_offer(OfferKind::Rematch);
            }
            Fact::Resigned { .. } | Fact::TimedOut { .. } => {}
            Fact::Aborted { .. } | Fact::Declined | Fact::Expired => self.end(Status::Aborted, event.at),
            Fact::Finished(result) => {
                state.result = Some(result.clone());
                self.end(Status::Finished, event.at);
            }
            Fact::Analysed => state.analysed_at = Some(event.at),
        }
        self.state.version = event.seq;
        self.state.updated_at = event.at;
        Ok(())
    }

    /// Both seats are taken: the first turn begins.
    fn begin(&mut self, at: OffsetDateTime) {
        self.state.status = Status::Active;
        self.state.started_at = Some(at);
        self.state.expires_at = None;
        if let Some(seat) = self.seat_to_move() {
            self.state.time.begin_turn(self.state.terms.clock, seat, at);
        }
    }

    fn follow(&mut self, moved: &Moved, event: &Event) {
        let before = self.seat_to_move();
        let state = &mut self.state;
        state.ply = moved.ply;
        match moved.mv {
            PlyAction::Move(_) => {
                state.moved[moved.seat] = true;
                state.position.follow(moved.position.clone());
            }
            PlyAction::Takeback { .. } => {
                state.position = moved.position.afresh();
                self.drop_offer(OfferKind::Takeback);
            }
        }
        if self.position().history().is_some_and(History::is_empty) {
            self.state.history_from_seq = Some(event.seq);
        }
        let (Some(before), Some(after)) = (before, self.seat_to_move()) else { return };
        let clock = self.state.terms.clock;
        match moved.mv {
            PlyAction::Move(_) if before == after => return,
            PlyAction::Move(_) => self.state.time.end_turn(clock, before, event.at),
            // A turn that is taken back begins anew, with the rest of its time.
            PlyAction::Takeback { increments, .. } => {
                self.state.time.break_turn(clock, before, event.at);
                self.state.time.take_back(increments);
            }
        }
        self.state.time.begin_turn(clock, after, event.at);
    }

    fn drop_offer(&mut self, kind: OfferKind) {
        self.state.offers.retain(|offer| offer.kind != kind);
    }

    fn end(&mut self, status: Status, at: OffsetDateTime) {
        self.state.status = status;
        self.state.finished_at = Some(at);
        self.state.expires_at = None;
        self.state.offers.clear();
        self.state.time.stop();
    }
}

/// The state of a game.
impl Game {
    /// All of it, as plain data.
    pub const fn state(&self) -> &GameState {
        &self.state
    }

    /// The game's id.
    pub const fn id(&self) -> GameId {
        self.state.id
    }

    /// The terms, which were fixed when the game was created.
    pub const fn terms(&self) -> &Terms {
        &self.state.terms
    }

    /// The last event's `seq`.
    pub const fn version(&self) -> u32 {
        self.state.version
    }

    /// How far the game has come.
    pub const fn status(&self) -> Status {
        self.state.status
    }

    /// The player of each seat. Seats stay with a pie swap: see [`Game::seat_at`].
    pub const fn players(&self) -> BySeat<Option<PlayerId>> {
        self.state.players
    }

    /// Which seats have played a move.
    pub const fn moved(&self) -> BySeat<bool> {
        self.state.moved
    }

    /// The number of the last ply; 0 before the first.
    pub const fn ply(&self) -> u32 {
        self.state.ply
    }

    /// The position on the board.
    pub const fn position(&self) -> &AnyPosition {
        &self.state.position
    }

    /// The event since which positions count against repetition; `None` where the rules need no history.
    pub const fn history_from_seq(&self) -> Option<u32> {
        self.state.history_from_seq
    }

    /// The clock. With unlimited time it never runs.
    pub const fn time(&self) -> Time {
        self.state.time
    }

    /// Pending offers: at most one of each kind.
    pub const fn offers(&self) -> &[Offer] {
        self.state.offers.as_slice()
    }

    /// The game of the rematch.
    pub const fn rematch(&self) -> Option<GameId> {
        self.state.rematch
    }

    /// How the game ended; present when it is finished.
    pub const fn result(&self) -> Option<&GameResult> {
        self.state.result.as_ref()
    }

    /// When the game was created.
    pub const fn created_at(&self) -> OffsetDateTime {
        self.state.created_at
    }

    /// When the second seat was taken.
    pub const fn started_at(&self) -> Option<OffsetDateTime> {
        self.state.started_at
    }

    /// When the last event happened.
    pub const fn updated_at(&self) -> OffsetDateTime {
        self.state.updated_at
    }

    /// When the game ended, with a result or without.
    pub const fn finished_at(&self) -> Option<OffsetDateTime> {
        self.state.finished_at
    }

    /// When the game was last analysed.
    pub const fn analysed_at(&self) -> Option<OffsetDateTime> {
        self.state.analysed_at
    }

    /// When an open game ends unless a player joins; `None` once a player has.
    pub const fn expires_at(&self) -> Option<OffsetDateTime> {
        self.state.expires_at
    }
}

/// Facts that follow from the state of a game.
impl Game {
    /// The seat at a side of the board now: a pie swap exchanges the sides of the players.
    pub fn seat_at(&self, side: Side) -> Seat {
        seat_at(self.position(), side)
    }

    /// The player at a side of the board now.
    pub fn player_at(&self, side: Side) -> Option<PlayerId> {
        self.state.players[self.seat_at(side)]
    }

    /// The side to move; `None` unless the game is active.
    pub fn turn(&self) -> Option<Side> {
        (self.status() == Status::Active).then(|| self.position().turn())
    }

    /// The seat to move; `None` unless the game is active.
    pub fn seat_to_move(&self) -> Option<Seat> {
        self.turn().map(|side| self.seat_at(side))
    }

    /// The seeds in the stores now.
    pub fn score(&self) -> BySide<u16> {
        score_of(self.position())
    }

    /// The pending offer of a kind.
    pub fn offer(&self, kind: OfferKind) -> Option<&Offer> {
        self.offers().iter().find(|offer| offer.kind == kind)
    }

    /// When time alone changes the game: its deadline, or its expiry.
    pub const fn wakes_at(&self) -> Option<OffsetDateTime> {
        match self.status() {
            Status::Open => self.expires_at(),
            Status::Active => self.state.time.deadline,
            Status::Finished | Status::Aborted => None,
        }
    }

    /// Whether a player sits in the game.
    pub fn seats(&self, player: PlayerId) -> bool {
        Seat::ALL.into_iter().any(|seat| self.state.players[seat] == Some(player))
    }

    /// The player that the creator invited, if the game is for one player only.
    pub const fn invited(&self) -> Option<PlayerId> {
        match self.terms().opponent {
            Opponent::Player { player } => Some(player),
            Opponent::Open
            | Opponent::Link { .. }
            | Opponent::Oneself
            | Opponent::Computer { .. }
            | Opponent::Imported { .. } => None,
        }
    }

    /// Whether it is practice against the computer, played here.
    pub const fn is_practice(&self) -> bool {
        self.terms().is_practice && matches!(self.terms().opponent, Opponent::Computer { .. })
    }

    /// The level of the computer, if the computer is to move.
    pub fn computer_to_move(&self) -> Option<Level> {
        let seat = self.seat_to_move()?;
        match self.terms().opponent {
            Opponent::Computer { level } if seat != self.terms().creator => Some(level),
            _ => None,
        }
    }

    /// The notification of the game's last change.
    pub fn change(&self) -> Change {
        let of_seat = |seat| self.state.players[seat].or_else(|| self.invited());
        let first = of_seat(Seat::First);
        // A game against oneself has one player.
        let second = of_seat(Seat::Second).filter(|second| Some(*second) != first);
        Change { game: self.id(), version: self.version(), people: [first, second] }
    }

    /// Whether a reader may see the game.
    pub fn is_visible_to(&self, reader: Option<PlayerId>) -> bool {
        let is_importer = |player| self.terms().opponent == Opponent::Imported { by: Some(player) };
        self.terms().visibility != Visibility::Private
            || reader.is_some_and(|player| self.seats(player) || self.invited() == Some(player) || is_importer(player))
    }
}

/// A moment as the database stores it. Finer parts would be lost, and the stored game would differ from its fold.
pub(crate) fn in_microseconds(moment: OffsetDateTime) -> OffsetDateTime {
    moment.replace_microsecond(moment.microsecond()).expect("a microsecond of a moment is one")
}

/// The seeds that count for each side in a position: those in the stores, or with four rows in pits and reserves. Seeds in
/// the hand, where a game ends inside a turn, are those of the side to move.
pub(crate) fn score_of(position: &AnyPosition) -> BySide<u16> {
    let mut score = position.board().score();
    score[position.turn()] += position.pending().map_or(0, |pending| pending.hand);
    score
}
