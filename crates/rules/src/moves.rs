//! The moves, and how a single move is written. Does not know whether a move is legal.

use std::{fmt, str::FromStr};

use arrayvec::ArrayVec;

use super::{
    Pit, ROW_MAX,
    four_row::{self, Direction, ParseMoveError},
};

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

    /// Whether games with two rows have this word: no direction, no number, and no pit beyond `L` (R12).
    pub(super) fn has_two_rows(self) -> bool {
        match self {
            Self::Sow(pit) | Self::Decline(pit) => usize::from(pit.index) < ROW_MAX,
            Self::SowTo { .. } | Self::Place { .. } => false,
            Self::Pass | Self::Swap | Self::Agree => true,
        }
    }
}

/// The most moves that a position can offer: those of a game with four rows. With two rows it offers every pit of a row,
/// each perhaps with its capture declined, and a pass or a swap. A pass needs an extra move and a swap needs North's
/// first choice, so a position never offers both (R4).
pub const MOVES_MAX: usize = four_row::MOVES_MAX;

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
        match text.strip_suffix(DECLINED) {
            Some(pit) => pit.parse().map(Self::Decline).map_err(|_| ParseMoveError::Any),
            None => text.parse::<four_row::Move>().map(Self::from).map_err(|_| ParseMoveError::Any),
        }
    }
}

impl From<four_row::Move> for Move {
    fn from(m: four_row::Move) -> Self {
        match m {
            four_row::Move::Sow { pit, direction: None } => Self::Sow(pit.into()),
            four_row::Move::Sow { pit, direction: Some(direction) } => Self::SowTo { pit: pit.into(), direction },
            four_row::Move::Place { pit, seeds } => Self::Place { pit: pit.into(), seeds },
            four_row::Move::Pass => Self::Pass,
            four_row::Move::Swap => Self::Swap,
            four_row::Move::Agree => Self::Agree,
        }
    }
}

impl From<four_row::Pit> for Pit {
    fn from(pit: four_row::Pit) -> Self {
        Self { side: pit.side(), index: pit.index() }
    }
}
