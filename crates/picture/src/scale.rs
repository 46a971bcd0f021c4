//! The scale of a graph: where plies and seeds lie in the picture. Knows no game.

/// The area of the graph in the picture, in units.
pub const LEFT: i32 = 58;
pub const RIGHT: i32 = 622;
pub const TOP: i32 = 52;
pub const BOTTOM: i32 = 316;

/// The most lines of the grid on one side of zero, and the most labels along the plies.
const LEVELS_MAX: i32 = 3;
const TICKS_MAX: u32 = 8;

/// The least height of the graph in seeds: a lead of one seed must not look like a won game.
const SEEDS_LEAST: i32 = 6;

/// A number along an edge, and its coordinate there.
pub struct Label {
    pub at: i32,
    pub text: String,
}

/// The scale of plies and seeds.
pub struct Scale {
    first: u32,
    last: u32,
    /// The seeds between two lines of the grid.
    step: i32,
    /// The seeds at the upper edge.
    most: i32,
}

impl Scale {
    /// The scale from one ply to another, for `seeds` seeds on each side of zero.
    pub fn new([first, last]: [u32; 2], seeds: i32) -> Self {
        let most = seeds.max(SEEDS_LEAST);
        let steps = [2, 5, 10, 20, 50, 100];
        let step = steps.into_iter().find(|step| most <= step * LEVELS_MAX).unwrap_or(100);
        Self { first, last, step, most: (most + step - 1) / step * step }
    }

    /// Where a ply lies.
    pub fn x(&self, ply: u32) -> i32 {
        let plies = i64::from(self.last.saturating_sub(self.first)).max(1);
        let along = i64::from(ply.saturating_sub(self.first)) * i64::from(RIGHT - LEFT) / plies;
        LEFT + i32::try_from(along).unwrap_or(0)
    }

    /// The y of a value in hundredths of a seed.
    pub fn y(&self, hundredths: i32) -> i32 {
        i32::midpoint(TOP, BOTTOM) - hundredths * (BOTTOM - TOP) / 2 / (self.most * 100)
    }

    /// The numbers of seeds, along the left edge.
    pub fn levels(&self) -> Vec<Label> {
        let highest = self.most / self.step;
        let level = |n: i32| Label { at: self.y(n * self.step * 100), text: (n * self.step).abs().to_string() };
        (-highest..=highest).map(level).collect()
    }

    /// The numbers of plies, along the lower edge.
    pub fn ticks(&self) -> Vec<Label> {
        let plies = self.last.saturating_sub(self.first);
        let steps = [1, 2, 5, 10, 20, 50, 100, 200];
        let step = steps.into_iter().find(|step| plies <= step * TICKS_MAX).unwrap_or(500);
        let tick = |ply: u32| Label { at: self.x(ply), text: ply.to_string() };
        (self.first.div_ceil(step)..=self.last / step).map(|n| tick(n * step)).collect()
    }
}
