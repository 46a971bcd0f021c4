//! One played game: its fold, and what may happen next.

use std::{fmt, str::FromStr};

use mancala_rules::{AnyOptions, AnyPosition, BySide, EndReason, History, Side};
use thiserror::Error;
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use crate::{
    BySeat, Clock, Created, Event, Fact, Level, Moved, Offer, OfferKind, Played, PlayerId, Seat, Time, history::seat_at,
};

/// A game's id, a UUIDv7: ordered by the time of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GameId(pub Uuid);

/// A played game: the fold of its log. It changes by [`Game::apply`] alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Game {
    pub id: GameId,
    pub terms: Terms,
    /// The last event's `seq`.
    pub version: u32,
    pub status: Status,
    /// Who sits where. Seats do not change with a pie swap: see [`Game::seat_at`].
    pub players: BySeat<Option<PlayerId>>,
    /// Who has played a ply.
    pub moved: BySeat<bool>,
    /// The number of the last ply; 0 before the first.
    pub ply: u32,
    pub position: AnyPosition,
    /// The event since which positions count against repetition: that of the last ply whose position has no history, or
    /// the first event. Absent where the rules ask for no history.
    pub history_from_seq: Option<u32>,
    /// The clock. Where time is unlimited none ever runs.
    pub time: Time,
    /// What waits for an answer: of each kind one at most.
    pub offers: Vec<Offer>,
    /// The game in which this one was played again.
    pub rematch: Option<GameId>,
    /// Present when finished.
    pub result: Option<GameResult>,
    pub created_at: OffsetDateTime,
    /// When the second seat was taken.
    pub started_at: Option<OffsetDateTime>,
    /// When the last event happened.
    pub updated_at: OffsetDateTime,
    pub finished_at: Option<OffsetDateTime>,
    /// When it was analysed last.
    pub analysed_at: Option<OffsetDateTime>,
    /// When it ends unless somebody joins; absent once somebody has.
    pub expires_at: Option<OffsetDateTime>,
}

/// What is fixed when a game is created, but for the code of a game by link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Variant, preset and options.
    pub options: AnyOptions,
    /// The edition of the rules that the game is pinned to.
    pub rules_version: u16,
    pub opponent: Opponent,
    pub clock: Clock,
    pub visibility: Visibility,
    /// The creator's seat.
    pub creator: Seat,
    /// Where it begins, if not with the opening of its options.
    pub start: Option<Start>,
}

impl Terms {
    /// The position in which the game begins.
    pub fn opening(&self) -> AnyPosition {
        self.start.as_ref().map_or_else(|| AnyPosition::opening(&self.options), |start| start.position.clone())
    }

    /// Whether there is anything to play: the rules may end a game before its first move.
    pub fn can_be_played(&self) -> bool {
        self.opening().outcome().is_none()
    }
}

/// Where a game begins that does not begin with the opening. Positions before it do not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// Without history.
    pub position: AnyPosition,
    /// The game that it is from, and the ply after which it was there.
    pub from: Option<(GameId, u32)>,
}

/// Who may take the free seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opponent {
    /// Anyone who can see the game.
    Open,
    /// Whoever holds the code.
    Link { join_code: String },
    /// Whom the creator invited.
    Player { player: PlayerId },
    /// Nobody: the creator plays both sides.
    Oneself,
    /// The server itself.
    Computer { level: Level },
    /// Nobody: the game was played elsewhere, and is kept here by a player, or by the operator.
    Imported { by: Option<PlayerId> },
}

impl Opponent {
    /// Whether the game waits for somebody to join.
    pub const fn is_awaited(&self) -> bool {
        matches!(self, Opponent::Open | Opponent::Link { .. } | Opponent::Player { .. })
    }
}

/// Who may read a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// Everybody; it is listed.
    Public,
    /// Whoever has its id.
    Unlisted,
    /// Those who sit in it, and whoever was invited to.
    Private,
}

impl Visibility {
    pub const ALL: [Visibility; 3] = [Visibility::Public, Visibility::Unlisted, Visibility::Private];

    /// The word for it, in the database and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Visibility::Public => "public",
            Visibility::Unlisted => "unlisted",
            Visibility::Private => "private",
        }
    }
}

/// How far a game has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// A seat is free.
    Open,
    /// Both seats are taken, and moves are played.
    Active,
    /// Ended with a result.
    Finished,
    /// Ended without one.
    Aborted,
}

impl Status {
    pub const ALL: [Status; 4] = [Status::Open, Status::Active, Status::Finished, Status::Aborted];

    /// The word for it, in the database and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Status::Open => "open",
            Status::Active => "active",
            Status::Finished => "finished",
            Status::Aborted => "aborted",
        }
    }

    /// Whether nothing more can happen.
    pub const fn is_over(self) -> bool {
        matches!(self, Status::Finished | Status::Aborted)
    }
}

/// How a finished game ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameResult {
    /// The winning side of the board; nobody on a draw.
    pub winner: Option<Side>,
    pub reason: Reason,
    /// The seeds in the stores.
    pub score: BySide<u16>,
}

/// Why a game is finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// By the rules.
    Rules(EndReason),
    /// A player gave up.
    Resignation,
    /// A player had no time left.
    Timeout,
    /// Both wanted it so.
    Agreement,
    /// Its record does not say; only of imported games.
    Unknown,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Rules(reason) => reason.fmt(f),
            Reason::Resignation => f.write_str("resignation"),
            Reason::Timeout => f.write_str("timeout"),
            Reason::Agreement => f.write_str("agreement"),
            Reason::Unknown => f.write_str("unknown"),
        }
    }
}

impl FromStr for Reason {
    type Err = <EndReason as FromStr>::Err;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "resignation" => Reason::Resignation,
            "timeout" => Reason::Timeout,
            "unknown" => Reason::Unknown,
            _ => text.parse::<EndReason>()?.into(),
        })
    }
}

impl From<EndReason> for Reason {
    /// Whether an agreement shares the seeds out by the rules or leaves them is told by the score.
    fn from(reason: EndReason) -> Self {
        if reason == EndReason::Agreement { Reason::Agreement } else { Reason::Rules(reason) }
    }
}

/// Why a log is not the log of a game.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReplayError {
    #[error("the first event is not `created`")]
    NotCreated,
    #[error("event {found} follows event {after}")]
    Gap { after: u32, found: u32 },
    #[error("event {seq} creates the game a second time")]
    CreatedTwice { seq: u32 },
}

/// That a game has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    pub game: GameId,
    /// Its version since then.
    pub version: u32,
    /// Who sits in it, or is invited to.
    pub people: [Option<PlayerId>; 2],
}

impl Game {
    /// A new game, and the event that begins its log.
    pub fn create(
        id: GameId,
        terms: Terms,
        player: PlayerId,
        open_for: Duration,
        now: OffsetDateTime,
    ) -> (Self, Event) {
        let at = in_microseconds(now);
        let expires_at = terms.opponent.is_awaited().then(|| at + open_for);
        let created = Created { terms, player, expires_at };
        (Self::created(id, &created, at), Event { seq: 1, at, fact: Fact::Created(created) })
    }

    /// The same game again with the sides exchanged, and the events that begin its log: whoever offered it invited the other,
    /// who has come.
    pub fn rematch(
        &self,
        id: GameId,
        offered_by: Seat,
        players: BySeat<PlayerId>,
        now: OffsetDateTime,
    ) -> (Self, [Event; 2]) {
        let (host, guest) = (players[offered_by], players[offered_by.other()]);
        let terms =
            Terms { opponent: Opponent::Player { player: guest }, creator: offered_by.other(), ..self.terms.clone() };
        let (mut game, created) = Self::create(id, terms, host, Duration::ZERO, now);
        let joined = Event { seq: 2, at: created.at, fact: Fact::Joined { seat: offered_by, player: guest } };
        game.apply(&joined).expect("a game that was just created can be joined");
        (game, [created, joined])
    }

    /// The game that a log tells.
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

    /// Takes an event into the fold. Events come in the order of their `seq`, without gaps.
    pub fn apply(&mut self, event: &Event) -> Result<(), ReplayError> {
        if event.seq != self.version + 1 {
            return Err(ReplayError::Gap { after: self.version, found: event.seq });
        }
        match &event.fact {
            Fact::Created(_) => return Err(ReplayError::CreatedTwice { seq: event.seq }),
            Fact::Joined { seat, player } => {
                self.players[*seat] = Some(*player);
                self.begin(event.at);
            }
            Fact::CodeRenewed { join_code } => {
                self.terms.opponent = Opponent::Link { join_code: join_code.clone() };
            }
            Fact::Moved(moved) => self.follow(moved, event),
            Fact::Offered { seat, kind, to_ply } => {
                self.offers.push(Offer { kind: *kind, seat: *seat, at: event.at, to_ply: *to_ply });
            }
            Fact::OfferDeclined { kind, .. } | Fact::OfferWithdrawn { kind, .. } => self.drop_offer(*kind),
            Fact::Paused { .. } => {
                self.drop_offer(OfferKind::Pause);
                self.time.pause(event.at);
            }
            Fact::Resumed { .. } => self.time.resume(event.at),
            Fact::Rematched { game, .. } => {
                self.drop_offer(OfferKind::Rematch);
                self.rematch = Some(*game);
            }
            Fact::Resigned { .. } | Fact::TimedOut { .. } => {}
            Fact::Aborted { .. } | Fact::Declined | Fact::Expired => self.end(Status::Aborted, event.at),
            Fact::Finished(result) => {
                self.result = Some(result.clone());
                self.end(Status::Finished, event.at);
            }
            Fact::Analysed => self.analysed_at = Some(event.at),
        }
        self.version = event.seq;
        self.updated_at = event.at;
        Ok(())
    }

    /// Who sits at a side of the board now: after a pie swap the people have changed places.
    pub fn seat_at(&self, side: Side) -> Seat {
        seat_at(&self.position, side)
    }

    /// The player at a side of the board now.
    pub fn player_at(&self, side: Side) -> Option<PlayerId> {
        self.players[self.seat_at(side)]
    }

    /// The side to move; nobody's unless the game is active.
    pub fn turn(&self) -> Option<Side> {
        (self.status == Status::Active).then(|| self.position.turn())
    }

    /// The seat to move; nobody's unless the game is active.
    pub fn seat_to_move(&self) -> Option<Seat> {
        self.turn().map(|side| self.seat_at(side))
    }

    /// The offer of a kind that waits for an answer.
    pub fn offer(&self, kind: OfferKind) -> Option<&Offer> {
        self.offers.iter().find(|offer| offer.kind == kind)
    }

    /// When something happens to the game though nobody does anything.
    pub fn wakes_at(&self) -> Option<OffsetDateTime> {
        match self.status {
            Status::Open => self.expires_at,
            Status::Active => self.time.deadline,
            Status::Finished | Status::Aborted => None,
        }
    }

    /// Whether a player sits in the game.
    pub fn seats(&self, player: PlayerId) -> bool {
        Seat::ALL.into_iter().any(|seat| self.players[seat] == Some(player))
    }

    /// Whom the creator invited, if the game is for one player only.
    pub fn invited(&self) -> Option<PlayerId> {
        match self.terms.opponent {
            Opponent::Player { player } => Some(player),
            Opponent::Open
            | Opponent::Link { .. }
            | Opponent::Oneself
            | Opponent::Computer { .. }
            | Opponent::Imported { .. } => None,
        }
    }

    /// The level of the computer that is to move, if it is.
    pub fn computer_to_move(&self) -> Option<Level> {
        let seat = self.seat_to_move()?;
        match self.terms.opponent {
            Opponent::Computer { level } if seat != self.terms.creator => Some(level),
            _ => None,
        }
    }

    /// That the game has changed, for those whom it concerns.
    pub fn change(&self) -> Change {
        let Self { id: game, version, .. } = *self;
        let of_seat = |seat| self.players[seat].or_else(|| self.invited());
        let first = of_seat(Seat::First);
        // Of a game against oneself there is one.
        Change { game, version, people: [first, of_seat(Seat::Second).filter(|second| Some(*second) != first)] }
    }

    /// Whether a reader may see the game.
    pub fn is_visible_to(&self, reader: Option<PlayerId>) -> bool {
        let is_importer = |player| self.terms.opponent == Opponent::Imported { by: Some(player) };
        self.terms.visibility != Visibility::Private
            || reader.is_some_and(|player| self.seats(player) || self.invited() == Some(player) || is_importer(player))
    }

    fn created(id: GameId, created: &Created, at: OffsetDateTime) -> Self {
        let Created { terms, player, expires_at } = created;
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
        };
        if other.is_some() {
            game.begin(at);
        }
        game
    }

    /// Both seats are taken: the first turn begins.
    fn begin(&mut self, at: OffsetDateTime) {
        self.status = Status::Active;
        self.started_at = Some(at);
        self.expires_at = None;
        if let Some(seat) = self.seat_to_move() {
            self.time.begin_turn(self.terms.clock, seat, at);
        }
    }

    fn follow(&mut self, moved: &Moved, event: &Event) {
        let before = self.seat_to_move();
        self.ply = moved.ply;
        match moved.mv {
            Played::Move(_) => {
                self.moved[moved.seat] = true;
                self.position.follow(moved.position.clone());
            }
            Played::Takeback { .. } => {
                self.drop_offer(OfferKind::Takeback);
                self.position = moved.position.afresh();
            }
        }
        if self.position.history().is_some_and(History::is_empty) {
            self.history_from_seq = Some(event.seq);
        }
        let (Some(before), Some(after)) = (before, self.seat_to_move()) else { return };
        match moved.mv {
            Played::Move(_) if before == after => return,
            Played::Move(_) => self.time.end_turn(self.terms.clock, before, event.at),
            // A turn that is taken back begins anew, with the time that there is.
            Played::Takeback { .. } => self.time.break_turn(self.terms.clock, before, event.at),
        }
        self.time.begin_turn(self.terms.clock, after, event.at);
    }

    fn drop_offer(&mut self, kind: OfferKind) {
        self.offers.retain(|offer| offer.kind != kind);
    }

    fn end(&mut self, status: Status, at: OffsetDateTime) {
        self.status = status;
        self.finished_at = Some(at);
        self.expires_at = None;
        self.offers.clear();
        self.time.stop();
    }
}

/// A moment as it is stored: finer parts of it would be lost, and with them the equality of a game and the fold of its log.
pub(super) fn in_microseconds(moment: OffsetDateTime) -> OffsetDateTime {
    moment.replace_microsecond(moment.microsecond()).expect("a microsecond of a moment is one")
}
