//! Values: what is proven, what is estimated, and both as a caller gets them. Knows no game, and nothing of searching.

use mancala_rules::Side;

/// How finely the engine estimates: so many points make a seed.
pub const POINTS_PER_SEED: i32 = 100;

/// The margin at the end of the game, as the module says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// South's seeds less North's, in hundredths of a seed ([`POINTS_PER_SEED`]).
    pub points: i32,
    /// Whether it is proven, and not an estimate. Then it is a whole number of seeds.
    pub is_exact: bool,
}

impl Evaluation {
    /// The same in seeds.
    #[must_use]
    pub fn seeds(self) -> f64 {
        f64::from(self.points) / f64::from(POINTS_PER_SEED)
    }

    /// As somebody sees it who sits at this side, in hundredths of a seed.
    #[must_use]
    pub const fn points_for(self, side: Side) -> i32 {
        match side {
            Side::South => self.points,
            Side::North => -self.points,
        }
    }

    /// What the search has found, as the side to move sees it.
    pub(crate) fn of(value: Value, turn: Side) -> Self {
        let seen = Self { points: value.points, is_exact: value.bounds.is_exact() };
        Self { points: seen.points_for(turn), ..seen }
    }
}

/// What was found out about a position, as the person sees it who is to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    /// In points.
    pub points: i32,
    /// Proven.
    pub bounds: Bounds,
}

impl Value {
    /// As the person sees it who moved before.
    pub const fn seen(self, same_person: bool) -> Self {
        if same_person { self } else { Self { points: -self.points, bounds: self.bounds.turned() } }
    }
}

/// Proven: the margin at the end, after best play by both, is neither less nor more, in seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub low: i32,
    pub high: i32,
}

impl Bounds {
    /// Whether only one margin is left.
    pub const fn is_exact(self) -> bool {
        self.low == self.high
    }

    /// As the other side sees them.
    pub const fn turned(self) -> Self {
        Self { low: -self.high, high: -self.low }
    }

    /// What is known if both are known.
    pub fn and(self, other: Self) -> Self {
        Self { low: self.low.max(other.low), high: self.high.min(other.high) }
    }

    /// The same counted from another margin.
    pub const fn shifted(self, by: i32) -> Self {
        Self { low: self.low + by, high: self.high + by }
    }

    /// The possible value that is nearest to an estimate in points.
    pub fn clamp(self, points: i32) -> i32 {
        points.clamp(self.low * POINTS_PER_SEED, self.high * POINTS_PER_SEED)
    }
}
