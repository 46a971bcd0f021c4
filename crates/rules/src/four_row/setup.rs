//! What a position text of a game with four rows has beside the common fields (R22): pits with marks, reserves, and its flags.
//!
//! An example is `0,0,0,0,6n,2,2,0,0,0,0,0,0,0,0,0/0,0,0,0,6n,2,2,0,0,0,0,0,0,0,0,0 22-22 S - 0 1S`. The flags are those of all
//! such games, because their texts have one form. A game refuses those that its options do not raise.

use std::fmt::{self, Write};

use super::Board;
use crate::{
    BySide, Direction, PITS_MAX, ParsePositionError, Pit, Side,
    setup::{self, SINGLE_ROUND, parse_number, parse_pair, parse_side},
};

/// The content of a position text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Content {
    pub board: Board,
    pub turn: Side,
    pub flags: Flags,
    pub plies: u32,
}

/// The fourth field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flags {
    /// The game runs.
    Running(Running),
    /// The game is over, and this side has won; `None` is a draw.
    Over(Option<Side>),
}

/// The flags of a running game, in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Running {
    /// `s`: the next pit to be filled.
    pub arranging: Option<Pit>,
    /// `e`: a choice is open.
    pub choice: Option<OpenChoice>,
    /// `c`, `x`, `y`: the captures of this turn.
    pub captures: Captures,
    /// `K`, `k`: South, North has captured in some turn.
    pub captured: BySide<bool>,
    /// `F`, `f`: South or North has its first turn before it, in which it captures nothing.
    pub first_turns: BySide<bool>,
}

/// `eEU`, `eI` or `eG7`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpenChoice {
    pub pit: Pit,
    pub hand: Option<u16>,
    pub direction: Option<Direction>,
}

/// The captures of a turn of Omweso, as far as the options need them (R22).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Captures {
    /// `c`: something.
    pub any: bool,
    /// `x`: at `A`.
    pub at_a: bool,
    /// `y`: at `H`.
    pub at_h: bool,
}

/// What a position text of a game with four rows must be like, beside what all texts must.
pub mod required {
    /// The first field is not two lists of counts with their marks.
    pub const PITS: &str =
        "the pits must be two lists of 16 seed counts, each with the marks n and t or without, such as 0,6n,2t";

    /// The second field is not two counts.
    pub const RESERVES: &str = "the reserves must be two seed counts, such as 22-22, each at most 64";

    /// The fourth field is not a list of flags.
    pub const FLAGS: &str = "the flags must be - or s, e, c, x, y, K, k, F, f in this order, or oS, oN or od alone";

    /// The mark of a house is not at E, or the options have no house.
    pub const HOUSE: &str = "the mark n can only be at E, and only with options that have a house";

    /// The mark of a blocked pit cannot be there.
    pub const BLOCKED: &str = "the mark t cannot occur there with these options and the rest of the position";

    /// The flags of an open choice cannot be.
    pub const CHOICE: &str = "the flags e, c, x and y cannot stand so with these options and the rest of the position";

    /// The flag of an arrangement cannot be.
    pub const ARRANGING: &str = "the flag s cannot occur with these options and the rest of the position";

    /// The flags of a first turn cannot be.
    pub const FIRST_TURN: &str = "the flags F and f stand without others, and the side to move has its own";
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { board, turn, flags, plies } = self;
        for (side, end) in [(Side::South, '/'), (Side::North, ' ')] {
            let house = board.owns_house(side);
            for pit in Pit::all(side) {
                write!(f, "{}", board.seeds(pit))?;
                if house && pit.index == HOUSE {
                    f.write_char('n')?;
                }
                if board.blocked() == Some(pit) {
                    f.write_char('t')?;
                }
                f.write_char(if usize::from(pit.index) + 1 < PITS_MAX { ',' } else { end })?;
            }
        }
        let reserves = (board.reserve(Side::South), board.reserve(Side::North));
        write!(f, "{}-{} {} ", reserves.0, reserves.1, turn.letter())?;
        write_flags(f, *flags, *turn)?;
        write!(f, " {plies} {SINGLE_ROUND}")
    }
}

/// The index of `E`, the house (R24).
pub(crate) const HOUSE: u8 = 4;

fn write_flags(f: &mut impl Write, flags: Flags, turn: Side) -> fmt::Result {
    match flags {
        Flags::Over(winner) => write!(f, "o{}", winner.map_or('d', Side::letter)),
        Flags::Running(flags) if flags == Running::default() => f.write_char('-'),
        Flags::Running(Running { arranging, choice, captures, captured, first_turns }) => {
            if let Some(pit) = arranging {
                write!(f, "s{pit}")?;
            }
            if let Some(OpenChoice { pit, hand, direction }) = choice {
                write!(f, "e{pit}")?;
                if let Some(hand) = hand {
                    write!(f, "{hand}")?;
                }
                if let Some(direction) = direction {
                    f.write_char(direction.letter(turn))?;
                }
            }
            let letters = [
                (captures.any, 'c'),
                (captures.at_a, 'x'),
                (captures.at_h, 'y'),
                (captured.south, 'K'),
                (captured.north, 'k'),
                (first_turns.south, 'F'),
                (first_turns.north, 'f'),
            ];
            letters.iter().filter(|(up, _)| *up).try_for_each(|(_, letter)| f.write_char(*letter))
        }
    }
}

impl Content {
    /// Reads a position text. Checks the form only, and that no sum can overflow.
    pub fn of(text: &str) -> Result<Self, ParsePositionError> {
        let setup = setup::Setup::of(text)?;
        let mut board = Board::default();
        let (south, north) = setup.pits.split_once('/').ok_or(ParsePositionError::Rule(required::PITS))?;
        read_pits(&mut board, Side::South, south)?;
        read_pits(&mut board, Side::North, north)?;
        let (south, north) =
            parse_pair(setup.banks, parse_seeds).ok_or(ParsePositionError::Rule(required::RESERVES))?;
        board.set_reserve(Side::South, south);
        board.set_reserve(Side::North, north);
        let flags = parse_flags(setup.flags, setup.turn).ok_or(ParsePositionError::Rule(required::FLAGS))?;
        setup.check_single_round()?;
        Ok(Self { board, turn: setup.turn, flags, plies: setup.plies })
    }
}

/// Reads the pits of one side with their marks.
fn read_pits(board: &mut Board, side: Side, text: &str) -> Result<(), ParsePositionError> {
    let mut counts = text.split(',');
    for pit in Pit::all(side) {
        let count = counts.next().ok_or(ParsePositionError::Rule(required::PITS))?;
        let (count, blocked) = count.strip_suffix('t').map_or((count, false), |rest| (rest, true));
        let (count, house) = count.strip_suffix('n').map_or((count, false), |rest| (rest, true));
        board.drop(pit, parse_seeds(count).ok_or(ParsePositionError::Rule(required::PITS))?);
        if house {
            if pit.index != HOUSE {
                return Err(ParsePositionError::Rule(required::HOUSE));
            }
            board.set_house(side, true);
        }
        if blocked {
            if board.blocked().is_some() {
                return Err(ParsePositionError::Rule(required::BLOCKED));
            }
            board.set_blocked(Some(pit));
        }
    }
    if counts.next().is_some() { Err(ParsePositionError::Rule(required::PITS)) } else { Ok(()) }
}

fn parse_seeds(text: &str) -> Option<u16> {
    let seeds = u16::try_from(parse_number(text)?).ok()?;
    (seeds <= super::SEEDS).then_some(seeds)
}

fn parse_flags(text: &str, turn: Side) -> Option<Flags> {
    match text {
        "-" => return Some(Flags::Running(Running::default())),
        "od" => return Some(Flags::Over(None)),
        _ => {}
    }
    if let Some(side) = text.strip_prefix('o') {
        return parse_side(side).map(|winner| Flags::Over(Some(winner)));
    }
    let mut rest = text;
    let mut flags = Running::default();
    if let Some(after) = rest.strip_prefix('s') {
        let (pit, after) = read_pit(after, turn)?;
        (flags.arranging, rest) = (Some(pit), after);
    }
    if let Some(after) = rest.strip_prefix('e') {
        let (choice, after) = read_choice(after, turn)?;
        (flags.choice, rest) = (Some(choice), after);
    }
    let mut has = |letter: char| {
        let after = rest.strip_prefix(letter);
        rest = after.unwrap_or(rest);
        after.is_some()
    };
    flags.captures = Captures { any: has('c'), at_a: has('x'), at_h: has('y') };
    flags.captured = BySide { south: has('K'), north: has('k') };
    flags.first_turns = BySide { south: has('F'), north: has('f') };
    // An empty text is no list of flags.
    (rest.is_empty() && flags != Running::default()).then_some(Flags::Running(flags))
}

/// Reads the letter of a pit of the side to move.
fn read_pit(text: &str, turn: Side) -> Option<(Pit, &str)> {
    let (letter, rest) = text.split_at_checked(1)?;
    let pit: Pit = letter.parse().ok()?;
    (pit.side == turn).then_some((pit, rest))
}

fn read_choice(text: &str, turn: Side) -> Option<(OpenChoice, &str)> {
    let (pit, rest) = read_pit(text, turn)?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = rest.split_at_checked(digits)?;
    let hand = if number.is_empty() { None } else { Some(parse_seeds(number)?) };
    let starts_with = |direction: &Direction| rest.starts_with(direction.letter(turn));
    let direction = Direction::ALL.into_iter().find(starts_with);
    let rest = if direction.is_some() { rest.get(1..)? } else { rest };
    Some((OpenChoice { pit, hand, direction }, rest))
}
