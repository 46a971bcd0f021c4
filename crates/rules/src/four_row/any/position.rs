//! A position of either game, for code that does not care which. Knows no rule itself.

use std::fmt;

use super::AnyOptions;
use crate::{
    Outcome, Side,
    four_row::{
        Board, Effect, House, IllegalMove, Move, MoveList, ParsePositionError, Pending, Pit, bao, omweso, setup::Setup,
    },
};

/// A position of one of the games, with its options. Either it has a legal move or the game is over (R34).
///
/// A position text holds everything that decides the future; no history is needed to restore a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AnyPosition {
    /// A position of Bao.
    Bao(bao::Position),
    /// A position of Omweso.
    Omweso(omweso::Position),
}

impl AnyPosition {
    /// The position in which a game with these options begins.
    #[must_use]
    pub fn opening(options: &AnyOptions) -> Self {
        match options {
            AnyOptions::Bao(options) => Self::Bao(bao::Position::opening(*options)),
            AnyOptions::Omweso(options) => Self::Omweso(omweso::Position::opening(*options)),
        }
    }

    /// Reads a position text (R22) and ends the game where the rules do.
    ///
    /// ```
    /// use mancala_rules::four_row::{AnyOptions, AnyPosition, Variant};
    ///
    /// let options = AnyOptions::parse(Variant::Omweso, "standard", "")?;
    /// let text = "1,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0/0,0,0,0,0,0,0,0,0,0,0,0,0,62,0,0 0-0 S - 40 1S";
    /// let position = AnyPosition::parse(&options, text)?;
    /// assert!(position.to_string().ends_with(" 0-0 S oN 40 1S"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The text is not a position text, or no game with these options has this position.
    pub fn parse(options: &AnyOptions, text: &str) -> Result<Self, ParsePositionError> {
        let setup: Setup = text.parse()?;
        match options {
            AnyOptions::Bao(options) => bao::Position::from_setup(*options, &setup).map(Self::Bao),
            AnyOptions::Omweso(options) => omweso::Position::from_setup(*options, &setup).map(Self::Omweso),
        }
    }

    /// The options of the game.
    #[must_use]
    pub const fn options(&self) -> AnyOptions {
        match self {
            Self::Bao(position) => AnyOptions::Bao(position.options()),
            Self::Omweso(position) => AnyOptions::Omweso(position.options()),
        }
    }

    /// The seeds and marks of the board.
    #[must_use]
    pub const fn board(&self) -> &Board {
        match self {
            Self::Bao(position) => position.board(),
            Self::Omweso(position) => position.board(),
        }
    }

    /// The house of this side; `None` in a game without houses (R24).
    #[must_use]
    pub fn house(&self, side: Side) -> Option<House> {
        match self {
            Self::Bao(position) => position.house_of(side),
            Self::Omweso(_) => None,
        }
    }

    /// The side to move; once the game is over, the side that R31 names.
    #[must_use]
    pub const fn turn(&self) -> Side {
        match self {
            Self::Bao(position) => position.turn(),
            Self::Omweso(position) => position.turn(),
        }
    }

    /// How many actions were played so far.
    #[must_use]
    pub const fn plies(&self) -> u32 {
        match self {
            Self::Bao(position) => position.plies(),
            Self::Omweso(position) => position.plies(),
        }
    }

    /// The same position, as if no action had been played.
    #[must_use]
    pub const fn without_plies(self) -> Self {
        match self {
            Self::Bao(position) => Self::Bao(position.without_plies()),
            Self::Omweso(position) => Self::Omweso(position.without_plies()),
        }
    }

    /// The result, once the game is over (R31).
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        match self {
            Self::Bao(position) => position.outcome(),
            Self::Omweso(position) => position.outcome(),
        }
    }

    /// The pending choice of the side to move inside a turn, if any (R23).
    #[must_use]
    pub fn pending(&self) -> Option<Pending> {
        match self {
            Self::Bao(position) => position.pending(),
            Self::Omweso(position) => position.pending(),
        }
    }

    /// The next pit to be filled, while the side to move arranges its seeds (R28).
    #[must_use]
    pub const fn arranging(&self) -> Option<Pit> {
        match self {
            Self::Bao(_) => None,
            Self::Omweso(position) => position.arranging(),
        }
    }

    /// The legal moves, in the order of R21.
    #[must_use]
    pub fn legal_moves(&self) -> MoveList {
        match self {
            Self::Bao(position) => position.legal_moves(),
            Self::Omweso(position) => position.legal_moves(),
        }
    }

    /// Plays a move. Returns the position after it, and its effects in order.
    ///
    /// # Errors
    ///
    /// The move is not legal here.
    pub fn play(&self, m: Move) -> Result<(Self, Vec<Effect>), IllegalMove> {
        match self {
            Self::Bao(position) => position.play(m).map(|(next, effects)| (Self::Bao(next), effects)),
            Self::Omweso(position) => position.play(m).map(|(next, effects)| (Self::Omweso(next), effects)),
        }
    }

    /// Plays a legal move in place. Any other move does not panic, but leaves a position that no game has.
    pub fn play_unchecked(&mut self, m: Move) {
        match self {
            Self::Bao(position) => position.play_unchecked(m),
            Self::Omweso(position) => position.play_unchecked(m),
        }
    }
}

/// The position text (R22).
impl fmt::Display for AnyPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bao(position) => position.fmt(f),
            Self::Omweso(position) => position.fmt(f),
        }
    }
}
