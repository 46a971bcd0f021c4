//! What a player can do, and how a single move is written. Knows nothing of whether a move is legal.

use std::{fmt, str::FromStr};

use arrayvec::ArrayVec;

use super::{PITS_MAX, Pit};

/// One action; each is one ply (R0).
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
    /// Decline an optional extra move (R4).
    Pass,
    /// North's answer to the opening under the pie rule: the two players change seats (R7).
    Swap,
    /// Stop here, each side taking its own row (R8). Never listed among the legal moves: it needs the consent of both
    /// players, which the caller checks.
    Agree,
}

/// The most moves that a position can offer: every pit of a row and a pass, or every pit and a swap. A pass needs an
/// extra move and a swap needs North's first choice, so a position never offers both (R4).
pub const MOVES_MAX: usize = PITS_MAX + 1;

/// The legal moves of a position, in the order of R4: pits ascending, then `pass`, then `swap`.
pub type MoveList = ArrayVec<Move, MOVES_MAX>;

/// The letter of the pit, `pass`, `swap` or `agree` (R12).
impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sow(pit) => pit.fmt(f),
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
            "pass" => Ok(Self::Pass),
            "swap" => Ok(Self::Swap),
            "agree" => Ok(Self::Agree),
            _ => text.parse().map(Self::Sow).map_err(|_| ParseMoveError),
        }
    }
}

/// A text is not a move in any position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a move is one letter from A to L or from a to l, or one of the words `pass`, `swap` and `agree`")]
pub struct ParseMoveError;
