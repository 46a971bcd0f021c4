//! How far a search looks. Knows nothing of games or of searching.

/// The bounds of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most positions to visit; 0 counts as 1. There is an answer in any case, by an estimate of each legal move.
    pub nodes: u64,
    /// The most plies to look ahead; more than 200 count as 200.
    pub depth: u8,
}

impl Limits {
    /// At most `nodes` positions, to any depth.
    ///
    /// ```
    /// use mancala_engine::Limits;
    ///
    /// let limits = Limits { depth: 6, ..Limits::nodes(50_000) };
    /// assert_eq!(limits.nodes, 50_000);
    /// ```
    #[must_use]
    pub const fn nodes(nodes: u64) -> Self {
        Self { nodes, depth: DEPTH_MAX }
    }
}

/// The most plies to look ahead: more than most games have, and few enough for the recursion.
pub(crate) const DEPTH_MAX: u8 = 200;

/// The most plies of one line, with those that extend it beyond its depth: the bound of the recursion.
pub(crate) const PLIES_MAX: u16 = 240;
