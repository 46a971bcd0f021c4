//! The progress of solving a position. Knows nothing of how it is solved.

/// How much of a position is solved so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// How many of the position's moves have an exact value.
    pub moves_solved: usize,
    /// How many moves the position has.
    pub moves: usize,
    /// How many positions were visited.
    pub nodes: u64,
}
