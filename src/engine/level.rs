//! Computer opponents of eight strengths. Knows how far each looks and how often it errs, and nothing of searching.

use std::sync::atomic::AtomicBool;

use super::{Candidate, Engine, Limits, POINTS_PER_SEED, form::has_packed_form, table::mix};
use crate::rules::{AnyPosition, Move};

/// How strong a computer plays: from 1, a beginner, to 8, as strong as about a second allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level(u8);

/// There is no such level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a level is a number from {min} to {max}, not {number}", min = Level::MIN.0, max = Level::MAX.0)]
pub struct LevelError {
    /// What was given.
    pub number: u8,
}

/// What makes a level.
#[derive(Clone, Copy, Debug)]
struct Strength {
    /// How many positions it looks at for a move.
    nodes: u64,
    /// By how much it misjudges a move at most, either way, in points; small errors are more frequent than large ones.
    error: i32,
}

/// The levels from 1 on. The first looks no farther than its own move, so that it sees what it captures and which move
/// gives another one, but not the answer to it. Each step is as large as it must be for the higher of two levels to win
/// at least 60 of 100 games (`benches/engine.rs tournament`).
const STRENGTHS: [Strength; 8] = [
    Strength { nodes: 1, error: 12 * POINTS_PER_SEED },
    Strength { nodes: 1, error: 5 * POINTS_PER_SEED },
    Strength { nodes: 100, error: 4 * POINTS_PER_SEED },
    Strength { nodes: 500, error: 2 * POINTS_PER_SEED },
    Strength { nodes: 1_500, error: 0 },
    Strength { nodes: 12_000, error: 0 },
    Strength { nodes: 150_000, error: 0 },
    Strength { nodes: 3_000_000, error: 0 },
];

/// How many times longer a position takes that has no packed form.
const SLOWNESS: u64 = 10;

impl Level {
    /// The weakest.
    pub const MIN: Self = Self(1);

    /// The strongest.
    pub const MAX: Self = Self(8);

    /// All levels, the weakest first.
    pub fn all() -> impl Iterator<Item = Self> {
        (Self::MIN.0..=Self::MAX.0).map(Self)
    }

    /// Its number.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    fn strength(self) -> Strength {
        STRENGTHS[usize::from(self.0 - Self::MIN.0)]
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
    /// The move that a computer of this level plays; `None` if the game is over. The same for the same position, history,
    /// level and seed, unless somebody raises `stop`: then it is the best move that was found until then.
    ///
    /// A table of 16 MiB is enough. Level 8 takes about a second with the rules in release builds.
    pub fn choose(&mut self, position: &AnyPosition, level: Level, seed: u64, stop: &AtomicBool) -> Option<Move> {
        let moves = position.legal_moves();
        if moves.len() < 2 {
            return moves.first().copied();
        }
        let Strength { nodes, error } = level.strength();
        let limits = Limits::nodes(if has_packed_form(position) { nodes } else { nodes / SLOWNESS + 1 });
        self.forget();
        if error == 0 {
            return self.search(position, limits, stop).map(|found| found.best());
        }
        let candidates = self.candidates(position, limits, stop);
        let misjudged = |(index, candidate): (u64, &Candidate)| {
            let seed = mix(seed ^ mix(index));
            let half = |half: u64| i32::try_from(half % u64::from(error.unsigned_abs())).unwrap_or(0);
            let judgement = candidate.value.points_for(position.turn());
            judgement + half(seed >> 32) + half(seed & 0xffff_ffff)
        };
        (0..).zip(&candidates).max_by_key(|&(index, candidate)| misjudged((index, candidate))).map(|(_, best)| best.m())
    }
}
