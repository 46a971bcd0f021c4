//! Computer opponents of eight levels. Knows how far each searches and by how much it errs, and nothing of searching.

use mancala_rules::{AnyPosition, Move, Variant};

use crate::{engine::Engine, form::nodes_within, limits::Limits, mix::mix, signal::Signal, value::POINTS_PER_SEED};

/// The strength of a computer opponent: from 1, a beginner, to 8, as strong as about a second a move allows.
///
/// ```
/// use mancala_engine::Level;
///
/// let level = Level::try_from(3)?;
/// assert_eq!(level.number(), 3);
/// assert!(Level::MIN < level && level < Level::MAX);
/// assert!(Level::try_from(9).is_err());
/// # Ok::<(), mancala_engine::LevelError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level(u8);

/// The number is not that of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a level is a number from {min} to {max}, not {number}", min = Level::MIN.0, max = Level::MAX.0)]
pub struct LevelError {
    /// The number that was given.
    pub number: u8,
}

/// The parameters of a level.
#[derive(Clone, Copy, Debug)]
struct Strength {
    /// How many positions it visits for a move.
    nodes: u64,
    /// The range of its error, in points. The value of each move is raised by two random numbers below it. So small
    /// differences between moves are often misjudged, and large ones seldom.
    error: u32,
}

/// A strength with this number of positions, and this error in hundredths of a seed.
const fn strength(nodes: u64, error: u32) -> Strength {
    Strength { nodes, error }
}

/// The levels of each game from 1 on. Levels with a single position search only their own move. They see what it captures and
/// that it gives an extra move, but not the reply.
///
/// The steps are chosen so that the higher of two levels wins 60 of 100 games; `benches/engine.rs tournament` measures
/// it. Congkak is often decided early, however well both sides play on. For its levels to differ, all but the last must
/// err by many of its 98 seeds.
type Strengths = [Strength; 8];

const KALAH: Strengths = [
    strength(1, 8_000),
    strength(1, 1_200),
    strength(30, 550),
    strength(100, 450),
    strength(500, 200),
    strength(2_500, 0),
    strength(25_000, 0),
    strength(NODES_MAX, 0),
];

const OWARE: Strengths = [
    strength(1, 8_000),
    strength(1, 1_200),
    strength(1, 500),
    strength(30, 400),
    strength(200, 250),
    strength(2_000, 100),
    strength(30_000, 0),
    strength(NODES_MAX, 0),
];

const CONGKAK: Strengths = [
    strength(1, 15_000),
    strength(1, 2_000),
    strength(100, 3_600),
    strength(100, 2_100),
    strength(100, 1_080),
    strength(300, 1_050),
    strength(1_000, 700),
    strength(NODES_MAX, 0),
];

const TOGUZ_KUMALAK: Strengths = [
    strength(1, 15_000),
    strength(1, 4_500),
    strength(30, 2_300),
    strength(150, 1_400),
    strength(550, 750),
    strength(900, 620),
    strength(2_500, 350),
    strength(NODES_MAX_IN_GENERAL_FORM, 0),
];

const BESTEMSHE: Strengths = [
    strength(1, 8_000),
    strength(1, 790),
    strength(80, 410),
    strength(160, 310),
    strength(260, 275),
    strength(480, 205),
    strength(1_300, 110),
    strength(NODES_MAX_IN_GENERAL_FORM, 0),
];

const BAO: Strengths = [
    strength(1, 8_000),
    strength(1, 2_500),
    strength(150, 1_200),
    strength(400, 800),
    strength(1_500, 600),
    strength(6_000, 300),
    strength(60_000, 0),
    strength(NODES_MAX_OF_FOUR_ROWS, 0),
];

const OMWESO: Strengths = [
    strength(1, 8_000),
    strength(1, 2_500),
    strength(150, 1_100),
    strength(500, 850),
    strength(1_200, 600),
    strength(3_000, 400),
    strength(10_000, 250),
    strength(NODES_MAX_OF_FOUR_ROWS, 0),
];

/// The levels of a game.
const fn strengths(variant: Variant) -> Strengths {
    match variant {
        Variant::Kalah => KALAH,
        Variant::Oware => OWARE,
        Variant::Congkak => CONGKAK,
        Variant::ToguzKumalak => TOGUZ_KUMALAK,
        Variant::Bestemshe => BESTEMSHE,
        Variant::Bao => BAO,
        Variant::Omweso => OMWESO,
    }
}

/// Positions that the engine visits in about a second, in packed form and a release build.
const NODES_MAX: u64 = 3_000_000;

/// Positions a second of games with two rows that have no packed form. `nodes_within` divides it by how much slower the general
/// form is.
const NODES_MAX_IN_GENERAL_FORM: u64 = 1_500_000;

/// Positions a second of games with four rows, whose moves sow many laps.
const NODES_MAX_OF_FOUR_ROWS: u64 = 900_000;

impl Level {
    /// The weakest level.
    pub const MIN: Self = Self(1);

    /// The strongest level.
    pub const MAX: Self = Self(8);

    /// All levels, the weakest first.
    pub fn all() -> impl Iterator<Item = Self> {
        (Self::MIN.0..=Self::MAX.0).map(Self)
    }

    /// The level's number, from 1 to 8.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    fn strength(self, variant: Variant) -> Strength {
        strengths(variant)[usize::from(self.0 - Self::MIN.0)]
    }
}

impl TryFrom<u8> for Level {
    type Error = LevelError;

    fn try_from(number: u8) -> Result<Self, LevelError> {
        let level = Self(number);
        if (Self::MIN..=Self::MAX).contains(&level) { Ok(level) } else { Err(LevelError { number }) }
    }
}

impl Engine {
    /// The move that a computer of this level plays; `None` if the game is over.
    ///
    /// Deterministic for the position, its history, the level, the seed and the size of the table. If `stop` ends the
    /// search, it is the best move found so far.
    ///
    /// Clears the table first. A table of 16 MiB is enough. The highest level takes about a second in release builds.
    pub fn choose(&mut self, position: &AnyPosition, level: Level, seed: u64, stop: &Signal) -> Option<Move> {
        let moves = position.legal_moves();
        if moves.len() < 2 {
            return moves.first().copied();
        }
        let Strength { nodes, error } = level.strength(position.options().variant());
        let limits = Limits::nodes(nodes_within(position, nodes));
        self.forget();
        if error == 0 {
            return self.search(position, limits, stop).map(|found| found.best());
        }
        let candidates = self.candidates(position, limits, stop);
        let judgement = |m: Move, points: i32| {
            let place = (0_u64..).zip(&moves).find(|&(_, &listed)| listed == m).map_or(0, |(place, _)| place);
            let random = mix(seed ^ mix(place));
            let [first, second] = [random >> 32, random & 0xffff_ffff].map(|half| half % u64::from(error));
            i64::from(points) + (first + second).cast_signed()
        };
        let rated = candidates.iter().map(|candidate| {
            let (m, points) = (candidate.m(), candidate.value.points_for(position.turn()));
            (judgement(m, points), m)
        });
        rated.max_by_key(|&(judgement, _)| judgement).map(|(_, m)| m)
    }
}

/// The errors above depend on it.
const _: () = assert!(POINTS_PER_SEED == 100, "errors are given in hundredths of a seed");
