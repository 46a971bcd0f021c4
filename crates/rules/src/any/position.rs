//! A position of any game, for code that does not care which. Knows no rule itself.

use std::fmt;

use super::AnyOptions;
use crate::{
    Board, Effect, History, IllegalMove, Move, MoveList, Outcome, ParsePositionError, Round, Side, congkak, kalah,
    oware,
    setup::{Flag, Setup},
};

/// A position of one of the games, with the options that it is played under. Always one that can be played on or is
/// over; never both (R13).
///
/// Two are equal if everything about them is: options, seeds, turn, flags, plies, the reason of an end, and the history
/// where the game has one.
///
/// **History.** A game with a rule against repetition depends on the positions before this one (R8). Play carries them
/// along; a position string does not hold them. To restore a position with its history, read the positions since the
/// last capture and join them with [`AnyPosition::follow`].
#[derive(Debug, PartialEq, Eq, Hash)]
pub enum AnyPosition {
    /// A position of Kalah.
    Kalah(kalah::Position),
    /// A position of Oware, and those before it.
    Oware(oware::Position, History),
    /// A position of Congkak.
    Congkak(congkak::Position),
}

impl AnyPosition {
    /// The position in which a game with these options begins.
    #[must_use]
    pub fn opening(options: &AnyOptions) -> Self {
        match options {
            AnyOptions::Kalah(options) => Self::Kalah(kalah::Position::opening(*options)),
            AnyOptions::Oware(options) => Self::Oware(oware::Position::opening(*options), History::default()),
            AnyOptions::Congkak(options) => Self::Congkak(congkak::Position::opening(*options)),
        }
    }

    /// Reads a position string (R12). What the rules end is ended: a hand-made position in which the game is over comes
    /// back swept and flagged `o` (R8).
    ///
    /// ```
    /// use mancala_rules::{AnyOptions, AnyPosition, Variant};
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
            AnyOptions::Oware(options) => {
                oware::Position::from_setup(*options, &setup).map(|position| Self::Oware(position, History::default()))
            }
            AnyOptions::Congkak(options) => congkak::Position::from_setup(*options, &setup).map(Self::Congkak),
        }
    }

    /// Reads a position string as [`AnyPosition::parse`] does, but lets it hold any number of seeds up to
    /// [`SEEDS_MAX`](crate::SEEDS_MAX): for made-up positions on a board where seeds were put or taken away. All seeds
    /// in the game are then those of the position.
    ///
    /// # Errors
    ///
    /// As [`AnyPosition::parse`], save that the total need not be that of the options.
    pub fn parse_with_any_total(options: &AnyOptions, text: &str) -> Result<Self, ParsePositionError> {
        let setup = text.parse()?;
        match options {
            AnyOptions::Kalah(options) => kalah::Position::from_setup_with_any_total(*options, &setup).map(Self::Kalah),
            AnyOptions::Oware(options) => oware::Position::from_setup_with_any_total(*options, &setup)
                .map(|position| Self::Oware(position, History::default())),
            AnyOptions::Congkak(options) => {
                congkak::Position::from_setup_with_any_total(*options, &setup).map(Self::Congkak)
            }
        }
    }

    /// Goes on to a position that came right after this one in a game, and takes the history along.
    ///
    /// Positions that were read one by one get their history back so, the first being one with an empty history: the
    /// start of the game, or a position right after a capture.
    ///
    /// ```
    /// use mancala_rules::{AnyOptions, AnyPosition, Variant};
    ///
    /// let options = AnyOptions::parse(Variant::Oware, "standard", "")?;
    /// let mut position = AnyPosition::parse(&options, "1,0,0,0,0,0/1,0,0,0,0,0 23-23 S - 40 1S")?;
    /// let (after, _) = position.play("A".parse()?)?;
    /// position.follow(AnyPosition::parse(&options, &after.to_string())?);
    /// assert_eq!(position, after);
    /// assert_eq!(after.history().map(|history| history.len()), Some(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn follow(&mut self, next: Self) {
        match (self, next) {
            (Self::Oware(position, history), Self::Oware(next, _)) => {
                next.remember(position, history);
                *position = next;
            }
            (this, next @ (Self::Kalah(_) | Self::Oware(..) | Self::Congkak(_))) => *this = next,
        }
    }

    /// The same position as if none had come before it, as [`AnyPosition::parse`] reads it.
    #[must_use]
    pub fn afresh(&self) -> Self {
        match self {
            Self::Oware(position, _) => Self::Oware(*position, History::default()),
            Self::Kalah(_) | Self::Congkak(_) => self.clone(),
        }
    }

    /// The positions since the last capture that came before this one; `None` in a game in which none comes twice (R13).
    #[must_use]
    pub fn history(&self) -> Option<&History> {
        match self {
            Self::Kalah(_) | Self::Congkak(_) => None,
            Self::Oware(_, history) => Some(history),
        }
    }

    /// The options that it is played under.
    #[must_use]
    pub fn options(&self) -> AnyOptions {
        match self {
            Self::Kalah(position) => AnyOptions::Kalah(position.options()),
            Self::Oware(position, _) => AnyOptions::Oware(position.options()),
            Self::Congkak(position) => AnyOptions::Congkak(position.options()),
        }
    }

    /// The seeds.
    #[must_use]
    pub fn board(&self) -> Board {
        match self {
            Self::Kalah(position) => *position.board(),
            Self::Oware(position, _) => *position.board(),
            Self::Congkak(position) => *position.board(),
        }
    }

    /// The side to move; once the game is over, the side to move when that was noticed (R8).
    #[must_use]
    pub fn turn(&self) -> Side {
        match self {
            Self::Kalah(position) => position.turn(),
            Self::Oware(position, _) => position.turn(),
            Self::Congkak(position) => position.turn(),
        }
    }

    /// Actions so far.
    #[must_use]
    pub fn plies(&self) -> u32 {
        match self {
            Self::Kalah(position) => position.plies(),
            Self::Oware(position, _) => position.plies(),
            Self::Congkak(position) => position.plies(),
        }
    }

    /// Whether the people have changed seats (R7).
    #[must_use]
    pub fn swapped(&self) -> bool {
        match self {
            Self::Kalah(position) => position.swapped(),
            Self::Oware(..) | Self::Congkak(_) => false,
        }
    }

    /// Which round is played, and who opened it; `None` in a game of a single round (R9). What is burnt in it, the
    /// [board](AnyPosition::board) knows.
    #[must_use]
    pub fn round(&self) -> Option<Round> {
        match self {
            Self::Kalah(_) | Self::Oware(..) => None,
            Self::Congkak(position) => position.round(),
        }
    }

    /// What the side to move may do, in the order of R4; empty when the game is over, and only then.
    #[must_use]
    pub fn legal_moves(&self) -> MoveList {
        match self {
            Self::Kalah(position) => position.legal_moves(),
            Self::Oware(position, _) => position.legal_moves(),
            Self::Congkak(position) => position.legal_moves(),
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
            Self::Oware(position, history) => {
                let (next, effects) = position.play(m, history)?;
                let mut history = history.clone();
                next.remember(position, &mut history);
                Ok((Self::Oware(next, history), effects))
            }
            Self::Congkak(position) => position.play(m).map(|(next, effects)| (Self::Congkak(next), effects)),
        }
    }

    /// The same for a move of a stored game, where the text of the position after it is known and the history of this
    /// one is not: that a position came too often is then read from that text. Whether the text is right, the caller
    /// compares.
    ///
    /// ```
    /// use mancala_rules::{AnyOptions, AnyPosition, EndReason, Variant};
    ///
    /// let options = AnyOptions::parse(Variant::Oware, "standard", "")?;
    /// let before = AnyPosition::parse(&options, "1,0,0,0,0,0/1,0,0,0,0,0 23-23 S - 41 1S")?;
    /// let recorded = "0,0,0,0,0,0/0,0,0,0,0,0 24-24 N o 42 1S";
    /// let (after, _) = before.replay("A".parse()?, recorded)?;
    /// assert_eq!(after.to_string(), recorded);
    /// assert_eq!(after.outcome().and_then(|outcome| outcome.reason), Some(EndReason::Repetition));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The move is not legal here.
    pub fn replay(&self, m: Move, recorded: &str) -> Result<(Self, Vec<Effect>), IllegalMove> {
        let played = self.play(m)?;
        match self {
            Self::Oware(position, _) if played.0.to_string() != recorded => {
                let (next, effects) = position.play_into_repetition(m)?;
                Ok((Self::Oware(next, History::default()), effects))
            }
            Self::Kalah(_) | Self::Oware(..) | Self::Congkak(_) => Ok(played),
        }
    }

    /// Plays a legal move in place, without gathering effects; nothing is allocated but room for the history.
    ///
    /// The move must be one of [`AnyPosition::legal_moves`]. Any other does not panic, but leaves a position that no
    /// game has.
    pub fn play_unchecked(&mut self, m: Move) {
        match self {
            Self::Kalah(position) => position.play_unchecked(m),
            Self::Oware(position, history) => {
                let before = *position;
                position.play_unchecked(m, history);
                position.remember(&before, history);
            }
            Self::Congkak(position) => position.play_unchecked(m),
        }
    }

    /// The position string (R12) without what decides nothing of how the game can go on: as if no ply had been played,
    /// without `w`, and without `e` unless the extra move may be declined. It can be read as a position again.
    ///
    /// Positions with the same options and essence have the same legal moves, and so have those that the same moves lead
    /// to; but for an end by repetition, which depends on the positions before.
    ///
    /// ```
    /// use mancala_rules::{AnyOptions, AnyPosition, Variant};
    ///
    /// let options = AnyOptions::parse(Variant::Kalah, "standard", "")?;
    /// let position = AnyPosition::parse(&options, "4,4,0,5,5,5/4,4,4,4,4,4 1-0 S e 1 1S")?;
    /// assert_eq!(position.essence(), "4,4,0,5,5,5/4,4,4,4,4,4 1-0 S - 0 1S");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn essence(&self) -> String {
        let mut setup: Setup = self.to_string().parse().expect("what a position writes can be read");
        setup.plies = 0;
        setup.flags.clear(Flag::Swapped);
        if !self.legal_moves().contains(&Move::Pass) {
            setup.flags.clear(Flag::Extra);
        }
        setup.to_string()
    }

    /// The result, once the game is over.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        match self {
            Self::Kalah(position) => position.outcome(),
            Self::Oware(position, _) => position.outcome(),
            Self::Congkak(position) => position.outcome(),
        }
    }
}

/// As derived, save that a history is copied into the memory of another where there is one: so that search and counting
/// need not allocate for every position.
impl Clone for AnyPosition {
    fn clone(&self) -> Self {
        match self {
            Self::Kalah(position) => Self::Kalah(*position),
            Self::Oware(position, history) => Self::Oware(*position, history.clone()),
            Self::Congkak(position) => Self::Congkak(*position),
        }
    }

    fn clone_from(&mut self, source: &Self) {
        match (self, source) {
            (Self::Oware(position, history), Self::Oware(from, from_history)) => {
                *position = *from;
                history.clone_from(from_history);
            }
            (this, source) => *this = source.clone(),
        }
    }
}

/// The position string (R12), which [`AnyPosition::parse`] reads back.
impl fmt::Display for AnyPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kalah(position) => position.fmt(f),
            Self::Oware(position, _) => position.fmt(f),
            Self::Congkak(position) => position.fmt(f),
        }
    }
}
