//! The position string (R12): six fields that hold everything about a position except its options and history.
//!
//! An example is `4,4,0,5,5,5/4,4,4,4,4,4 1-0 S ep 1 1S`. Its fields are South's row / North's row, South's store -
//! North's store, the side to move, flags, plies so far, and the round with its opener. A [`Setup`] is the content of
//! such a text. The game decides whether it has such a position.

use std::{fmt, str::FromStr};

use arrayvec::{ArrayString, ArrayVec};

use super::{
    Board, BySide, Pit, Side, four_row,
    plies::PLIES_MAX,
    ring::{ROW_MAX, Spots},
};

/// The most seeds on any board: 12 pits a side with 12 seeds each.
pub const SEEDS_MAX: u16 = 288;

/// The content of a position string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Setup {
    pub board: Board,
    pub turn: Side,
    pub flags: Flags,
    pub plies: u32,
    pub round: u32,
    pub opener: Side,
    /// The pit of South that waits for North's choice in a lockstep opening (R10): it stands after the flag `l`.
    pub chosen: Option<u8>,
    /// Points of a match that points decide (R9).
    pub points: Option<BySide<u16>>,
}

impl Setup {
    /// The content of a game of a single round without an opening of its own, as Kalah and Oware are.
    pub const fn of_single_round(board: Board, turn: Side, flags: Flags, plies: u32) -> Self {
        Self { board, turn, flags, plies, round: 1, opener: Side::South, chosen: None, points: None }
    }
}

/// A flag of a position; the flags are written in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flag {
    /// `e`: the side to move is on an extra move, inside its own turn.
    Extra = 1,
    /// `p`: North may still answer with a swap at its first choice.
    Pie = 2,
    /// `w`: the players have changed seats.
    Swapped = 4,
    /// `o`: finished.
    Over = 8,
    /// `l`: both sides choose a pit to sow at once (R10).
    Lockstep = 16,
}

impl Flag {
    const ALL: [Self; 5] = [Self::Extra, Self::Pie, Self::Swapped, Self::Over, Self::Lockstep];

    pub const fn letter(self) -> char {
        match self {
            Self::Extra => 'e',
            Self::Pie => 'p',
            Self::Swapped => 'w',
            Self::Over => 'o',
            Self::Lockstep => 'l',
        }
    }
}

/// A set of flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Flags(u8);

impl Flags {
    pub const fn has(self, flag: Flag) -> bool {
        self.0 & flag as u8 != 0
    }

    pub fn raise(&mut self, flag: Flag) {
        self.0 |= flag as u8;
    }

    pub fn clear(&mut self, flag: Flag) {
        self.0 &= !(flag as u8);
    }
}

impl Setup {
    /// Checks that a position fits a game of one round: round 1, opened by South, and no burnt pit (R12).
    pub fn check_single_round(&self) -> Result<(), ParsePositionError> {
        if (self.round, self.opener) != (1, Side::South) || self.points.is_some() {
            Err(ParsePositionError::SingleRound)
        } else if self.board.burnt() != Spots::NONE {
            Err(ParsePositionError::BurntPit)
        } else {
            Ok(())
        }
    }

    /// Checks that a position fits a game without tuzdyks: it has none (R41).
    pub fn check_no_tuzdyk(&self) -> Result<(), ParsePositionError> {
        if self.board.tuzdyks() == Spots::NONE { Ok(()) } else { Err(ParsePositionError::NoTuzdyk) }
    }
}

impl fmt::Display for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Written to one buffer: the formatter takes ten times as long for the numbers, and each move needs this text
        // several times.
        let mut text = Text::new();
        write_row(&mut text, &self.board, Side::South);
        text.push('/');
        write_row(&mut text, &self.board, Side::North);
        text.push(' ');
        write_number(&mut text, self.board.store(Side::South).into());
        text.push('-');
        write_number(&mut text, self.board.store(Side::North).into());
        text.push(' ');
        text.push(self.turn.letter());
        text.push(' ');
        write_flags(&mut text, self.flags, self.chosen);
        text.push(' ');
        write_number(&mut text, self.plies);
        text.push(' ');
        write_number(&mut text, self.round);
        text.push(self.opener.letter());
        if let Some(BySide { south, north }) = self.points {
            write_number(&mut text, south.into());
            text.push('-');
            write_number(&mut text, north.into());
        }
        f.write_str(&text)
    }
}

/// Holds the longest text of a position. It has 24 pits, 2 stores and 2 points of up to 5 digits and a mark. It also
/// has 2 counts of up to 10 digits, and fewer than 32 other characters.
type Text = ArrayString<{ 28 * 6 + 2 * 10 + 32 }>;

fn write_row(text: &mut Text, board: &Board, side: Side) {
    for (index, &seeds) in (0..).zip(board.pits(side)) {
        if index > 0 {
            text.push(',');
        }
        if board.is_burnt(Pit { side, index }) {
            text.push_str(BURNT);
        } else if board.is_tuzdyk(Pit { side, index }) {
            text.push_str(TUZDYK);
        } else {
            write_number(text, seeds.into());
        }
    }
}

fn write_number(text: &mut Text, number: u32) {
    if number >= 10 {
        write_number(text, number / 10);
    }
    text.push(char::from_digit(number % 10, 10).expect("a remainder of ten is a digit"));
}

/// A burnt pit in a row.
const BURNT: &str = "x";

/// A tuzdyk in a row; its owner is the other side.
const TUZDYK: &str = "t";

fn write_flags(text: &mut Text, flags: Flags, chosen: Option<u8>) {
    if flags == Flags::default() {
        text.push('-');
    }
    Flag::ALL.into_iter().filter(|&flag| flags.has(flag)).for_each(|flag| text.push(flag.letter()));
    if let Some(letter) = chosen.and_then(letter_of) {
        text.push(letter);
    }
}

/// The letter of a pit of South.
fn letter_of(index: u8) -> Option<char> {
    (usize::from(index) < ROW_MAX).then(|| char::from(b'A' + index))
}

/// Why a text is not a position, or not one that the options allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParsePositionError {
    /// The text does not have six fields.
    #[error("a position has six fields separated by single blanks: rows, stores, side to move, flags, plies, round")]
    Fields,
    /// The first field is not two rows.
    #[error("the rows must be two lists of 1 to 12 seed counts, such as 4,4,0/4,4,4, each at most {SEEDS_MAX}")]
    Rows,
    /// The second field is not two stores.
    #[error("the stores must be two seed counts, such as 1-0, each at most {SEEDS_MAX}")]
    Stores,
    /// The third field is not a side.
    #[error("the side to move must be S or N")]
    Turn,
    /// The fourth field is not a list of flags.
    #[error("the flags must be - or letters of e, p, w, o, l, in this order; a pit of South may follow l")]
    Flags,
    /// The fifth field is not a number of plies.
    #[error("the plies must be a number from 0 to {PLIES_MAX}")]
    Plies,
    /// The sixth field is not a round.
    #[error("the round must be a number with S or N for the side that opened it, such as 1S")]
    Round,
    /// The rows have another number of pits than the options.
    #[error("each row must have {expected} pits")]
    PitsPerSide {
        /// Pits per side by the options.
        expected: u8,
    },
    /// The position has more or fewer seeds than the options.
    #[error("the seeds in pits and stores must be {expected} in all, not {found}")]
    SeedTotal {
        /// Seeds by the options.
        expected: u16,
        /// Seeds in the position.
        found: u16,
    },
    /// No game with these options raises this flag.
    #[error("the flag {flag} cannot occur with these options")]
    FlagByOptions {
        /// Its letter.
        flag: char,
    },
    /// No position has both flags, or this flag with this side to move.
    #[error("the flag {flag} cannot occur with the rest of the position")]
    FlagByPosition {
        /// Its letter.
        flag: char,
    },
    /// The round has points where they do not decide, or none where they do, or more than there can be.
    #[error("points, such as 2S1-0, stand after the round exactly where they decide the match, and within its rounds")]
    Points,
    /// This game has one round, which South opens.
    #[error("this game has a single round, which South opens: 1S")]
    SingleRound,
    /// This game burns no pits.
    #[error("this game has no burnt pits: x")]
    BurntPit,
    /// This game has no tuzdyks.
    #[error("this game has no tuzdyk: t")]
    NoTuzdyk,
    /// No game with these options has these tuzdyks.
    #[error("a row has at most one tuzdyk, not in its last pit, and not where the other one bars it")]
    Tuzdyks,
    /// The round is beyond the last one of the match.
    #[error("this game has at most {max} rounds")]
    RoundNumber {
        /// Rounds by the options.
        max: u8,
    },
    /// The text is not a position of a game with four rows.
    #[error(transparent)]
    FourRow(#[from] four_row::ParsePositionError),
}

/// Checks the form only: the total may exceed that of any game, but it cannot overflow.
impl FromStr for Setup {
    type Err = ParsePositionError;

    fn from_str(text: &str) -> Result<Self, ParsePositionError> {
        let mut fields = text.split(' ');
        let mut field = || fields.next().ok_or(ParsePositionError::Fields);
        let (rows, stores, turn, flags, plies, round) = (field()?, field()?, field()?, field()?, field()?, field()?);
        if fields.next().is_some() {
            return Err(ParsePositionError::Fields);
        }
        let mut board = parse_rows(rows).ok_or(ParsePositionError::Rows)?;
        let (south, north) = parse_stores(stores).ok_or(ParsePositionError::Stores)?;
        board.bank(Side::South, south);
        board.bank(Side::North, north);
        let (round, opener, points) = parse_round(round).ok_or(ParsePositionError::Round)?;
        let (flags, chosen) = parse_flags(flags).ok_or(ParsePositionError::Flags)?;
        Ok(Self {
            board,
            turn: parse_side(turn).ok_or(ParsePositionError::Turn)?,
            flags,
            plies: parse_number(plies).filter(|&plies| plies <= PLIES_MAX).ok_or(ParsePositionError::Plies)?,
            round,
            opener,
            chosen,
            points,
        })
    }
}

fn parse_rows(text: &str) -> Option<Board> {
    let (south, north) = text.split_once('/')?;
    let (south, north) = (parse_row(south)?, parse_row(north)?);
    if south.len() != north.len() {
        return None;
    }
    let mut board = Board::empty(u8::try_from(south.len()).ok()?);
    let mut burnt = Spots::NONE;
    for (side, row) in [(Side::South, south), (Side::North, north)] {
        for (spot, seeds) in (board.ring().row(side)..).zip(row) {
            match seeds {
                WrittenPit::Seeds(seeds) => board.drop(spot, seeds),
                WrittenPit::Burnt => burnt = burnt.with(spot),
                WrittenPit::Tuzdyk => board.make_tuzdyk(spot),
            }
        }
    }
    board.burn(burnt);
    Some(board)
}

/// The text of a pit in a row.
#[derive(Clone, Copy, Debug)]
enum WrittenPit {
    Seeds(u16),
    Burnt,
    Tuzdyk,
}

fn parse_row(text: &str) -> Option<ArrayVec<WrittenPit, ROW_MAX>> {
    let mut row = ArrayVec::new();
    for count in text.split(',') {
        let pit = match count {
            BURNT => WrittenPit::Burnt,
            TUZDYK => WrittenPit::Tuzdyk,
            count => WrittenPit::Seeds(parse_seeds(count)?),
        };
        row.try_push(pit).ok()?;
    }
    Some(row)
}

fn parse_stores(text: &str) -> Option<(u16, u16)> {
    let (south, north) = text.split_once('-')?;
    Some((parse_seeds(south)?, parse_seeds(north)?))
}

pub(super) fn parse_side(text: &str) -> Option<Side> {
    Side::ALL.into_iter().find(|side| text.strip_prefix(side.letter()) == Some(""))
}

/// The flags, and the pit that follows `l`.
fn parse_flags(text: &str) -> Option<(Flags, Option<u8>)> {
    let mut flags = Flags::default();
    let chosen = text.bytes().last().and_then(|letter| letter.checked_sub(b'A'));
    let chosen = chosen.filter(|&index| usize::from(index) < ROW_MAX && text.contains(Flag::Lockstep.letter()));
    for flag in Flag::ALL {
        if text.contains(flag.letter()) {
            flags.raise(flag);
        }
    }
    // Comparing with the canonical text refuses other letters, another order, and a letter given twice.
    let mut written = Text::new();
    write_flags(&mut written, flags, chosen);
    (written.as_str() == text).then_some((flags, chosen))
}

/// The round, the side that opened it, and points if there are any.
fn parse_round(text: &str) -> Option<(u32, Side, Option<BySide<u16>>)> {
    let (side, (round, points)) =
        Side::ALL.into_iter().find_map(|side| Some((side, text.split_once(side.letter())?)))?;
    let points = if points.is_empty() { None } else { Some(parse_points(points)?) };
    let round = parse_number(round)?;
    (round > 0).then_some((round, side, points))
}

fn parse_points(text: &str) -> Option<BySide<u16>> {
    let (south, north) = text.split_once('-')?;
    let points = |text| parse_number(text).and_then(|points| u16::try_from(points).ok());
    Some(BySide { south: points(south)?, north: points(north)? })
}

fn parse_seeds(text: &str) -> Option<u16> {
    let seeds = u16::try_from(parse_number(text)?).ok()?;
    (seeds <= SEEDS_MAX).then_some(seeds)
}

/// Digits only: no sign, no leading zero.
pub(super) fn parse_number(text: &str) -> Option<u32> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let leading_zero = text.len() > 1 && text.starts_with('0');
    if digits && !leading_zero { text.parse().ok() } else { None }
}
