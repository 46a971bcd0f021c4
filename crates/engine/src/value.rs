//! Values: estimates, proven bounds, and both as a caller gets them. Knows no game, and nothing of searching.

use mancala_rules::Side;

/// The resolution of estimates: the points of one seed.
pub const POINTS_PER_SEED: i32 = 100;

/// The margin at the end of the game after best play by both, as the [crate](crate) defines it.
///
/// ```
/// use mancala_engine::Evaluation;
/// use mancala_rules::Side;
///
/// let value = Evaluation { points: -250, is_exact: false };
/// assert_eq!(value.seeds(), -2.5);
/// assert_eq!(value.points_for(Side::North), 250);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// South's seeds less North's, in hundredths of a seed ([`POINTS_PER_SEED`]).
    pub points: i32,
    /// Whether the margin is proven rather than estimated. Then it is a whole number of seeds.
    pub is_exact: bool,
}

impl Evaluation {
    /// The margin in seeds.
    #[must_use]
    pub fn seeds(self) -> f64 {
        f64::from(self.points) / f64::from(POINTS_PER_SEED)
    }

    /// The margin from the view of this side, in hundredths of a seed.
    #[must_use]
    pub const fn points_for(self, side: Side) -> i32 {
        match side {
            Side::South => self.points,
            Side::North => -self.points,
        }
    }

    /// From a value of the search, which is from the view of the side to move.
    pub(crate) fn of(value: Value, turn: Side) -> Self {
        let seen = Self { points: value.points, is_exact: value.bounds.is_exact() };
        Self { points: seen.points_for(turn), ..seen }
    }
}

/// The value of a position, from the view of the player to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    /// The estimate, in points.
    pub points: i32,
    /// The proven bounds, in seeds.
    pub bounds: Bounds,
}

impl Value {
    /// The value from the view of the player who moved before, given whether that is the same player.
    pub const fn seen(self, same_player: bool) -> Self {
        if same_player { self } else { Self { points: -self.points, bounds: self.bounds.turned() } }
    }
}

/// Proven bounds of the margin at the end after best play by both, in seeds, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub low: i32,
    pub high: i32,
}

impl Bounds {
    /// The bounds of a known margin.
    pub const fn exact(margin: i32) -> Self {
        Self { low: margin, high: margin }
    }

    /// Whether only one margin is left.
    pub const fn is_exact(self) -> bool {
        self.low == self.high
    }

    /// The bounds from the view of the other side.
    pub const fn turned(self) -> Self {
        Self { low: -self.high, high: -self.low }
    }

    /// The intersection of two bounds of the same value.
    pub fn and(self, other: Self) -> Self {
        Self { low: self.low.max(other.low), high: self.high.min(other.high) }
    }

    /// The bounds, with `by` seeds added to both.
    pub const fn shifted(self, by: i32) -> Self {
        Self { low: self.low + by, high: self.high + by }
    }

    /// The value within the bounds that is nearest to an estimate, both in points.
    pub fn clamp(self, points: i32) -> i32 {
        points.clamp(self.low * POINTS_PER_SEED, self.high * POINTS_PER_SEED)
    }
}
