//! The position text (R12, R22): six fields that hold everything about a position except its options and history.
//!
//! An example is `4,4,0,5,5,5/4,4,4,4,4,4 1-0 S ep 1 1S`: pits, stores or reserves, the side to move, flags, plies so far, and the
//! round with its opener. A [`Setup`] is such a text, divided.
//! Marks, flags and rounds are the game's: it says which it has, and whether they can stand together.

use arrayvec::{ArrayString, ArrayVec};

use super::{Board, Pit, Side, plies::PLIES_MAX, ring::ROW_MAX};

/// The most seeds on any board: 12 pits a side with 12 seeds each.
pub const SEEDS_MAX: u16 = 288;

/// The round of a game that has a single one: the first, opened by South.
pub(super) const SINGLE_ROUND: &str = "1S";

/// The fields of a position text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Setup<'t> {
    pub pits: &'t str,
    /// Stores, or reserves.
    pub banks: &'t str,
    pub turn: Side,
    pub flags: &'t str,
    pub plies: u32,
    pub round: &'t str,
}

impl<'t> Setup<'t> {
    /// Divides a text, and reads what all games write in the same way.
    pub fn of(text: &'t str) -> Result<Self, ParsePositionError> {
        let mut fields = text.split(' ');
        let mut field = || fields.next().ok_or(ParsePositionError::Fields);
        let (pits, banks, turn, flags, plies, round) = (field()?, field()?, field()?, field()?, field()?, field()?);
        if fields.next().is_some() {
            return Err(ParsePositionError::Fields);
        }
        let turn = parse_side(turn).ok_or(ParsePositionError::Turn)?;
        let plies = parse_number(plies).filter(|&plies| plies <= PLIES_MAX).ok_or(ParsePositionError::Plies)?;
        Ok(Self { pits, banks, turn, flags, plies, round })
    }

    /// The board of a game with two rows: so many pits a side, and the letter of a marked pit, if the game marks pits.
    pub fn two_rows(&self, pits: u8, mark: Option<char>) -> Result<Board, ParsePositionError> {
        let mut board = parse_rows(self.pits, mark)?;
        let (south, north) = parse_pair(self.banks, parse_seeds).ok_or(ParsePositionError::Stores)?;
        if board.pits_per_side() != pits {
            return Err(ParsePositionError::PitsPerSide { expected: pits });
        }
        board.bank(Side::South, south);
        board.bank(Side::North, north);
        Ok(board)
    }

    /// Checks that the game has a single round.
    pub fn check_single_round(&self) -> Result<(), ParsePositionError> {
        if self.round == SINGLE_ROUND { Ok(()) } else { Err(ParsePositionError::SingleRound) }
    }
}

/// How many seeds a position may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Total {
    /// As many as the options give.
    OfOptions,
    /// Any number up to [`SEEDS_MAX`].
    Any,
}

impl Total {
    /// Refuses another number of seeds; `expected` is that of the options.
    pub(super) fn check(self, board: &Board, expected: u16) -> Result<(), ParsePositionError> {
        let found = board.total();
        let is_right = match self {
            Self::OfOptions => found == expected,
            Self::Any => found <= SEEDS_MAX,
        };
        if is_right { Ok(()) } else { Err(ParsePositionError::SeedTotal { expected, found }) }
    }
}

/// A flag of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flag {
    pub letter: char,
    bit: u8,
}

impl Flag {
    /// `e`: the side to move is on an extra move, inside its own turn.
    pub const EXTRA: Self = Self { letter: 'e', bit: 1 };

    /// `o`: finished.
    pub const OVER: Self = Self { letter: 'o', bit: 2 };

    /// A flag of one game, by its number there: from 0 to 5.
    pub const fn own(number: u8, letter: char) -> Self {
        assert!(number < 6, "a game has six flags of its own");
        Self { letter, bit: 4 << number }
    }
}

/// A set of flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Flags(u8);

impl Flags {
    /// Reads letters of a game's flags, in the order of `known`.
    pub fn read(text: &str, known: &[Flag]) -> Result<Self, ParsePositionError> {
        let mut flags = Self::default();
        if text == "-" {
            return Ok(flags);
        }
        let mut next = known.iter();
        for letter in text.chars() {
            if letter.is_ascii_lowercase() && !known.iter().any(|flag| flag.letter == letter) {
                return Err(ParsePositionError::FlagByOptions { flag: letter });
            }
            flags.raise(*next.find(|flag| flag.letter == letter).ok_or(ParsePositionError::Flags)?);
        }
        if flags == Self::default() { Err(ParsePositionError::Flags) } else { Ok(flags) }
    }

    pub const fn has(self, flag: Flag) -> bool {
        self.0 & flag.bit != 0
    }

    pub fn raise(&mut self, flag: Flag) {
        self.0 |= flag.bit;
    }

    pub fn clear(&mut self, flag: Flag) {
        self.0 &= !flag.bit;
    }
}

/// The text of a position with two rows, as it is written. It is written to one buffer: a formatter takes ten times as long for
/// the numbers, and each move needs this text several times.
#[derive(Debug)]
pub(super) struct Written(Text);

/// Holds the longest text: 28 numbers of up to 5 digits and a sign, 2 of up to 10, and fewer than 32 other characters.
type Text = ArrayString<{ 28 * 6 + 2 * 10 + 32 }>;

impl Written {
    /// The pits, the stores and the side to move.
    pub fn of(board: &Board, mark: Option<char>, turn: Side) -> Self {
        let mut text = Self(ArrayString::new());
        text.row(board, mark, Side::South);
        text.push('/');
        text.row(board, mark, Side::North);
        text.push(' ');
        text.pair(board.store(Side::South), board.store(Side::North));
        text.push(' ');
        text.push(turn.letter());
        text.push(' ');
        text
    }

    /// The flags, in the order of `known`.
    #[must_use]
    pub fn flags(mut self, flags: Flags, known: &[Flag]) -> Self {
        if flags == Flags::default() {
            self.push('-');
        }
        known.iter().filter(|&&flag| flags.has(flag)).for_each(|flag| self.push(flag.letter));
        self
    }

    /// The plies.
    #[must_use]
    pub fn plies(mut self, plies: u32) -> Self {
        self.push(' ');
        self.number(plies);
        self.push(' ');
        self
    }

    /// The whole text of a game with a single round.
    pub fn single_round(mut self) -> Text {
        self.0.push_str(SINGLE_ROUND);
        self.0
    }

    pub fn number(&mut self, number: u32) {
        if number >= 10 {
            self.number(number / 10);
        }
        self.push(char::from_digit(number % 10, 10).expect("a remainder of ten is a digit"));
    }

    pub fn pair(&mut self, south: u16, north: u16) {
        self.number(south.into());
        self.push('-');
        self.number(north.into());
    }

    pub fn push(&mut self, letter: char) {
        self.0.push(letter);
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn row(&mut self, board: &Board, mark: Option<char>, side: Side) {
        for (index, &seeds) in (0..).zip(board.pits(side)) {
            if index > 0 {
                self.push(',');
            }
            match mark {
                Some(mark) if seeds == 0 && board.is_marked(Pit { side, index }) => self.push(mark),
                _ => self.number(seeds.into()),
            }
        }
    }
}

/// Why a text is not a position, or not one that the options allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParsePositionError {
    /// The text does not have six fields.
    #[error(
        "a position has six fields separated by single blanks: pits, stores or reserves, side to move, flags, plies, round"
    )]
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
    #[error("the flags must be - or the letters of this game's flags, each at most once and in their order")]
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
    #[error("the seeds must be {expected} in all, not {found}")]
    SeedTotal {
        /// Seeds by the options.
        expected: u16,
        /// Seeds in the position.
        found: u16,
    },
    /// No game with these options marks pits so.
    #[error("the mark {mark} cannot stand for a pit with these options")]
    MarkByOptions {
        /// Its letter.
        mark: char,
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
    /// The round is beyond the last one of the match.
    #[error("this game has at most {max} rounds")]
    RoundNumber {
        /// Rounds by the options.
        max: u8,
    },
    /// A reserve is bigger than at the start of the game.
    #[error("a reserve must be at most {max} with these options")]
    Reserve {
        /// Seeds in a reserve at the start.
        max: u16,
    },
    /// A rule of the game: no game with these options has such a position.
    #[error("{0}")]
    Rule(&'static str),
}

/// Reads the form only: the total may exceed that of any game, but it cannot overflow.
fn parse_rows(text: &str, mark: Option<char>) -> Result<Board, ParsePositionError> {
    let (south, north) = text.split_once('/').ok_or(ParsePositionError::Rows)?;
    let rows = [parse_row(south, mark)?, parse_row(north, mark)?];
    let pits = rows[0].len();
    if rows[1].len() != pits {
        return Err(ParsePositionError::Rows);
    }
    let mut board = Board::empty(u8::try_from(pits).map_err(|_| ParsePositionError::Rows)?);
    for (side, row) in Side::ALL.into_iter().zip(rows) {
        for (spot, pit) in (board.ring().row(side)..).zip(row) {
            match pit {
                WrittenPit::Seeds(seeds) => board.drop(spot, seeds),
                WrittenPit::Marked => board.mark(spot),
            }
        }
    }
    Ok(board)
}

/// The text of a pit in a row.
#[derive(Clone, Copy, Debug)]
enum WrittenPit {
    Seeds(u16),
    Marked,
}

fn parse_row(text: &str, mark: Option<char>) -> Result<ArrayVec<WrittenPit, ROW_MAX>, ParsePositionError> {
    let mut row = ArrayVec::new();
    for pit in text.split(',') {
        let pit = match (mark, pit.as_bytes()) {
            (Some(mark), &[letter]) if char::from(letter) == mark => WrittenPit::Marked,
            (_, &[letter @ b'a'..=b'z']) => return Err(ParsePositionError::MarkByOptions { mark: letter.into() }),
            _ => WrittenPit::Seeds(parse_seeds(pit).ok_or(ParsePositionError::Rows)?),
        };
        row.try_push(pit).map_err(|_| ParsePositionError::Rows)?;
    }
    Ok(row)
}

/// Two numbers, of South and of North: `1-0`.
pub(super) fn parse_pair(text: &str, parse: impl Fn(&str) -> Option<u16>) -> Option<(u16, u16)> {
    let (south, north) = text.split_once('-')?;
    Some((parse(south)?, parse(north)?))
}

pub(super) fn parse_side(text: &str) -> Option<Side> {
    Side::ALL.into_iter().find(|side| text.strip_prefix(side.letter()) == Some(""))
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
