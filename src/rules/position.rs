//! A position of any of the games, for those who do not care which. Knows no rule itself.

use std::fmt;

use super::{AnyOptions, Board, Effect, Move, MoveList, Outcome, ParsePositionError, Pit, Side, kalah};

/// A position of one of the games, with the options that it is played under. Always one that can be played on or is
/// over; never both (R13).
///
/// Two are equal if everything about them is: options, seeds, turn, flags, plies and the reason of an end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AnyPosition {
    /// A position of Kalah.
    Kalah(kalah::Position),
}

impl AnyPosition {
    /// The position in which a game with these options begins.
    #[must_use]
    pub fn opening(options: &AnyOptions) -> Self {
        match options {
            AnyOptions::Kalah(options) => Self::Kalah(kalah::Position::opening(*options)),
        }
    }

    /// Reads a position string (R12). What the rules end is ended: a hand-made position in which the game is over comes
    /// back swept and flagged `o` (R8).
    ///
    /// ```
    /// use mancala_server::rules::{AnyOptions, AnyPosition, Variant};
    ///
    /// let options = AnyOptions::parse(Variant::Kalah, "standard", "")?;
    /// let position = AnyPosition::parse(&options, "0,0,0,0,0,0/0,2,0,0,3,0 21-22 N - 40 1S")?;
    /// assert_eq!(position.to_string(), "0,0,0,0,0,0/0,0,0,0,0,0 21-27 N o 40 1S");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A text that is not a position string, or a position that no game with these options has.
    pub fn parse(options: &AnyOptions, text: &str) -> Result<Self, ParsePositionError> {
        let setup = text.parse()?;
        match options {
            AnyOptions::Kalah(options) => kalah::Position::from_setup(*options, &setup).map(Self::Kalah),
        }
    }

    /// Reads a position string as [`AnyPosition::parse`] does, but lets it hold any number of seeds up to
    /// [`SEEDS_MAX`](super::SEEDS_MAX): for made-up positions on a board where seeds were put or taken away. All seeds
    /// in the game are then those of the position.
    ///
    /// # Errors
    ///
    /// As [`AnyPosition::parse`], save that the total need not be that of the options.
    pub fn parse_with_any_total(options: &AnyOptions, text: &str) -> Result<Self, ParsePositionError> {
        let setup = text.parse()?;
        match options {
            AnyOptions::Kalah(options) => kalah::Position::from_setup_with_any_total(*options, &setup).map(Self::Kalah),
        }
    }

    /// The options that it is played under.
    #[must_use]
    pub fn options(&self) -> AnyOptions {
        match self {
            Self::Kalah(position) => AnyOptions::Kalah(position.options()),
        }
    }

    /// The seeds.
    #[must_use]
    pub fn board(&self) -> Board {
        match self {
            Self::Kalah(position) => *position.board(),
        }
    }

    /// The side to move; once the game is over, the side to move when that was noticed (R8).
    #[must_use]
    pub fn turn(&self) -> Side {
        match self {
            Self::Kalah(position) => position.turn(),
        }
    }

    /// Actions so far.
    #[must_use]
    pub fn plies(&self) -> u32 {
        match self {
            Self::Kalah(position) => position.plies(),
        }
    }

    /// Whether the people have changed seats (R7).
    #[must_use]
    pub fn swapped(&self) -> bool {
        match self {
            Self::Kalah(position) => position.swapped(),
        }
    }

    /// What the side to move may do, in the order of R4; empty when the game is over, and only then.
    #[must_use]
    pub fn legal_moves(&self) -> MoveList {
        match self {
            Self::Kalah(position) => position.legal_moves(),
        }
    }

    /// The position after a move, and what happened in between, in order.
    ///
    /// # Errors
    ///
    /// The move is not legal here.
    pub fn play(&self, m: Move) -> Result<(Self, Vec<Effect>), IllegalMove> {
        match self {
            Self::Kalah(position) => position.play(m).map(|(next, effects)| (Self::Kalah(next), effects)),
        }
    }

    /// Plays a legal move in place, without gathering effects and without allocating.
    ///
    /// The move must be one of [`AnyPosition::legal_moves`]. Any other does not panic, but leaves a position that no
    /// game has.
    pub fn play_unchecked(&mut self, m: Move) {
        match self {
            Self::Kalah(position) => position.play_unchecked(m),
        }
    }

    /// The result, once the game is over.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        match self {
            Self::Kalah(position) => position.outcome(),
        }
    }
}

/// The position string (R12), which [`AnyPosition::parse`] reads back.
impl fmt::Display for AnyPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kalah(position) => position.fmt(f),
        }
    }
}

/// Why a move may not be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum IllegalMove {
    /// Nothing may be played any more.
    #[error("the game is over")]
    GameOver,
    /// The board has fewer pits.
    #[error("there is no pit {0} on this board")]
    NoSuchPit(Pit),
    /// The other side is to move.
    #[error("pit {0} is not on the side to move")]
    NotYourPit(Pit),
    /// There is nothing to sow.
    #[error("pit {0} is empty")]
    EmptyPit(Pit),
    /// There is no extra move to decline.
    #[error("only an optional extra move can be passed")]
    NoPass,
    /// It is not North's first choice, or the game has no pie rule.
    #[error("only North's first choice under the pie rule can be a swap")]
    NoSwap,
}

impl IllegalMove {
    /// One stable word for the reason.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::GameOver => "game_over",
            Self::NoSuchPit(_) => "no_such_pit",
            Self::NotYourPit(_) => "not_your_pit",
            Self::EmptyPit(_) => "empty_pit",
            Self::NoPass => "no_pass",
            Self::NoSwap => "no_swap",
        }
    }
}
