//! Imports: games that were played elsewhere, made into games with a log. Every move is played again, and the end is
//! checked.
//!
//! Knows what a record says, not in which format it was written.

use mancala_rules::{
    AnyOptions, AnyPosition, BySide, EndReason, Side,
    notation::{NAME_MAX, Record, RecordResult, Termination},
};
use thiserror::Error;
use time::{Duration, OffsetDateTime};

use crate::{
    BySeat, Clock, Event, Fact, Game, GameId, GameResult, Moved, Opponent, PLIES_MAX, PlayerId, PlayerName,
    PlayerNameError, PlyAction, Reason, Seat, Start, Terms, Visibility, game::in_microseconds, seat::seat_at,
};

/// A game as its record describes it.
#[derive(Clone, Debug)]
pub struct Import {
    /// Variant, preset and options.
    pub options: AnyOptions,
    /// Where it began, unless with the opening.
    pub start: Option<Start>,
    /// The names of the players; an unknown name is `?`.
    pub names: BySeat<String>,
    /// When it began.
    pub begun_at: OffsetDateTime,
    /// Its plies, in order.
    pub plies: Vec<ImportedPly>,
    /// When it ended, if the record has the time.
    pub ended_at: Option<OffsetDateTime>,
    /// How it ended, if the record has it: the winning side, and the reason.
    pub ending: Option<(Option<Side>, Option<Reason>)>,
    /// The seeds in the stores at the end, if the record has them.
    pub score: Option<BySide<u16>>,
    /// Whether it was practice against the computer.
    pub is_practice: bool,
}

/// A ply of an imported record.
#[derive(Clone, Debug)]
pub struct ImportedPly {
    /// The played move.
    pub mv: PlyAction,
    /// When it was played.
    pub at: OffsetDateTime,
    /// The position after it, in text notation, if the record has it.
    pub position: Option<String>,
    /// The place of the ply in the record, if it is known.
    pub location: Option<TextLocation>,
}

/// A location in the text of a record. Lines and columns count from 1; columns are characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextLocation {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// Why a game is not imported, and where in its record the cause stands, if that is known.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{error}")]
pub struct ImportRejection {
    /// The place in the record.
    pub location: Option<TextLocation>,
    /// The cause.
    #[source]
    pub error: ImportError,
}

/// Why a game cannot have been played as its record describes it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ImportError {
    /// The game has too many plies.
    #[error("a game of more than {PLIES_MAX} plies is not imported")]
    TooLong,
    /// A name is not one of a player.
    #[error("{0}; in games from elsewhere, up to 100")]
    Name(#[from] PlayerNameError),
    /// The date of its end cannot be.
    #[error("the game ended before its last ply, or in the future")]
    EndedAt,
    /// A game that ends for this reason has a winner, and the record names none.
    #[error("a game that ends by {0} has a winner")]
    NoWinner(Reason),
    /// The record names a winner of a game that ended by agreement.
    #[error("a game that ends by agreement has a winner only if the rules say so")]
    AgreedWinner,
    /// The stores hold other seeds than the record says.
    #[error("the stores hold {south} and {north} seeds in the end, and the record says otherwise")]
    OtherScore {
        /// The seeds in South's store.
        south: u16,
        /// The seeds in North's store.
        north: u16,
    },
    /// The rules allow no first move.
    #[error("the game is over where it begins")]
    OverBeforeItBegins,
    /// A ply cannot be played.
    #[error("ply {ply}: {detail}")]
    Ply {
        /// Its number.
        ply: u32,
        /// The cause.
        detail: String,
    },
    /// A ply leads to another position than the record says.
    #[error("ply {ply} leads to {expected}, and the record says otherwise")]
    OtherPosition {
        /// Its number.
        ply: u32,
        /// The position that it leads to.
        expected: String,
    },
    /// A ply is older than its predecessor.
    #[error("ply {ply} is dated before what came before it")]
    Backwards {
        /// Its number.
        ply: u32,
    },
    /// A ply is dated in the future.
    #[error("ply {ply} is dated in the future")]
    InTheFuture {
        /// Its number.
        ply: u32,
    },
    /// The record says that the game was too long to go on.
    #[error("only a draw after {PLIES_MAX} plies ends by `ply_limit`")]
    NoPlyLimit,
    /// The rules give the game another result than the record.
    #[error("by the rules the game ends otherwise than the record says")]
    OtherResult,
    /// The record says that the rules ended it, and they did not.
    #[error("the rules have not ended the game, as the record says: {0}")]
    NotEnded(EndReason),
}

impl ImportError {
    /// The number of the ply with the error; `None` if no single ply has it.
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

/// The text that replaces an unknown name.
const UNKNOWN: &str = "?";

impl Import {
    /// The import of a record, which holds no times: all of it happened at `at`.
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
            plies: record.moves().iter().map(|&mv| ImportedPly::of(PlyAction::Move(mv), at)).collect(),
            ended_at: None,
            ending: winner.map(|winner| (winner, reason)),
            score: None,
            is_practice: record.is_practice(),
        }
    }

    /// The game with its log, as if these players had played it here. A game that its record leaves unfinished is
    /// aborted.
    ///
    /// # Errors
    ///
    /// The rules do not allow it.
    pub fn replay(
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
        if self.plies.len() > PLIES_MAX as usize {
            return Err(ImportError::TooLong);
        }
        let terms = self.terms(by, visibility);
        if !terms.can_be_played() {
            return Err(ImportError::OverBeforeItBegins);
        }
        // An imported game never expires.
        let (game, created) = Game::create(id, terms, players.first, Duration::ZERO, self.begun_at);
        let mut log = Log { game, events: vec![created] };
        log.add(Fact::Joined { seat: Seat::Second, player: players.second }, log.game.updated_at());
        self.replay_plies(&mut log, now)?;
        let ending = self.ending(&log.game)?;
        let last = log.game.updated_at();
        let at = self.ended_at.map_or(last, in_microseconds);
        if !(last..=now.max(last)).contains(&at) {
            return Err(ImportError::EndedAt);
        }
        log.add(ending, at);
        Ok((log.game, log.events))
    }

    /// Adds to an error where in the record its cause stands.
    pub fn rejection(&self, error: ImportError) -> ImportRejection {
        let ply = error.ply().and_then(|ply| self.plies.get(usize::try_from(ply).ok()?.checked_sub(1)?));
        ImportRejection { location: ply.and_then(|ply| ply.location), error }
    }

    fn terms(&self, by: Option<PlayerId>, visibility: Visibility) -> Terms {
        Terms {
            options: self.options,
            rules_version: self.options.variant().rules_version(),
            opponent: Opponent::Imported { by },
            clock: Clock::Unlimited,
            visibility,
            creator: Seat::First,
            start: self.start.clone(),
            is_practice: self.is_practice,
        }
    }

    fn replay_plies(&self, log: &mut Log, now: OffsetDateTime) -> Result<(), ImportError> {
        // The positions to which a takeback may return: the one before the first ply, and those after each ply.
        let mut positions = vec![log.game.position().clone()];
        for (ply, imported) in (1..).zip(&self.plies) {
            let at = in_microseconds(imported.at);
            if at < log.game.updated_at() {
                return Err(ImportError::Backwards { ply });
            }
            if at > now {
                return Err(ImportError::InTheFuture { ply });
            }
            log.add(moved(&log.game, &positions, ply, imported.mv)?, at);
            let position = log.game.position();
            if let Some(recorded) = &imported.position
                && position.to_string() != *recorded
            {
                return Err(ImportError::OtherPosition { ply, expected: position.to_string() });
            }
            positions.push(position.clone());
        }
        Ok(())
    }

    /// How the game ends, by the rules and by the record.
    fn ending(&self, game: &Game) -> Result<Fact, ImportError> {
        let position = game.position();
        let score = position.outcome().map_or_else(|| game.score(), |outcome| outcome.score);
        if self.score.is_some_and(|recorded| recorded != score) {
            let BySide { south, north } = score;
            return Err(ImportError::OtherScore { south, north });
        }
        match (position.outcome(), self.ending) {
            (Some(outcome), recorded) => {
                let by_rules = outcome.reason.map_or(Reason::Unknown, Reason::from);
                let is_so = recorded.is_none_or(|(winner, reason)| {
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
            (None, Some((winner, Some(Reason::PlyLimit)))) if winner.is_some() || game.ply() < PLIES_MAX => {
                Err(ImportError::NoPlyLimit)
            }
            (None, Some((winner, reason))) => {
                Ok(Fact::Finished(GameResult { winner, reason: reason.unwrap_or(Reason::Unknown), score }))
            }
            (None, None) => Ok(Fact::Aborted { seat: game.seat_at(position.turn()) }),
        }
    }
}

impl ImportedPly {
    /// A ply of which the record says nothing else.
    pub const fn of(mv: PlyAction, at: OffsetDateTime) -> Self {
        Self { mv, at, position: None, location: None }
    }
}

/// The next ply of a game, whose plies led to these positions.
fn moved(game: &Game, positions: &[AnyPosition], ply: u32, mv: PlyAction) -> Result<Fact, ImportError> {
    let (seat, position) = match mv {
        PlyAction::Move(mv) => {
            let seat = game.seat_at(game.position().turn());
            let played = game.position().play(mv);
            (seat, played.map_err(|illegal| ImportError::Ply { ply, detail: illegal.to_string() })?.0)
        }
        PlyAction::Takeback { to_ply, .. } => {
            let back = usize::try_from(to_ply).ok().and_then(|to_ply| positions.get(to_ply));
            let position = back.filter(|_| game.position().outcome().is_none()).map(AnyPosition::afresh);
            let detail = || "there is nothing to take back".to_owned();
            let position = position.ok_or_else(|| ImportError::Ply { ply, detail: detail() })?;
            (seat_at(&position, position.turn()), position)
        }
    };
    Ok(Fact::Moved(Moved { ply, seat, mv, position }))
}

/// A log that is being written, and its fold.
struct Log {
    game: Game,
    events: Vec<Event>,
}

impl Log {
    fn add(&mut self, fact: Fact, at: OffsetDateTime) {
        let event = Event { seq: self.game.version() + 1, at, fact };
        self.game.apply(&event).expect("the event's `seq` is the next one");
        self.events.push(event);
    }
}
