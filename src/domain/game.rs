//! One played game: its fold, and what may happen next.

use std::{fmt, str::FromStr};

use thiserror::Error;
use time::OffsetDateTime;
use uuid::Uuid;

use super::{Action, BySeat, Command, Created, Event, Fact, Moved, PlayerId, Ply, RUNNING_GAMES_MAX, Refusal, Seat};
use crate::rules::{AnyOptions, AnyPosition, BySide, EndReason, History, Move, Side};

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
    /// Present when finished.
    pub result: Option<GameResult>,
    pub created_at: OffsetDateTime,
    /// When the second seat was taken.
    pub started_at: Option<OffsetDateTime>,
    /// When the last event happened.
    pub updated_at: OffsetDateTime,
    pub finished_at: Option<OffsetDateTime>,
}

/// What is fixed when a game is created.
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
}

impl Terms {
    /// Whether there is anything to play: the rules may end a game before its first move.
    pub fn can_be_played(&self) -> bool {
        AnyPosition::opening(&self.options).outcome().is_none()
    }
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
}

/// How much time the players have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// As long as they like.
    Unlimited,
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
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Rules(reason) => reason.fmt(f),
            Reason::Resignation => f.write_str("resignation"),
        }
    }
}

impl FromStr for Reason {
    type Err = <EndReason as FromStr>::Err;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "resignation" { Ok(Reason::Resignation) } else { text.parse().map(Reason::Rules) }
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

impl Game {
    /// A new game, and the event that begins its log.
    pub fn create(id: GameId, terms: Terms, player: PlayerId, now: OffsetDateTime) -> (Self, Event) {
        let created = Created { terms, player };
        (Self::created(id, &created, now), Event { seq: 1, at: now, fact: Fact::Created(created) })
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

    /// The events that a command leads to: none if what it asks for is already so (a repeated request). Nothing else
    /// decides what may happen to a game; the order of the checks is the contract's.
    pub fn decide(&self, command: &Command<'_>, now: OffsetDateTime) -> Result<Vec<Event>, Refusal> {
        let facts = match command.action {
            Action::Join { join_code, running } => self.join(command, join_code, running)?,
            Action::Decline => self.decline(command)?,
            Action::Play { ply, word, recorded } => self.play(command, ply, word, recorded)?,
            Action::Resign => self.resign(command)?,
            Action::Abort => self.abort(command)?,
            Action::Leave => match self.status {
                Status::Open if !self.seats(command.player) => self.decline(command)?,
                Status::Open => self.abort(command)?,
                Status::Active => self.resign(command)?,
                Status::Finished | Status::Aborted => vec![],
            },
        };
        // Time never runs backwards within a game, whatever the machine's clock does.
        let at = now.max(self.updated_at);
        Ok((self.version + 1..).zip(facts).map(|(seq, fact)| Event { seq, at, fact }).collect())
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
                self.status = Status::Active;
                self.started_at = Some(event.at);
            }
            Fact::Moved(moved) => {
                self.ply = moved.ply;
                self.moved[moved.seat] = true;
                self.position.follow(moved.position.clone());
                if self.position.history().is_some_and(History::is_empty) {
                    self.history_from_seq = Some(event.seq);
                }
            }
            Fact::Resigned { .. } => {}
            Fact::Aborted { .. } | Fact::Declined => {
                self.status = Status::Aborted;
                self.finished_at = Some(event.at);
            }
            Fact::Finished(result) => {
                self.status = Status::Finished;
                self.result = Some(result.clone());
                self.finished_at = Some(event.at);
            }
        }
        self.version = event.seq;
        self.updated_at = event.at;
        Ok(())
    }

    /// Who sits at a side of the board now: after a pie swap the people have changed places.
    pub fn seat_at(&self, side: Side) -> Seat {
        let opener = if self.position.swapped() { Side::North } else { Side::South };
        if side == opener { Seat::First } else { Seat::Second }
    }

    /// The player at a side of the board now.
    pub fn player_at(&self, side: Side) -> Option<PlayerId> {
        self.players[self.seat_at(side)]
    }

    /// The side to move; nobody's unless the game is active.
    pub fn turn(&self) -> Option<Side> {
        (self.status == Status::Active).then(|| self.position.turn())
    }

    /// Whether a player sits in the game.
    pub fn seats(&self, player: PlayerId) -> bool {
        Seat::ALL.into_iter().any(|seat| self.players[seat] == Some(player))
    }

    /// Whom the creator invited, if the game is for one player only.
    pub fn invited(&self) -> Option<PlayerId> {
        match self.terms.opponent {
            Opponent::Player { player } => Some(player),
            Opponent::Open | Opponent::Link { .. } | Opponent::Oneself => None,
        }
    }

    /// Whether a reader may see the game.
    pub fn is_visible_to(&self, reader: Option<PlayerId>) -> bool {
        self.terms.visibility != Visibility::Private
            || reader.is_some_and(|player| self.seats(player) || self.invited() == Some(player))
    }

    fn created(id: GameId, created: &Created, at: OffsetDateTime) -> Self {
        let Created { terms, player } = created;
        let alone = terms.opponent == Opponent::Oneself;
        let position = AnyPosition::opening(&terms.options);
        let mut players = BySeat::default();
        players[terms.creator] = Some(*player);
        if alone {
            players[terms.creator.other()] = Some(*player);
        }
        Self {
            id,
            version: 1,
            status: if alone { Status::Active } else { Status::Open },
            players,
            moved: BySeat::default(),
            ply: 0,
            history_from_seq: position.history().map(|_| 1),
            position,
            result: None,
            created_at: at,
            started_at: alone.then_some(at),
            updated_at: at,
            finished_at: None,
            terms: terms.clone(),
        }
    }

    fn join(&self, command: &Command<'_>, join_code: Option<&str>, running: u32) -> Result<Vec<Fact>, Refusal> {
        if self.seats(command.player) {
            return Ok(vec![]);
        }
        let right_code = match &self.terms.opponent {
            Opponent::Open | Opponent::Player { .. } => true,
            Opponent::Link { join_code: expected } => join_code.is_some_and(|given| same_secret(given, expected)),
            Opponent::Oneself => false,
        };
        let free = self.status == Status::Open;
        // A private game exists only for its people, and for whoever holds the code of one by link while a seat is free.
        let by_link = matches!(self.terms.opponent, Opponent::Link { .. });
        if !(self.is_visible_to(Some(command.player)) || by_link && free && right_code) {
            return Err(Refusal::Unknown);
        }
        if self.invited().is_some_and(|invited| invited != command.player) {
            return Err(Refusal::NotInvited);
        }
        self.check_version(command)?;
        if self.status == Status::Aborted {
            return Err(Refusal::Over);
        }
        if !free {
            return Err(Refusal::SeatTaken);
        }
        if !right_code {
            return Err(Refusal::WrongJoinCode);
        }
        if running >= RUNNING_GAMES_MAX {
            return Err(Refusal::TooManyGames);
        }
        Ok(vec![Fact::Joined { seat: self.terms.creator.other(), player: command.player }])
    }

    fn decline(&self, command: &Command<'_>) -> Result<Vec<Fact>, Refusal> {
        if !self.is_visible_to(Some(command.player)) {
            return Err(Refusal::Unknown);
        }
        if self.invited() != Some(command.player) {
            return Err(Refusal::NotInvited);
        }
        if self.status == Status::Aborted {
            return Ok(vec![]);
        }
        self.check_version(command)?;
        match self.status {
            Status::Open => Ok(vec![Fact::Declined]),
            Status::Active => Err(Refusal::SeatTaken),
            Status::Finished | Status::Aborted => Err(Refusal::Over),
        }
    }

    fn play(&self, command: &Command<'_>, ply: u32, word: &str, recorded: Option<&Ply>) -> Result<Vec<Fact>, Refusal> {
        self.check_seated(command.player)?;
        let mv = word.parse::<Move>();
        if let (Some(recorded), Ok(mv)) = (recorded, mv)
            && recorded.number == ply
            && recorded.mv == mv
            && recorded.player == command.player
        {
            return Ok(vec![]);
        }
        self.check_version(command)?;
        self.check_active()?;
        if ply != self.ply + 1 {
            return Err(Refusal::StalePly { next: self.ply + 1 });
        }
        let side = self.position.turn();
        let seat = self.seat_at(side);
        if self.players[seat] != Some(command.player) {
            return Err(Refusal::NotYourTurn);
        }
        // An agreed end takes both people; a ply that one of them sends is no agreement.
        let mv = mv.ok().filter(|&mv| mv != Move::Agree).ok_or(Refusal::NotAMove)?;
        let position = self.position.play(mv)?.0;
        let outcome = position.outcome();
        let mut facts = vec![Fact::Moved(Moved { ply, seat, mv, position })];
        // A position that play leads to and that is over says why.
        if let Some(outcome) = outcome
            && let Some(reason) = outcome.reason
        {
            let result = GameResult { winner: outcome.winner, reason: Reason::Rules(reason), score: outcome.score };
            facts.push(Fact::Finished(result));
        }
        Ok(facts)
    }

    fn resign(&self, command: &Command<'_>) -> Result<Vec<Fact>, Refusal> {
        self.check_seated(command.player)?;
        let side = self.side_resigned_by(command.player);
        let lost = GameResult { winner: Some(side.other()), reason: Reason::Resignation, score: self.score() };
        if self.result.as_ref() == Some(&lost) {
            return Ok(vec![]);
        }
        self.check_version(command)?;
        self.check_active()?;
        Ok(vec![Fact::Resigned { seat: self.seat_at(side) }, Fact::Finished(lost)])
    }

    fn abort(&self, command: &Command<'_>) -> Result<Vec<Fact>, Refusal> {
        self.check_seated(command.player)?;
        if self.status == Status::Aborted {
            return Ok(vec![]);
        }
        self.check_version(command)?;
        if self.status.is_over() {
            return Err(Refusal::Over);
        }
        let mut seats = Seat::ALL.into_iter().filter(|seat| self.players[*seat] == Some(command.player));
        match seats.clone().find(|seat| self.moved[*seat]) {
            Some(_) => Err(Refusal::AlreadyMoved),
            None => Ok(seats.next().map(|seat| Fact::Aborted { seat }).into_iter().collect()),
        }
    }

    /// The side that a player gives up: their own; of a game against oneself, the one to move.
    fn side_resigned_by(&self, player: PlayerId) -> Side {
        let turn = self.position.turn();
        if self.player_at(turn) == Some(player) { turn } else { turn.other() }
    }

    fn score(&self) -> BySide<u16> {
        let board = self.position.board();
        BySide { south: board.store(Side::South), north: board.store(Side::North) }
    }

    /// A private game is unknown to those who do not sit in it, unless they are invited to.
    fn check_seated(&self, player: PlayerId) -> Result<(), Refusal> {
        if self.seats(player) {
            Ok(())
        } else if self.is_visible_to(Some(player)) {
            Err(Refusal::NotSeated)
        } else {
            Err(Refusal::Unknown)
        }
    }

    fn check_version(&self, command: &Command<'_>) -> Result<(), Refusal> {
        match command.if_version {
            Some(versions) if !versions.contains(&self.version) => Err(Refusal::OtherVersion { version: self.version }),
            _ => Ok(()),
        }
    }

    fn check_active(&self) -> Result<(), Refusal> {
        match self.status {
            Status::Active => Ok(()),
            Status::Open => Err(Refusal::NotStarted),
            Status::Finished | Status::Aborted => Err(Refusal::Over),
        }
    }
}

/// Compares two secrets in a time that does not depend on where they differ.
fn same_secret(given: &str, expected: &str) -> bool {
    given.len() == expected.len() && given.bytes().zip(expected.bytes()).fold(0, |diff, (a, b)| diff | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use time::Duration;

    use super::*;
    use crate::rules::Variant;

    const PEOPLE: [PlayerId; 3] =
        [PlayerId(Uuid::from_u128(1)), PlayerId(Uuid::from_u128(2)), PlayerId(Uuid::from_u128(3))];

    fn terms(opponent: Opponent, variant: Variant, options: &str) -> Terms {
        Terms {
            options: AnyOptions::parse(variant, "standard", options).expect("the options are valid"),
            rules_version: 1,
            opponent,
            clock: Clock::Unlimited,
            visibility: Visibility::Public,
            creator: Seat::Second,
        }
    }

    /// What is particular to a game: a swap, a history, rounds.
    const OPTIONS: [(Variant, &str); 4] = [
        (Variant::Kalah, "seeds=2"),
        (Variant::Kalah, "pie=true;seeds=2"),
        (Variant::Oware, "pits=3;seeds=2;repetition=3"),
        (Variant::Congkak, "pits=3;seeds=2;rounds=multi"),
    ];

    proptest! {
        /// Whoever asks for whatever, in whatever order and by whatever clock: a game is the fold of its log, the log
        /// has no gap and no step back in time, and what is over stays over.
        #[test]
        fn a_game_is_the_fold_of_its_log(
            opponent in 0_usize..3,
            (variant, options) in prop::sample::select(&OPTIONS[..]),
            steps in prop::collection::vec((0_usize..3, 0_u8..40, 0_usize..8, -50_i64..100), 0..120),
        ) {
            let start = OffsetDateTime::UNIX_EPOCH;
            let opponent = [Opponent::Open, Opponent::Oneself, Opponent::Player { player: PEOPLE[1] }][opponent].clone();
            let (mut game, created) = Game::create(GameId(Uuid::nil()), terms(opponent, variant, options), PEOPLE[0], start);
            let mut log = vec![created];
            let mut now = start;
            for (person, what, which, tick) in steps {
                now += Duration::seconds(tick);
                let legal = game.position.legal_moves();
                let word = legal.get(which % legal.len().max(1)).map(ToString::to_string).unwrap_or_default();
                let action = match what {
                    0 => Action::Abort,
                    1 => Action::Resign,
                    2..=6 => Action::Join { join_code: None, running: 0 },
                    7 => Action::Decline,
                    _ => Action::Play { ply: game.ply + 1, word: &word, recorded: None },
                };
                let before = game.clone();
                let Ok(events) = game.decide(&Command { player: PEOPLE[person], if_version: None, action }, now) else {
                    prop_assert_eq!(&game, &before);
                    continue;
                };
                prop_assert!(events.is_empty() || !before.status.is_over());
                for event in &events {
                    prop_assert!(event.at >= game.updated_at);
                    game.apply(event).expect("an event that was decided applies");
                    log.push(event.clone());
                }
                prop_assert!(game.ply >= before.ply);
                prop_assert_eq!(game.result.is_some(), game.status == Status::Finished);
                prop_assert_eq!(game.finished_at.is_some(), game.status.is_over());
                prop_assert_eq!(game.turn().is_some(), game.status == Status::Active);
                if game.status == Status::Active {
                    prop_assert!(!game.position.legal_moves().is_empty());
                }
            }
            prop_assert_eq!(game.version as usize, log.len());
            prop_assert_eq!(Game::replay(game.id, &log), Ok(game));
        }
    }

    #[test]
    fn an_agreed_end_is_no_move_of_one_player() {
        let terms = terms(Opponent::Oneself, Variant::Oware, "");
        let start = OffsetDateTime::UNIX_EPOCH;
        let (game, _) = Game::create(GameId(Uuid::nil()), terms, PEOPLE[0], start);
        let action = Action::Play { ply: 1, word: "agree", recorded: None };
        let command = Command { player: PEOPLE[0], if_version: None, action };
        assert_eq!(game.decide(&command, start), Err(Refusal::NotAMove));
    }

    #[test]
    fn a_log_with_a_gap_or_a_second_beginning_is_no_log() {
        let start = OffsetDateTime::UNIX_EPOCH;
        let (game, created) =
            Game::create(GameId(Uuid::nil()), terms(Opponent::Open, Variant::Kalah, ""), PEOPLE[0], start);
        let joined = |seq| Event { seq, at: start, fact: Fact::Joined { seat: Seat::First, player: PEOPLE[1] } };
        assert_eq!(Game::replay(game.id, []), Err(ReplayError::NotCreated));
        assert_eq!(Game::replay(game.id, [&joined(1)]), Err(ReplayError::NotCreated));
        assert_eq!(Game::replay(game.id, [&created, &joined(3)]), Err(ReplayError::Gap { after: 1, found: 3 }));
        let again = Event { seq: 2, ..created.clone() };
        assert_eq!(Game::replay(game.id, [&created, &again]), Err(ReplayError::CreatedTwice { seq: 2 }));
    }
}
