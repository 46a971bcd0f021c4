//! A move of a searched position. Knows no rule, and nothing of searching.

use crate::{
    table::{Key, MovePlace},
    value::Bounds,
};

/// A move, and the position after it.
#[derive(Clone, Debug)]
pub(crate) struct Child<P, M> {
    pub m: M,
    /// The place of the move among those of the position before it.
    pub place: MovePlace,
    pub position: P,
    pub key: Key,
    pub same_player: bool,
    /// The proven bounds of the move, from the view of the player who plays it.
    pub bounds: Bounds,
    /// The child with the highest order is searched first.
    pub order: i32,
}

impl<P, M> Child<P, M> {
    /// The sort key: the child with the lowest rank is searched first.
    pub const fn rank(&self) -> i32 {
        -self.order
    }
}
