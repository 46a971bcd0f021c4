//! Visits of games to positions, in the binary form in which they are sorted and stored until all games are read.
//!
//! A visit is ordered by its bytes: by position as the database orders it, origin, move and game. The rest follows.

use mancala_rules::Side;
use time::{Duration, OffsetDateTime, macros::datetime};
use uuid::Uuid;

use crate::{
    connection::copy::microseconds,
    study::{
        explored_games::CountedGame,
        frequent::FREQUENT_FROM,
        position_column::position_column,
        tallies::{MoveRow, SAMPLE_GAMES},
    },
};

/// The number of the form. A change of the bytes below needs another one.
pub(super) const FORM: i16 = 2;

/// A visit: position (8 bytes), whether the game was imported (1), move (5), game (16), time (8), lead (4), the game's number (4), flags (1).
pub(super) type Visit = [u8; BYTES];

/// How many bytes a visit has.
pub(super) const BYTES: usize = 47;

/// The length of the part of a visit that is the key of its row of `explored_move`.
const KEY: usize = 14;

/// Behind the game's id.
const GAME_END: usize = KEY + 16;

/// The number of the game ends here, and the flags follow.
const NUMBER_END: usize = BYTES - 1;

/// The longest move is `agree`. Shorter ones are followed by zeros; where the game ended there is none.
const MOVE_BYTES: usize = 5;

/// Turns the order of unsigned numbers into that of PostgreSQL's signed ones.
const SIGN: u64 = 1 << 63;

/// A lead that is not there.
const NO_LEAD: i32 = i32::MIN;

/// The flags.
const FIRST: u8 = 1;
const SOUTH_WON: u8 = 2;
const NORTH_WON: u8 = 4;

/// How many first bits of a position make its range.
const RANGE_BITS: u32 = 10;

/// The moment from which PostgreSQL counts microseconds.
const EPOCH: OffsetDateTime = datetime!(2000-01-01 00:00 UTC);

/// The visits of a game with a number.
pub(super) fn of_game(game: &CountedGame, number: u32) -> impl Iterator<Item = Visit> {
    let CountedGame { id, is_imported, exploration } = game;
    let won = match exploration.winner {
        Some(Side::South) => SOUTH_WON,
        Some(Side::North) => NORTH_WON,
        None => 0,
    };
    exploration.visits.iter().map(move |visit| {
        let position = position_column(visit.position).cast_unsigned() ^ SIGN;
        let mv = visit.mv.map_or_else(String::new, |mv| mv.to_string());
        let flags = won | if visit.is_first { FIRST } else { 0 };
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(&position.to_be_bytes());
        bytes[8] = u8::from(*is_imported);
        bytes[9..9 + mv.len()].copy_from_slice(mv.as_bytes());
        bytes[KEY..GAME_END].copy_from_slice(id.as_bytes());
        bytes[GAME_END..GAME_END + 8].copy_from_slice(&microseconds(visit.at).to_be_bytes());
        bytes[GAME_END + 8..GAME_END + 12].copy_from_slice(&exploration.lead.unwrap_or(NO_LEAD).to_be_bytes());
        bytes[NUMBER_END - 4..NUMBER_END].copy_from_slice(&number.to_be_bytes());
        bytes[BYTES - 1] = flags;
        bytes
    })
}

/// The number of a visit's game.
pub(super) fn number(visit: &Visit) -> u32 {
    u32::from_be_bytes(array(&visit[NUMBER_END - 4..NUMBER_END]))
}

/// A visit of which the game has a number that is greater by this.
pub(super) fn renumbered(visit: &Visit, by: u32) -> Visit {
    let mut visit = *visit;
    let number = number(&visit) + by;
    visit[NUMBER_END - 4..NUMBER_END].copy_from_slice(&number.to_be_bytes());
    visit
}

/// The position of a visit, as the database holds it.
pub(super) fn position(visit: &Visit) -> i64 {
    (u64::from_be_bytes(array(&visit[..8])) ^ SIGN).cast_signed()
}

/// The range of a visit's position.
pub(super) fn range(visit: &Visit) -> i16 {
    let first = u16::from_be_bytes(array(&visit[..2])) >> (u16::BITS - RANGE_BITS);
    i16::try_from(first).expect("it has few bits")
}

/// The game of a visit.
pub(super) fn game(visit: &Visit) -> Uuid {
    Uuid::from_bytes(array(&visit[KEY..GAME_END]))
}

/// Whether it is the game's first visit to the position.
pub(super) const fn is_first(visit: &Visit) -> bool {
    visit[BYTES - 1] & FIRST != 0
}

/// The rows of `explored_move` for sorted visits, whether their positions are frequent or not.
pub(super) fn rows(visits: &[Visit]) -> impl Iterator<Item = Row<'_>> {
    visits.chunk_by(|one, other| one[..KEY] == other[..KEY]).map(Row::of)
}

/// Sorted visits, divided by position.
pub(super) fn by_position(visits: &[Visit]) -> impl Iterator<Item = &[Visit]> {
    visits.chunk_by(|one, other| one[..8] == other[..8])
}

/// Whether a position has enough games for rows. `visits` are all visits to it.
pub(super) fn is_frequent(visits: &[Visit]) -> bool {
    let least = usize::from(FREQUENT_FROM);
    visits.len() >= least && visits.iter().filter(|visit| is_first(visit)).count() >= least
}

/// The counts that visits with the same position, origin and move add to a row of `explored_move`.
pub(super) struct Row<'a> {
    pub(super) position: i64,
    pub(super) is_imported: bool,
    /// Empty: the game ended there.
    pub(super) mv: &'a str,
    pub(super) games: i32,
    pub(super) first_visits: i32,
    pub(super) south_wins: i32,
    pub(super) north_wins: i32,
    pub(super) played_out: i32,
    pub(super) lead_sum: i64,
    /// Microseconds, as PostgreSQL counts them.
    pub(super) last_played_at: i64,
    /// The visits of the newest games, in the order of the games' ids.
    pub(super) sample: &'a [Visit],
}

impl<'a> Row<'a> {
    fn of(visits: &'a [Visit]) -> Self {
        let first = &visits[0];
        let mv = &first[9..KEY];
        let length = mv.iter().position(|byte| *byte == 0).unwrap_or(MOVE_BYTES);
        let mut row = Self {
            position: position(first),
            is_imported: first[8] != 0,
            mv: std::str::from_utf8(&mv[..length]).unwrap_or_default(),
            games: i32::try_from(visits.len()).unwrap_or(i32::MAX),
            first_visits: 0,
            south_wins: 0,
            north_wins: 0,
            played_out: 0,
            lead_sum: 0,
            last_played_at: i64::MIN,
            sample: &visits[visits.len().saturating_sub(SAMPLE_GAMES)..],
        };
        for visit in visits {
            let flags = visit[BYTES - 1];
            let lead = i32::from_be_bytes(array(&visit[GAME_END + 8..GAME_END + 12]));
            row.first_visits += i32::from(flags & FIRST != 0);
            row.south_wins += i32::from(flags & SOUTH_WON != 0);
            row.north_wins += i32::from(flags & NORTH_WON != 0);
            if lead != NO_LEAD {
                row.played_out += 1;
                row.lead_sum += i64::from(lead);
            }
            let at = i64::from_be_bytes(array(&visit[GAME_END..GAME_END + 8]));
            row.last_played_at = row.last_played_at.max(at);
        }
        row
    }
}

/// A row to be taken out. Its sample is not needed for that.
impl From<Row<'_>> for MoveRow {
    fn from(row: Row<'_>) -> Self {
        Self {
            position: row.position,
            is_imported: row.is_imported,
            mv: row.mv.to_owned(),
            games: row.games,
            first_visits: row.first_visits,
            south_wins: row.south_wins,
            north_wins: row.north_wins,
            played_out: row.played_out,
            lead_sum: row.lead_sum,
            last_played_at: EPOCH + Duration::microseconds(row.last_played_at),
            sample: String::new(),
        }
    }
}

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().expect("the places of a visit are constants")
}
