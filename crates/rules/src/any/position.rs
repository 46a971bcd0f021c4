//! A position of any game, for code that does not care which. Knows no rule itself.

use std::fmt;

use super::{
    AnyBoard, AnyOptions, Pending,
    four_rows::{move_of, refusal},
};
use crate::{
    Effect, History, House, IllegalMove, Lockstep, Move, MoveList, Outcome, ParseMoveError, ParsePositionError, Pit,
    Round, Side, Variant, congkak, four_row, kalah, kumalak, oware,
    setup::{Flag, Setup},
};

/// A position of one of the games, with its options. Either it has a legal move or the game is over (R13).
///
/// Two positions are equal if all their parts are equal: options, seeds, turn, flags, plies, the reason of an end, and
/// the history.
///
/// **History.** A game with a rule against repetition depends on the earlier positions (R8). Playing a move keeps them;
/// a position string does not hold them. To restore a position with its history, read the positions since the last
/// capture and join them with [`AnyPosition::follow`].
#[derive(Debug, PartialEq, Eq, Hash)]
pub enum AnyPosition {
    /// A position of Kalah.
    Kalah(kalah::Position),
    /// A position of Oware, and the earlier positions.
    Oware(oware::Position, History),
    /// A position of Congkak.
    Congkak(congkak::Position),
    /// A position of Toguz Kumalak or Bestemshe, and the earlier positions.
    Kumalak(kumalak::Position, History),
    /// A position of Bao or Omweso.
    FourRow(four_row::AnyPosition),
}

impl AnyPosition {
    /// The position in which a game with these options begins.
    #[must_use]
    pub fn opening(options: &AnyOptions) -> Self {
        match options {
            AnyOptions::Kalah(options) => Self::Kalah(kalah::Position::opening(*options)),
            AnyOptions::Oware(options) => Self::Oware(oware::Position::opening(*options), History::default()),
            AnyOptions::Congkak(options) => Self::Congkak(congkak::Position::opening(*options)),
            AnyOptions::Kumalak(options) => Self::Kumalak(kumalak::Position::opening(*options), History::default()),
            AnyOptions::FourRow(options) => Self::FourRow(four_row::AnyPosition::opening(options)),
        }
    }

    /// Reads a position string (R12, R22) and ends the game where the rules do. A made-up position in which the game is over
    /// comes back swept and flagged `o` (R8).
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
    /// The text is not a position string, or no game with these options has this position.
    pub fn parse(options: &AnyOptions, text: &str) -> Result<Self, ParsePositionError> {
        match options {
            AnyOptions::Kalah(options) => kalah::Position::from_setup(*options, &text.parse()?).map(Self::Kalah),
            AnyOptions::Oware(options) => oware::Position::from_setup(*options, &text.parse()?)
                .map(|position| Self::Oware(position, History::default())),
            AnyOptions::Congkak(options) => congkak::Position::from_setup(*options, &text.parse()?).map(Self::Congkak),
            AnyOptions::Kumalak(options) => kumalak::Position::from_setup(*options, &text.parse()?)
                .map(|position| Self::Kumalak(position, History::default())),
            AnyOptions::FourRow(options) => Ok(Self::FourRow(four_row::AnyPosition::parse(options, text)?)),
        }
    }

    /// Reads a position string as [`AnyPosition::parse`] does, but with any number of seeds up to
    /// [`SEEDS_MAX`](crate::SEEDS_MAX): for made-up positions with seeds added or removed. The seeds of the position
    /// are then all seeds of the game. With four rows the number is fixed.
    ///
    /// # Errors
    ///
    /// As [`AnyPosition::parse`], but any total up to that bound is accepted.
    pub fn parse_with_any_total(options: &AnyOptions, text: &str) -> Result<Self, ParsePositionError> {
        match options {
            AnyOptions::Kalah(options) => {
                kalah::Position::from_setup_with_any_total(*options, &text.parse()?).map(Self::Kalah)
            }
            AnyOptions::Oware(options) => oware::Position::from_setup_with_any_total(*options, &text.parse()?)
                .map(|position| Self::Oware(position, History::default())),
            AnyOptions::Congkak(options) => {
                congkak::Position::from_setup_with_any_total(*options, &text.parse()?).map(Self::Congkak)
            }
            AnyOptions::Kumalak(options) => kumalak::Position::from_setup_with_any_total(*options, &text.parse()?)
                .map(|position| Self::Kumalak(position, History::default())),
            AnyOptions::FourRow(_) => Self::parse(options, text),
        }
    }

    /// Advances to the position that came right after this one in a game, and keeps the history.
    ///
    /// This restores the history of positions that were read one by one. The first of them must have an empty history:
    /// the start of the game, or a position right after a capture.
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
            (Self::Kumalak(position, history), Self::Kumalak(next, _)) => {
                next.remember(position, history);
                *position = next;
            }
            (
                this,
                next @ (Self::Kalah(_) | Self::Oware(..) | Self::Congkak(_) | Self::Kumalak(..) | Self::FourRow(_)),
            ) => *this = next,
        }
    }

    /// The same position without its history, as [`AnyPosition::parse`] reads it.
    #[must_use]
    pub fn afresh(&self) -> Self {
        match self {
            Self::Oware(position, _) => Self::Oware(*position, History::default()),
            Self::Kumalak(position, _) => Self::Kumalak(*position, History::default()),
            Self::Kalah(_) | Self::Congkak(_) | Self::FourRow(_) => self.clone(),
        }
    }

    /// The earlier positions since the last capture; `None` in a game without a rule against repetition (R13, R31).
    #[must_use]
    pub fn history(&self) -> Option<&History> {
        match self {
            Self::Kalah(_) | Self::Congkak(_) | Self::FourRow(_) => None,
            Self::Oware(_, history) | Self::Kumalak(_, history) => Some(history),
        }
    }

    /// The options of the game.
    #[must_use]
    pub fn options(&self) -> AnyOptions {
        match self {
            Self::Kalah(position) => AnyOptions::Kalah(position.options()),
            Self::Oware(position, _) => AnyOptions::Oware(position.options()),
            Self::Congkak(position) => AnyOptions::Congkak(position.options()),
            Self::Kumalak(position, _) => AnyOptions::Kumalak(position.options()),
            Self::FourRow(position) => AnyOptions::FourRow(position.options()),
        }
    }

    /// The seeds.
    #[must_use]
    pub fn board(&self) -> AnyBoard {
        match self {
            Self::Kalah(position) => AnyBoard::TwoRow(*position.board()),
            Self::Oware(position, _) => AnyBoard::TwoRow(*position.board()),
            Self::Congkak(position) => AnyBoard::TwoRow(*position.board()),
            Self::Kumalak(position, _) => AnyBoard::TwoRow(*position.board()),
            Self::FourRow(position) => AnyBoard::FourRow(*position.board()),
        }
    }

    /// The house of this side; `None` in a game without houses (R24).
    #[must_use]
    pub fn house(&self, side: Side) -> Option<House> {
        match self {
            Self::Kalah(_) | Self::Oware(..) | Self::Congkak(_) | Self::Kumalak(..) => None,
            Self::FourRow(position) => position.house(side),
        }
    }

    /// Whether a pit can be blocked in this game: in Bao (R27).
    #[must_use]
    pub fn can_block(&self) -> bool {
        self.options().variant() == Variant::Bao
    }

    /// Whether a side can win a pit of the other side in this game: in Toguz Kumalak (R44).
    #[must_use]
    pub fn can_have_tuzdyks(&self) -> bool {
        self.options().variant() == Variant::ToguzKumalak
    }

    /// Reads a word of a move. A word that only games with other boards have is none here.
    ///
    /// ```
    /// use mancala_rules::{AnyOptions, AnyPosition, Variant};
    ///
    /// let opening = |variant| AnyOptions::parse(variant, "standard", "").map(|options| AnyPosition::opening(&options));
    /// assert!(opening(Variant::Bao)?.read_move("EU").is_ok());
    /// assert!(opening(Variant::Kalah)?.read_move("EU").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The text is no move in any position of the game.
    pub fn read_move(&self, word: &str) -> Result<Move, ParseMoveError> {
        if matches!(self, Self::FourRow(_)) {
            return word.parse::<four_row::Move>().map(Move::from);
        }
        let m = word.parse().map_err(|_| ParseMoveError::OneRow)?;
        if Move::has_two_rows(m) { Ok(m) } else { Err(ParseMoveError::OneRow) }
    }

    /// The pending choice of the side to move inside a turn, if any (R23).
    #[must_use]
    pub fn pending(&self) -> Option<Pending> {
        match self {
            Self::Kalah(_) | Self::Oware(..) | Self::Congkak(_) | Self::Kumalak(..) => None,
            Self::FourRow(position) => {
                position.pending().map(|pending| Pending { pit: pending.pit.into(), hand: pending.hand })
            }
        }
    }

    /// All seeds of the game: those on the board, and those in the hand between two actions of a turn.
    #[must_use]
    pub fn total(&self) -> u16 {
        self.board().total() + self.pending().map_or(0, |pending| pending.hand)
    }

    /// The lockstep opening, as long as no seed has been sown in it; `None` elsewhere (R10).
    #[must_use]
    pub fn lockstep(&self) -> Option<Lockstep> {
        match self {
            Self::Kalah(_) | Self::Oware(..) | Self::Kumalak(..) | Self::FourRow(_) => None,
            Self::Congkak(position) => position.lockstep(),
        }
    }

    /// Whether pits can be burnt in this game: in a match whose options do not forbid it (R9).
    #[must_use]
    pub fn can_burn(&self) -> bool {
        match self {
            Self::Kalah(_) | Self::Oware(..) | Self::Kumalak(..) | Self::FourRow(_) => false,
            Self::Congkak(position) => position.can_burn(),
        }
    }

    /// The next pit to be filled, while the side to move arranges its seeds (R28).
    #[must_use]
    pub fn arranging(&self) -> Option<Pit> {
        match self {
            Self::Kalah(_) | Self::Oware(..) | Self::Congkak(_) | Self::Kumalak(..) => None,
            Self::FourRow(position) => position.arranging().map(Pit::from),
        }
    }

    /// The side to move; once the game is over, the side to move when a rule ended it (R8).
    #[must_use]
    pub fn turn(&self) -> Side {
        match self {
            Self::Kalah(position) => position.turn(),
            Self::Oware(position, _) => position.turn(),
            Self::Congkak(position) => position.turn(),
            Self::Kumalak(position, _) => position.turn(),
            Self::FourRow(position) => position.turn(),
        }
    }

    /// How many actions were played so far.
    #[must_use]
    pub fn plies(&self) -> u32 {
        match self {
            Self::Kalah(position) => position.plies(),
            Self::Oware(position, _) => position.plies(),
            Self::Congkak(position) => position.plies(),
            Self::Kumalak(position, _) => position.plies(),
            Self::FourRow(position) => position.plies(),
        }
    }

    /// Whether the players have changed seats (R7).
    #[must_use]
    pub fn swapped(&self) -> bool {
        match self {
            Self::Kalah(position) => position.swapped(),
            Self::Oware(..) | Self::Congkak(_) | Self::Kumalak(..) | Self::FourRow(_) => false,
        }
    }

    /// The number of the round and the side that opened it; `None` in a game of a single round (R9). The
    /// [board](AnyPosition::board) knows which pits are burnt.
    #[must_use]
    pub fn round(&self) -> Option<Round> {
        match self {
            Self::Kalah(_) | Self::Oware(..) | Self::Kumalak(..) | Self::FourRow(_) => None,
            Self::Congkak(position) => position.round(),
        }
    }

    /// The legal moves of the side to move, in the order of R4 and R21; empty exactly when the game is over. An agreed end is never listed.
    #[must_use]
    pub fn legal_moves(&self) -> MoveList {
        match self {
            Self::Kalah(position) => position.legal_moves(),
            Self::Oware(position, _) => position.legal_moves(),
            Self::Congkak(position) => position.legal_moves(),
            Self::Kumalak(position, _) => position.legal_moves(),
            Self::FourRow(position) => position.legal_moves().into_iter().map(Move::from).collect(),
        }
    }

    /// Plays a move. Returns the position after it, and its effects in order.
    ///
    /// ```
    /// use mancala_rules::{AnyOptions, AnyPosition, Effect, Place, Side, Variant};
    ///
    /// let opening = AnyPosition::opening(&AnyOptions::parse(Variant::Congkak, "standard", "")?);
    /// let (position, effects) = opening.play("A".parse()?)?;
    /// assert_eq!(position.turn(), Side::South);
    /// assert_eq!(effects[7..], [Effect::Sow { to: Place::Store(Side::South) }, Effect::ExtraTurn]);
    /// assert_eq!(position.play("a".parse()?).unwrap_err().reason(), "not_your_pit");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
            Self::Kumalak(position, history) => {
                let (next, effects) = position.play(m, history)?;
                let mut history = history.clone();
                next.remember(position, &mut history);
                Ok((Self::Kumalak(next, history), effects))
            }
            Self::FourRow(position) => {
                let (next, effects) = position.play(move_of(m)?).map_err(|reason| refusal(reason, m))?;
                Ok((Self::FourRow(next), effects.into_iter().map(Effect::from).collect()))
            }
        }
    }

    /// As [`AnyPosition::play`], for a move of a stored game: `recorded` is the position string after the move, and
    /// this position may lack its history. An end by repetition is then taken from `recorded`. The caller compares the
    /// result with `recorded`.
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
            Self::Kumalak(position, _) if played.0.to_string() != recorded => {
                let (next, effects) = position.play_into_repetition(m)?;
                Ok((Self::Kumalak(next, History::default()), effects))
            }
            Self::Kalah(_) | Self::Oware(..) | Self::Congkak(_) | Self::Kumalak(..) | Self::FourRow(_) => Ok(played),
        }
    }

    /// Plays a legal move in place, without collecting effects. Only a history may allocate memory.
    ///
    /// The move must be one of [`AnyPosition::legal_moves`]. Any other move does not panic, but leaves a position that
    /// no game has.
    pub fn play_unchecked(&mut self, m: Move) {
        match self {
            Self::Kalah(position) => position.play_unchecked(m),
            Self::Oware(position, history) => {
                let before = *position;
                position.play_unchecked(m, history);
                position.remember(&before, history);
            }
            Self::Congkak(position) => position.play_unchecked(m),
            Self::Kumalak(position, history) => {
                let before = *position;
                position.play_unchecked(m, history);
                position.remember(&before, history);
            }
            Self::FourRow(position) => {
                if let Ok(m) = move_of(m) {
                    position.play_unchecked(m);
                }
            }
        }
    }

    /// The position string (R12, R22) without the parts that do not affect the rest of the game. It has 0 plies, no `w`,
    /// and no `e` unless the extra move may be declined or the turn has a choice. [`AnyPosition::parse`] reads it.
    ///
    /// Positions with the same options and essence have the same legal moves, and so have the positions after the same
    /// moves. The exceptions are ends by repetition, which depend on the earlier positions, and by the ply limit.
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
        if let Self::FourRow(position) = self {
            return position.without_plies().to_string();
        }
        let mut setup: Setup = self.to_string().parse().expect("a position reads its own text");
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
            Self::Kumalak(position, _) => position.outcome(),
            Self::FourRow(position) => position.outcome(),
        }
    }
}

/// As derived, but `clone_from` copies a history into the memory of the target, so that searching and counting do not
/// allocate for every position.
impl Clone for AnyPosition {
    fn clone(&self) -> Self {
        match self {
            Self::Kalah(position) => Self::Kalah(*position),
            Self::Oware(position, history) => Self::Oware(*position, history.clone()),
            Self::Congkak(position) => Self::Congkak(*position),
            Self::Kumalak(position, history) => Self::Kumalak(*position, history.clone()),
            Self::FourRow(position) => Self::FourRow(*position),
        }
    }

    fn clone_from(&mut self, source: &Self) {
        match (self, source) {
            (Self::Oware(position, history), Self::Oware(from, from_history)) => {
                *position = *from;
                history.clone_from(from_history);
            }
            (Self::Kumalak(position, history), Self::Kumalak(from, from_history)) => {
                *position = *from;
                history.clone_from(from_history);
            }
            (this, source) => *this = source.clone(),
        }
    }
}

/// The position string (R12, R22), which [`AnyPosition::parse`] reads back.
impl fmt::Display for AnyPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kalah(position) => position.fmt(f),
            Self::Oware(position, _) => position.fmt(f),
            Self::Congkak(position) => position.fmt(f),
            Self::Kumalak(position, _) => position.fmt(f),
            Self::FourRow(position) => position.fmt(f),
        }
    }
}
