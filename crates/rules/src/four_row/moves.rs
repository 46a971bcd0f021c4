//! The words of moves (R21). Knows how a move is written, and nothing of whether it is legal.

use std::{fmt, str::FromStr};

use arrayvec::ArrayVec;

use super::{Direction, Pit};
use crate::Side;

/// An action; each is one ply (R23).
///
/// ```
/// use mancala_rules::four_row::{Direction, Move};
///
/// let m: Move = "cv".parse()?;
/// assert_eq!(m, Move::Sow { pit: "c".parse()?, direction: Some(Direction::Down) });
/// assert_eq!("C12".parse(), Ok(Move::Place { pit: "C".parse()?, seeds: 12 }));
/// assert!("Cv".parse::<Move>().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Move {
    /// Sow from this pit, or continue from it.
    Sow {
        /// The pit.
        pit: Pit,
        /// Bao always names the direction, Omweso only a downward one.
        direction: Option<Direction>,
    },
    /// Arranging in Omweso: put seeds of the reserve in this pit (R28).
    Place {
        /// The pit.
        pit: Pit,
        /// How many, at most [`SEEDS_WRITTEN_MAX`].
        seeds: u8,
    },
    /// Stop at the house in Bao (R25).
    Pass,
    /// Legal in no position, because the two games have no pie rule.
    Swap,
    /// Legal in no position, because the two games have no agreed end.
    Agree,
}

/// The greatest number that a word can name (R21).
pub const SEEDS_WRITTEN_MAX: u8 = 99;

/// The most moves that a position can offer: the first pit to arrange can get from 0 to 32 seeds.
pub const MOVES_MAX: usize = 33;

/// The legal moves of a position, in the order of R21: pits ascending, upward before downward, numbers ascending, then
/// `pass`.
pub type MoveList = ArrayVec<Move, MOVES_MAX>;

/// The word of the move (R21).
impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sow { pit, direction: None } => write!(f, "{pit}"),
            Self::Sow { pit, direction: Some(direction) } => write!(f, "{pit}{}", direction.letter(pit.side())),
            Self::Place { pit, seeds } => write!(f, "{pit}{seeds}"),
            Self::Pass => f.write_str("pass"),
            Self::Swap => f.write_str("swap"),
            Self::Agree => f.write_str("agree"),
        }
    }
}

impl FromStr for Move {
    type Err = ParseMoveError;

    fn from_str(text: &str) -> Result<Self, ParseMoveError> {
        match text {
            "pass" => return Ok(Self::Pass),
            "swap" => return Ok(Self::Swap),
            "agree" => return Ok(Self::Agree),
            _ => {}
        }
        let (pit, rest) = text.split_at_checked(1).ok_or(ParseMoveError::TwoRows)?;
        let pit: Pit = pit.parse().map_err(|_| ParseMoveError::TwoRows)?;
        if rest.is_empty() {
            return Ok(Self::Sow { pit, direction: None });
        }
        if let Some(direction) = parse_direction(rest, pit.side()) {
            return Ok(Self::Sow { pit, direction: Some(direction) });
        }
        let seeds = parse_number(rest).and_then(|seeds| u8::try_from(seeds).ok());
        let seeds = seeds.filter(|&seeds| seeds <= SEEDS_WRITTEN_MAX).ok_or(ParseMoveError::TwoRows)?;
        Ok(Self::Place { pit, seeds })
    }
}

/// Reads `U` or `V` in the case of the side.
pub(super) fn parse_direction(text: &str, side: Side) -> Option<Direction> {
    Direction::ALL.into_iter().find(|direction| text.strip_prefix(direction.letter(side)) == Some(""))
}

/// Digits only: no sign, no leading zero.
pub(super) fn parse_number(text: &str) -> Option<u32> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let leading_zero = text.len() > 1 && text.starts_with('0');
    if digits && !leading_zero { text.parse().ok() } else { None }
}

/// A text is not a move in any position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseMoveError {
    /// A move of a game with one row for each side.
    #[error("a move is a letter from A to L or from a to l, alone or with ~, or one of the words `pass` and `swap`")]
    OneRow,
    /// A move of a game with two rows for each side.
    #[error(
        "a move is a letter from A to P or from a to p, alone, with U or V in the same case, or with a number from 0 to \
         {SEEDS_WRITTEN_MAX}; or the word `pass`"
    )]
    TwoRows,
    /// A move of any game.
    #[error(
        "a move is a letter from A to P or from a to p, alone, with ~, with U or V in the same case, or with a number \
         from 0 to {SEEDS_WRITTEN_MAX}; or one of the words `pass`, `swap` and `agree`"
    )]
    Any,
}

impl ParseMoveError {
    /// The error for text that is no move in a game with this number of rows per side.
    #[must_use]
    pub const fn of_rows(rows_per_side: u8) -> Self {
        if rows_per_side == 1 { Self::OneRow } else { Self::TwoRows }
    }
}
