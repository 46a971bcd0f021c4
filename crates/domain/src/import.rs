//! Games that were played elsewhere, made into games with a log: every move is played again, and the end is checked.

use mancala_rules::{
    AnyOptions, AnyPosition, BySide, EndReason, Side,
    notation::{NAME_MAX, Record, RecordResult, Termination},
};
use thiserror::Error;
use time::OffsetDateTime;

use crate::{
    BySeat, Clock, Created, Event, Fact, Game, GameId, GameResult, Moved, Opponent, Played, PlayerId, PlayerName,
    PlayerNameError, Reason, Seat, Start, Terms, Visibility, game::in_microseconds, history::seat_at,
};

/// A game as its record tells it.
#[derive(Clone, Debug)]
pub struct Import {
    pub options: AnyOptions,
    /// Where it began, if not with the opening.
    pub start: Option<Start>,
    pub names: Names,
    pub begun_at: OffsetDateTime,
    pub plies: Vec<ImportedPly>,
    /// When it ended, if the record says so.
    pub ended_at: Option<OffsetDateTime>,
    /// How it ended, if the record says so: the winning side, and why.
    pub ending: Option<(Option<Side>, Option<Reason>)>,
    /// The seeds in the stores at the end, if the record says so.
    pub score: Option<BySide<u16>>,
}

/// Who played, by seat; names that are not known are `?`.
pub type Names = BySeat<String>;

/// What a record says of a ply.
#[derive(Clone, Debug)]
pub struct ImportedPly {
    pub mv: Played,
    pub at: OffsetDateTime,
    /// The position after it, in text notation, if the record says it.
    pub position: Option<String>,
    /// Where the record says it, if that is known.
    pub place: Option<Place>,
}

/// A place in a record, from 1; columns are counted in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub line: usize,
    pub column: usize,
}

/// Why a game cannot be imported, and where its record says so, if that is known.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{error}")]
pub struct Unplayable {
    pub place: Option<Place>,
    #[source]
    pub error: ImportError,
}

/// Why a game cannot have been played as its record tells it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ImportError {
    #[error("a game of more than {IMPORTED_PLIES_MAX} plies is not imported")]
    TooLong,
    #[error("{0}; in games from elsewhere, up to 100")]
    Name(#[from] PlayerNameError),
    #[error("the game ended before its last ply, or in the future")]
    EndedAt,
    #[error("a game that ends by {0} has a winner")]
    NoWinner(Reason),
    #[error("a game that ends by agreement has a winner only if the rules say so")]
    AgreedWinner,
    #[error("the stores hold {south} and {north} seeds in the end, and the record says otherwise")]
    OtherScore { south: u16, north: u16 },
    #[error("the game is over where it begins")]
    OverBeforeItBegins,
    #[error("ply {ply}: {detail}")]
    Ply { ply: u32, detail: String },
    #[error("ply {ply} leads to {expected}, and the record says otherwise")]
    OtherPosition { ply: u32, expected: String },
    #[error("ply {ply} is dated before what came before it")]
    Backwards { ply: u32 },
    #[error("ply {ply} is dated in the future")]
    InTheFuture { ply: u32 },
    #[error("by the rules the game ends otherwise than the record says")]
    OtherResult,
    #[error("the rules have not ended the game, as the record says: {0}")]
    NotEnded(EndReason),
}

impl ImportError {
    /// The ply that it is about, from 1, if it is one.
    const fn ply(&self) -> Option<u32> {
        match self {
            Self::Ply { ply, .. }
            | Self::OtherPosition { ply, .. }
            | Self::Backwards { ply }
            | Self::InTheFuture { ply } => Some(*ply),
            _ => None,
        }
    }
}

/// More plies than any game has that people play; what is taken back counts too.
pub const IMPORTED_PLIES_MAX: usize = 2_000;

/// The name of somebody whose name is not known.
const UNKNOWN: &str = "?";

impl Import {
    /// What a record tells, which says nothing of time.
    pub fn of_record(record: &Record, at: OffsetDateTime) -> Self {
        let start = (!record.begins_with_opening()).then(|| Start { position: record.start().clone(), from: None });
        let name = |seat| {
            let side = if seat_at(record.start(), Side::South) == seat { Side::South } else { Side::North };
            record.name(side).unwrap_or(UNKNOWN).to_owned()
        };
        let winner = match record.result() {
            RecordResult::South => Some(Some(Side::South)),
            RecordResult::North => Some(Some(Side::North)),
            RecordResult::Draw => Some(None),
            RecordResult::Unfinished => None,
        };
        let reason = record.termination().map(|termination| match termination {
            Termination::Rule(reason) => reason.into(),
            Termination::Resignation => Reason::Resignation,
            Termination::Timeout => Reason::Timeout,
        });
        Self {
            options: record.options(),
            start,
            names: BySeat { first: name(Seat::First), second: name(Seat::Second) },
            begun_at: at,
            plies: record.moves().iter().map(|&mv| ImportedPly::of(Played::Move(mv), at)).collect(),
            ended_at: None,
            ending: winner.map(|winner| (winner, reason)),
            score: None,
        }
    }

    /// The game with its log, as if it had been played here by these players. One that its record leaves unfinished is aborted.
    ///
    /// # Errors
    ///
    /// The rules do not allow it.
    pub fn played(
        &self,
        id: GameId,
        players: BySeat<PlayerId>,
        by: Option<PlayerId>,
        visibility: Visibility,
        now: OffsetDateTime,
    ) -> Result<(Game, Vec<Event>), ImportError> {
        for name in [&self.names.first, &self.names.second] {
            PlayerName::check(name, NAME_MAX)?;
        }
        if self.plies.len() > IMPORTED_PLIES_MAX {
            return Err(ImportError::TooLong);
        }
        let terms = Terms {
            options: self.options,
            rules_version: self.options.variant().rules_version(),
            opponent: Opponent::Imported { by },
            clock: Clock::Unlimited,
            visibility,
            creator: Seat::First,
            start: self.start.clone(),
        };
        if !terms.can_be_played() {
            return Err(ImportError::OverBeforeItBegins);
        }
        let at = in_microseconds(self.begun_at);
        let created = Fact::Created(Created { terms, player: players.first, expires_at: None });
        let mut log = Log { game: None, events: vec![], id };
        log.add(created, at);
        log.add(Fact::Joined { seat: Seat::Second, player: players.second }, at);
        // What a takeback may go back to: the position before the first ply, and after each.
        let mut positions = vec![log.game().position.clone()];
        for (ply, imported) in (1..).zip(&self.plies) {
            let at = in_microseconds(imported.at);
            if at < log.game().updated_at {
                return Err(ImportError::Backwards { ply });
            }
            if at > now {
                return Err(ImportError::InTheFuture { ply });
            }
            log.add(moved(log.game(), &positions, ply, imported.mv)?, at);
            let position = &log.game().position;
            if let Some(recorded) = &imported.position
                && position.to_string() != *recorded
            {
                return Err(ImportError::OtherPosition { ply, expected: position.to_string() });
            }
            positions.push(position.clone());
        }
        let ending = self.ending(log.game())?;
        let last = log.game().updated_at;
        let at = self.ended_at.map_or(last, in_microseconds);
        if !(last..=now.max(last)).contains(&at) {
            return Err(ImportError::EndedAt);
        }
        log.add(ending, at);
        Ok((log.game.expect("a game that was created"), log.events))
    }

    /// The place of what is wrong with it.
    pub fn unplayable(&self, error: ImportError) -> Unplayable {
        let ply = error.ply().and_then(|ply| self.plies.get(usize::try_from(ply).ok()?.checked_sub(1)?));
        Unplayable { place: ply.and_then(|ply| ply.place), error }
    }

    /// How the game ends, by the rules and by the record.
    fn ending(&self, game: &Game) -> Result<Fact, ImportError> {
        let position = &game.position;
        let board = position.board();
        let score = BySide { south: board.store(Side::South), north: board.store(Side::North) };
        let score = position.outcome().map_or(score, |outcome| outcome.score);
        if self.score.is_some_and(|told| told != score) {
            let BySide { south, north } = score;
            return Err(ImportError::OtherScore { south, north });
        }
        match (position.outcome(), self.ending) {
            (Some(outcome), told) => {
                let by_rules = outcome.reason.map_or(Reason::Unknown, Reason::from);
                let is_so = told.is_none_or(|(winner, reason)| {
                    winner == outcome.winner && reason.is_none_or(|reason| reason == by_rules)
                });
                let result = GameResult { winner: outcome.winner, reason: by_rules, score: outcome.score };
                is_so.then_some(Fact::Finished(result)).ok_or(ImportError::OtherResult)
            }
            (None, Some((_, Some(Reason::Rules(reason))))) => Err(ImportError::NotEnded(reason)),
            (None, Some((None, Some(reason @ (Reason::Resignation | Reason::Timeout))))) => {
                Err(ImportError::NoWinner(reason))
            }
            (None, Some((Some(_), Some(Reason::Agreement)))) => Err(ImportError::AgreedWinner),
            (None, Some((winner, reason))) => {
                Ok(Fact::Finished(GameResult { winner, reason: reason.unwrap_or(Reason::Unknown), score }))
            }
            (None, None) => Ok(Fact::Aborted { seat: game.seat_at(position.turn()) }),
        }
    }
}

impl ImportedPly {
    /// One of which the record says nothing else.
    pub const fn of(mv: Played, at: OffsetDateTime) -> Self {
        Self { mv, at, position: None, place: None }
    }
}

/// A ply of a game that has come so far.
fn moved(game: &Game, positions: &[AnyPosition], ply: u32, mv: Played) -> Result<Fact, ImportError> {
    let (seat, position) = match mv {
        Played::Move(mv) => {
            let seat = game.seat_at(game.position.turn());
            let played = game.position.play(mv);
            (seat, played.map_err(|illegal| ImportError::Ply { ply, detail: illegal.to_string() })?.0)
        }
        Played::Takeback { to_ply } => {
            let back = usize::try_from(to_ply).ok().and_then(|to_ply| positions.get(to_ply));
            let position = back.filter(|_| game.position.outcome().is_none()).map(AnyPosition::afresh);
            let detail = || "there is nothing to take back".to_owned();
            let position = position.ok_or_else(|| ImportError::Ply { ply, detail: detail() })?;
            (seat_at(&position, position.turn()), position)
        }
    };
    Ok(Fact::Moved(Moved { ply, seat, mv, position }))
}

/// A log that is being written.
struct Log {
    id: GameId,
    game: Option<Game>,
    events: Vec<Event>,
}

impl Log {
    fn add(&mut self, fact: Fact, at: OffsetDateTime) {
        let seq = self.game.as_ref().map_or(1, |game| game.version + 1);
        let event = Event { seq, at, fact };
        match &mut self.game {
            None => self.game = Game::replay(self.id, [&event]).ok(),
            Some(game) => game.apply(&event).expect("events come one after the other"),
        }
        self.events.push(event);
    }

    fn game(&self) -> &Game {
        self.game.as_ref().expect("the first event creates a game")
    }
}
