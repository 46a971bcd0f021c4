//! The problems of the text of a game, and their places. Knows the message of each problem, not how to find it.

use std::fmt;

use super::{BoardProblem, Location, NAME_MAX, RECORD_MOVES_MAX, RecordResult, TEXT_MAX, Termination, VALUE_MAX};
use crate::{EndReason, IllegalMove, Move, OptionsError, ParseMoveError, ParsePositionError, UnknownWord};

/// A text is not the record of a legal game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{location}: {problem}")]
pub struct ReadError {
    /// The first place with a problem. Other places may have more.
    pub location: Location,
    /// The problem there.
    pub problem: Problem,
}

/// A problem at a place of a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The text is too long. The place is the first character that is not read.
    #[error("a text of more than {TEXT_MAX} bytes is not read")]
    TextTooLong,
    /// The bytes at this place are not UTF-8.
    #[error("here the text is not UTF-8")]
    NotUtf8,
    /// A comment or a variation has no closing mark.
    #[error("what is opened here is never closed; expected `{close}`")]
    UnclosedRemark {
        /// The closing mark.
        close: char,
    },
    /// A tag's value has no closing quote in its line.
    #[error("the text in quotes must end in its own line, by `\"`")]
    UnclosedText,
    /// A tag's value has a control character.
    #[error("a tag's value has no control characters")]
    ControlCharacter,
    /// A tag's value is too long.
    #[error("the value of this tag has at most {VALUE_MAX} characters")]
    ValueTooLong,
    /// The text does not have the form of a tag.
    #[error("expected a tag such as [South \"ana\"]")]
    Tag,
    /// The same tag comes twice.
    #[error("the tag {name} is given twice")]
    RepeatedTag {
        /// Its name.
        name: String,
    },
    /// A tag comes among the moves.
    #[error("tags come before the moves, and a text holds one game")]
    MisplacedTag,
    /// The tag `Variant` is missing.
    #[error("there is no tag [Variant \"…\"] that says which game it is")]
    NoVariant,
    /// The variant is unknown.
    #[error("the variant is not known; {0}")]
    Variant(UnknownWord),
    /// A file of Aualé names another game.
    #[error("the file is not of Oware by the rules called abapa; expected the variant `Oware Abapa`")]
    NotAbapa,
    /// The preset or the options are refused.
    #[error("{0}")]
    Options(Box<OptionsError>),
    /// The position at the start is refused.
    #[error("{0}")]
    Start(#[from] ParsePositionError),
    /// The position at the start, in the form of another program, is refused.
    #[error("{0}")]
    Board(#[from] BoardProblem),
    /// A player's name is refused.
    #[error("{0}")]
    Name(#[from] NameError),
    /// The value of the tag `Result`, or the text after the moves, is not a result.
    #[error("this is no result; {0}")]
    Result(UnknownWord),
    /// In a file of Aualé, that text is neither a result nor a score.
    #[error("this is no result; expected a score such as `28-20`, or `1-0`, `0-1`, `1/2-1/2` or `*`")]
    ResultOrScore,
    /// The score has more seeds than the game.
    #[error("a score of this game has at most {total} seeds in all")]
    TooManySeeds {
        /// The seeds of the game.
        total: u16,
    },
    /// The result after the moves differs from that of the tag.
    #[error("the tag says that the result is {tag}")]
    Contradiction {
        /// The result of the tag.
        tag: RecordResult,
    },
    /// The score after the moves differs from that of the tag.
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
    /// The score is not that of the finished game.
    #[error("the game is over with {south} seeds for South and {north} for North")]
    Score {
        /// South's seeds by the rules.
        south: u16,
        /// North's seeds by the rules.
        north: u16,
    },
    /// The rules forbid a move.
    #[error("{0}")]
    Illegal(#[from] IllegalPly),
    /// A number is neither the number of a turn nor a result.
    #[error("expected a dot after the number of a turn")]
    Number,
    /// A plus has no number.
    #[error("expected the number of captured seeds after `+`")]
    Captured,
    /// A dollar sign has no number.
    #[error("expected the number of a mark on the move after `$`")]
    Mark,
    /// With four rows: the number after a pit's letter is not one that a move can name.
    #[error("{0}")]
    Move(ParseMoveError),
    /// A character that has no meaning here.
    #[error("{0:?} is no move; expected a pit's letter, `-`, `><`, `=`, a number with a dot, a comment or the result")]
    Unexpected(char),
    /// Text other than comments follows the result.
    #[error("nothing but comments may follow the result")]
    AfterResult,
    /// The record has too many moves. The place is that of the first one beyond the bound.
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
    /// Why the rules forbid the move.
    pub reason: IllegalMove,
    /// The legal moves instead; empty if the game is over.
    pub legal: Vec<Move>,
}

/// Shows the legal moves as a part of a sentence.
struct Legal<'a>(&'a [Move]);

impl fmt::Display for Legal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, m) in self.0.iter().enumerate() {
            let joint = if i == 0 { "; legal are" } else { "," };
            write!(f, "{joint} {m}")?;
        }
        Ok(())
    }
}

/// Why a line of moves is not a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// No game with these options has the position at the start.
    #[error("the game cannot start there: {0}")]
    Start(#[from] ParsePositionError),
    /// The rules forbid a move.
    #[error("{0}")]
    Illegal(#[from] IllegalPly),
    /// There are more than [`RECORD_MOVES_MAX`] moves.
    #[error("a record has at most {RECORD_MOVES_MAX} moves")]
    TooManyMoves,
}

/// Why a text is refused as the name of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The name has more than [`NAME_MAX`] characters.
    #[error("a name has at most {NAME_MAX} characters")]
    TooLong,
    /// The name has a control character, such as a line break.
    #[error("a name has no control characters")]
    ControlCharacter,
}

/// Why a text is refused as a detail of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DetailError {
    /// The detail has more than [`VALUE_MAX`] characters.
    #[error("a detail of a game has at most {VALUE_MAX} characters")]
    TooLong,
    /// The detail has a control character, such as a line break.
    #[error("a detail of a game has no control characters")]
    ControlCharacter,
}

/// Why a game cannot have this result or termination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndingError {
    /// The game is over by the rules with another result.
    #[error("the game is over by the rules, and its result is {expected}")]
    Result {
        /// The result by the rules.
        expected: RecordResult,
    },
    /// The game is over by the rules for another reason.
    #[error("the game is over by the rules, and the reason is {expected}")]
    Reason {
        /// The reason by the rules.
        expected: EndReason,
    },
    /// The game begins where it is over, so that neither side could resign or run out of time.
    #[error("the game begins where it is over, so it cannot have ended by {termination}")]
    OverFromTheStart {
        /// The refused termination.
        termination: Termination,
    },
    /// The game is not over by the rules.
    #[error("the game is not over by the rules, so it cannot have ended by {reason}")]
    NotOver {
        /// The refused reason.
        reason: EndReason,
    },
    /// The game has a termination but no result.
    #[error("a game that has ended by {termination} has a result other than *")]
    Undecided {
        /// The refused termination.
        termination: Termination,
    },
    /// A resignation or a timeout leaves one side as the winner, so it cannot end in a draw.
    #[error("a game that has ended by {termination} has a winner")]
    NoWinner {
        /// The refused termination.
        termination: Termination,
    },
}
