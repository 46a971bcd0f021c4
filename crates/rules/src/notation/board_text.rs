//! The common parts of one-line boards of other programs: seed counts between marks. Knows how to read them, not where on the board they
//! belong.

use std::fmt::Write;

use crate::{AnyOptions, AnyPosition, BySide, ParsePositionError, ROW_MAX, SEEDS_MAX, Side};

/// Why a text is not the board of another program, or not one that the options allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {problem}")]
pub struct ParseBoardError {
    /// The first character at which something is wrong, from 1.
    pub column: usize,
    /// The problem there.
    pub problem: BoardProblem,
}

/// A problem at a place of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BoardProblem {
    /// The form does not cover the game or board of the options.
    #[error("boards of this form are of {0} only")]
    OtherGame(&'static str),
    /// An unexpected character, or the end of the text.
    #[error("expected {0}")]
    Expected(&'static str),
    /// The board has another number of pits than the options.
    #[error("the board must have {expected} pits a side")]
    Pits {
        /// Pits per side by the options.
        expected: u8,
    },
    /// No game with these options has this board.
    #[error("{0}")]
    Position(ParsePositionError),
}

/// A board text and how far it has been read.
#[derive(Debug)]
pub(super) struct BoardText<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> BoardText<'a> {
    /// The text without leading and trailing blanks.
    pub fn new(text: &'a str) -> Self {
        let at = text.len() - text.trim_start().len();
        Self { text: text.trim_end(), at }
    }

    /// Reads a mark between numbers; the error calls it `name`.
    pub fn mark(&mut self, mark: char, name: &'static str) -> Result<(), ParseBoardError> {
        if self.rest().starts_with(mark) {
            self.at += mark.len_utf8();
            Ok(())
        } else {
            Err(self.error(BoardProblem::Expected(name)))
        }
    }

    /// Reads a number of seeds: digits only, no sign, no leading zero.
    pub fn seeds(&mut self) -> Result<u16, ParseBoardError> {
        let rest = self.rest();
        let length = rest.bytes().take_while(u8::is_ascii_digit).count();
        let digits = rest.get(..length).unwrap_or_default();
        let leading_zero = length > 1 && digits.starts_with('0');
        let seeds = digits.parse().ok().filter(|&seeds| seeds <= SEEDS_MAX && !leading_zero);
        let seeds = seeds.ok_or_else(|| self.error(BoardProblem::Expected(SEEDS)))?;
        self.at += length;
        Ok(seeds)
    }

    /// Checks that the whole text has been read.
    pub fn end(&self) -> Result<(), ParseBoardError> {
        if self.rest().is_empty() { Ok(()) } else { Err(self.error(BoardProblem::Expected("nothing more"))) }
    }

    /// An error at the next character.
    pub fn error(&self, problem: BoardProblem) -> ParseBoardError {
        let read = self.text.get(..self.at).unwrap_or(self.text);
        ParseBoardError { column: read.chars().count() + 1, problem }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }
}

/// The values of a count. The number is that of [`SEEDS_MAX`], which a constant text cannot format.
const SEEDS: &str = "a number of seeds from 0 to 288, without sign or leading zero";

/// The seeds of a board.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub rows: BySide<arrayvec::ArrayVec<u16, ROW_MAX>>,
    pub stores: BySide<u16>,
}

impl Counts {
    /// The position with these seeds at the start of a game: no plies, no flags, and ended where the rules end it.
    pub fn position(&self, options: &AnyOptions, turn: Side) -> Result<AnyPosition, ParseBoardError> {
        let row = |side| {
            let mut text = String::new();
            for (i, seeds) in self.rows[side].iter().enumerate() {
                let comma = if i == 0 { "" } else { "," };
                // Writing to a `String` cannot fail.
                let _ = write!(text, "{comma}{seeds}");
            }
            text
        };
        let BySide { south, north } = self.stores;
        let rows = format!("{}/{}", row(Side::South), row(Side::North));
        AnyPosition::parse(options, &format!("{rows} {south}-{north} {} - 0 1S", turn.letter()))
            .map_err(|error| ParseBoardError { column: 1, problem: BoardProblem::Position(error) })
    }
}
