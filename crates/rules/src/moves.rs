//! The moves, and how a single move is written. Does not know whether a move is legal.

use std::{fmt, str::FromStr};

use arrayvec::ArrayVec;

use super::{Direction, Pit, ROW_MAX, setup::parse_number};

/// An action; each is one ply (R0).
///
/// ```
/// use mancala_rules::{Move, Pit, Side};
///
/// let m: Move = "c".parse()?;
/// assert_eq!(m, Move::Sow(Pit { side: Side::North, index: 2 }));
/// assert_eq!(m.to_string(), "c");
/// # Ok::<(), mancala_rules::ParseMoveError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Move {
    /// Lift the seeds of this pit and sow them.
    Sow(Pit),
    /// Sow as [`Move::Sow`] does, and leave the seeds that the sowing could capture where they are (R5). Legal only
    /// where the options make a capture a choice and the sowing would capture.
    Decline(Pit),
    /// In a game with four rows: sow from this pit in this direction (R21). Bao always names the direction, Omweso only
    /// a downward one.
    SowTo {
        /// The pit.
        pit: Pit,
        /// Upward or downward.
        direction: Direction,
    },
    /// While the seeds of Omweso are arranged: put seeds of the reserve in this pit (R28).
    Place {
        /// The pit.
        pit: Pit,
        /// How many.
        seeds: u8,
    },
    /// Decline an optional extra move (R4), or stop at the house in Bao (R25).
    Pass,
    /// North's answer to the opening under the pie rule: the two players change seats (R7).
    Swap,
    /// Stop here, each side taking its own row (R8). Never listed among the legal moves: it needs the consent of both
    /// players, which the caller checks.
    Agree,
}

impl Move {
    /// The pit that it names, if it names one.
    #[must_use]
    pub const fn pit(self) -> Option<Pit> {
        match self {
            Self::Sow(pit) | Self::Decline(pit) | Self::SowTo { pit, .. } | Self::Place { pit, .. } => Some(pit),
            Self::Pass | Self::Swap | Self::Agree => None,
        }
    }

    /// Whether games with this number of rows for each side have this word (R12, R21). With one row there is no direction, no
    /// number and no pit beyond `L`; with two rows no capture is declined.
    pub(super) fn has_rows(self, rows_per_side: u8) -> bool {
        match self {
            Self::Sow(pit) => rows_per_side > 1 || usize::from(pit.index) < ROW_MAX,
            Self::Decline(pit) => rows_per_side == 1 && usize::from(pit.index) < ROW_MAX,
            Self::SowTo { .. } | Self::Place { .. } => rows_per_side > 1,
            Self::Pass | Self::Swap | Self::Agree => true,
        }
    }
}

/// The greatest number that a word can name (R21).
pub const SEEDS_WRITTEN_MAX: u8 = 99;

/// The most moves that a position can offer: the first pit to arrange can get from 0 to 32 seeds (R28). With two rows a
/// position offers every pit of a row, each perhaps with its capture declined, and a pass or a swap.
pub const MOVES_MAX: usize = 33;

/// The legal moves of a position, in the order of R4 and R21: pits ascending, then `pass`, then `swap`. For each pit, upward
/// comes before downward, fewer seeds before more, and a capture before declining it.
pub type MoveList = ArrayVec<Move, MOVES_MAX>;

/// Follows the pit whose sowing declines its capture.
pub(super) const DECLINED: char = '~';

/// The letter of the pit, alone, with `~` for a declined capture (R12), or with a direction or a number (R21). Moves
/// without a pit are `pass`, `swap` and `agree` (R12).
impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sow(pit) => pit.fmt(f),
            Self::Decline(pit) => write!(f, "{pit}{DECLINED}"),
            Self::SowTo { pit, direction } => write!(f, "{pit}{}", direction.letter(pit.side)),
            Self::Place { pit, seeds } => write!(f, "{pit}{seeds}"),
            Self::Pass => f.pad("pass"),
            Self::Swap => f.pad("swap"),
            Self::Agree => f.pad("agree"),
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
        let (letter, rest) = text.split_at_checked(1).ok_or(ParseMoveError::Any)?;
        let pit: Pit = letter.parse().map_err(|_| ParseMoveError::Any)?;
        let mut directions = Direction::ALL.into_iter();
        if rest.is_empty() {
            Ok(Self::Sow(pit))
        } else if rest.strip_prefix(DECLINED) == Some("") {
            Ok(Self::Decline(pit))
        } else if let Some(direction) = directions.find(|it| rest.strip_prefix(it.letter(pit.side)) == Some("")) {
            Ok(Self::SowTo { pit, direction })
        } else {
            let seeds = parse_number(rest).and_then(|seeds| u8::try_from(seeds).ok());
            let seeds = seeds.filter(|&seeds| seeds <= SEEDS_WRITTEN_MAX).ok_or(ParseMoveError::Any)?;
            Ok(Self::Place { pit, seeds })
        }
    }
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
