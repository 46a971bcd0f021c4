//! What can be wrong with the text of a game, and where. Knows how to say it, and not how to find it.

use std::fmt;

use super::{BoardProblem, Location, NAME_MAX, RECORD_MOVES_MAX, RecordResult, TEXT_MAX, Termination, VALUE_MAX};
use crate::{EndReason, IllegalMove, Move, MoveList, OptionsError, ParsePositionError, UnknownWord};

/// A text is not the record of a game that could have been played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{location}: {problem}")]
pub struct ReadError {
    /// The place. Elsewhere something else may be wrong.
    pub location: Location,
    /// What is wrong there.
    pub problem: Problem,
}

/// What is wrong at a place of a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The place is the first that is not read.
    #[error("a text of more than {TEXT_MAX} bytes is not read")]
    TextTooLong,
    /// These bytes are no characters.
    #[error("here the text is not UTF-8")]
    NotUtf8,
    /// A comment or a variation goes on to the end of the text.
    #[error("what is opened here is never closed; expected `{close}`")]
    UnclosedRemark {
        /// What would close it.
        close: char,
    },
    /// A tag's value goes on to the end of its line.
    #[error("the text in quotes must end in its own line, by `\"`")]
    UnclosedText,
    /// A tag's value with a character that shows nothing.
    #[error("a tag's value has no control characters")]
    ControlCharacter,
    /// A tag's value that is longer than any that there is.
    #[error("the value of this tag has at most {VALUE_MAX} characters")]
    ValueTooLong,
    /// Not of the form of a tag.
    #[error("expected a tag such as [South \"ana\"]")]
    Tag,
    /// The same tag again.
    #[error("the tag {name} is given twice")]
    RepeatedTag {
        /// Its name.
        name: String,
    },
    /// A tag among the moves.
    #[error("tags come before the moves, and a text holds one game")]
    MisplacedTag,
    /// Nothing says which game it is.
    #[error("there is no tag [Variant \"…\"] that says which game it is")]
    NoVariant,
    /// A game that is not known.
    #[error("the variant is not known; {0}")]
    Variant(UnknownWord),
    /// A file of Oware in which another game is told.
    #[error("the file is not of Oware by the rules called abapa; expected the variant `Oware Abapa`")]
    NotAbapa,
    /// The preset, or the options that differ from it.
    #[error("{0}")]
    Options(Box<OptionsError>),
    /// The position at the beginning.
    #[error("{0}")]
    Start(#[from] ParsePositionError),
    /// The position at the beginning, in the form of another program.
    #[error("{0}")]
    Board(#[from] BoardProblem),
    /// A player's name.
    #[error("{0}")]
    Name(#[from] NameError),
    /// The value of the tag `Result`, or what stands after the moves.
    #[error("this is no result; {0}")]
    Result(UnknownWord),
    /// The same in a file of Aualé.
    #[error("this is no result; expected a score such as `28-20`, or `1-0`, `0-1`, `1/2-1/2` or `*`")]
    ResultOrScore,
    /// A score that no game can have.
    #[error("a score of this game has at most {total} seeds in all")]
    TooManySeeds {
        /// The seeds of the game.
        total: u16,
    },
    /// The value of the tag `Termination`.
    #[error("this is no reason to end; {0}")]
    Termination(UnknownWord),
    /// The result is told twice, and not alike.
    #[error("the tag says that the result is {tag}")]
    Contradiction {
        /// What the tag says.
        tag: RecordResult,
    },
    /// The score is told twice, and not alike.
    #[error("the tag says that the score is {south}-{north}")]
    ScoreContradiction {
        /// South's seeds by the tag.
        south: u16,
        /// North's seeds by the tag.
        north: u16,
    },
    /// The result or the termination is not that of the game.
    #[error("{0}")]
    Ending(#[from] EndingError),
    /// The score after the moves is not that of the game.
    #[error("the game is over with {south} seeds for South and {north} for North")]
    Score {
        /// South's seeds by the rules.
        south: u16,
        /// North's seeds by the rules.
        north: u16,
    },
    /// A move that the rules forbid.
    #[error("{0}")]
    Illegal(#[from] IllegalPly),
    /// A number that is neither that of a turn nor a result.
    #[error("expected a dot after the number of a turn")]
    Number,
    /// A plus without a number.
    #[error("expected the number of captured seeds after `+`")]
    Captured,
    /// A dollar sign without a number.
    #[error("expected the number of a mark on the move after `$`")]
    Mark,
    /// Something that no game holds.
    #[error("{0:?} is no move; expected a pit's letter, `-`, `><`, `=`, a number with a dot, a comment or the result")]
    Unexpected(char),
    /// More text after the result.
    #[error("nothing but comments may follow the result")]
    AfterResult,
    /// The place is that of the first move too many.
    #[error("a record of more than {RECORD_MOVES_MAX} moves is not read")]
    TooManyMoves,
}

impl From<OptionsError> for Problem {
    fn from(error: OptionsError) -> Self {
        Self::Options(Box::new(error))
    }
}

/// A move of a line that cannot be played there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("move {ply} cannot be {m}: {reason}{}", Legal(.legal))]
pub struct IllegalPly {
    /// Which move of the line it is, from 1.
    pub ply: usize,
    /// The move.
    pub m: Move,
    /// Why the rules forbid it.
    pub reason: IllegalMove,
    /// What could have been played; nothing if the game is over.
    pub legal: MoveList,
}

/// Shows the legal moves as a part of a sentence.
struct Legal<'a>(&'a MoveList);

impl fmt::Display for Legal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, m) in self.0.iter().enumerate() {
            let joint = if i == 0 { "; legal are" } else { "," };
            write!(f, "{joint} {m}")?;
        }
        Ok(())
    }
}

/// Why a line of moves is no record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// The position at the beginning is none that these options have.
    #[error("the game cannot start there: {0}")]
    Start(#[from] ParsePositionError),
    /// A move that the rules forbid.
    #[error("{0}")]
    Illegal(#[from] IllegalPly),
    /// Too many moves.
    #[error("a record has at most {RECORD_MOVES_MAX} moves")]
    TooManyMoves,
}

/// Why a text is not taken as the name of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Too long.
    #[error("a name has at most {NAME_MAX} characters")]
    TooLong,
    /// A line break, for example.
    #[error("a name has no control characters")]
    ControlCharacter,
}

/// Why a text is not taken as a detail of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DetailError {
    /// Too long.
    #[error("a detail of a game has at most {VALUE_MAX} characters")]
    TooLong,
    /// A line break, for example.
    #[error("a detail of a game has no control characters")]
    ControlCharacter,
}

/// Why a game cannot have ended in this way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndingError {
    /// The game is over, and this is not its result.
    #[error("the game is over by the rules, and its result is {expected}")]
    Result {
        /// The result by the rules.
        expected: RecordResult,
    },
    /// The game is over, and this is not why.
    #[error("the game is over by the rules, and the reason is {expected}")]
    Reason {
        /// The reason by the rules.
        expected: EndReason,
    },
    /// The game began where it was over; nobody could resign any more.
    #[error("the game begins where it is over, so it cannot have ended by {termination}")]
    OverFromTheStart {
        /// What is said to have ended it.
        termination: Termination,
    },
    /// The game is not over by the rules.
    #[error("the game is not over by the rules, so it cannot have ended by {reason}")]
    NotOver {
        /// What is said to have ended it.
        reason: EndReason,
    },
    /// A game that is said to have ended and to go on.
    #[error("a game that has ended by {termination} has a result other than *")]
    Undecided {
        /// What is said to have ended it.
        termination: Termination,
    },
    /// Nobody resigns without losing.
    #[error("a game that has ended by {termination} has a winner")]
    NoWinner {
        /// What is said to have ended it.
        termination: Termination,
    },
}
