//! Computer opponents of eight levels. Knows how far each searches and by how much it errs, and nothing of searching.

use mancala_rules::{AnyPosition, Move, Variant};

use crate::{
    engine::Engine,
    games::{known, nodes_within},
    known::Strength,
    limits::Limits,
    mix::mix,
    signal::Signal,
    value::POINTS_PER_SEED,
};

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
        known(variant).strengths[usize::from(self.0 - Self::MIN.0)]
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
