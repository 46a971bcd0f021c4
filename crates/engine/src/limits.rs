//! How far a search looks. Knows nothing of searching.

/// How far to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most positions to look at. A few more than the moves there are may be, so that there is an answer.
    pub nodes: u64,
    /// The most plies to look ahead.
    pub depth: u8,
}

impl Limits {
    /// So many positions, to whatever depth.
    #[must_use]
    pub const fn nodes(nodes: u64) -> Self {
        Self { nodes, depth: DEPTH_MAX }
    }
}

/// The most plies that are looked ahead: more than most games have, and few enough for the recursion.
pub(crate) const DEPTH_MAX: u8 = 200;

/// The most plies that are looked at beyond each other, whatever the depth: the recursion is as deep.
pub(crate) const PLIES_MAX: u16 = 240;
