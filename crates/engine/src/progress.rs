//! How far a solving is.

/// How far a solving is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// How many first moves are solved.
    pub moves_solved: usize,
    /// How many there are.
    pub moves: usize,
    /// How many positions were looked at.
    pub nodes: u64,
}
