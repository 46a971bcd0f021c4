//! The choices of both sides in a lockstep opening (R10). Knows no sowing.

use crate::Pit;

/// A lockstep opening in which no seed has been sown yet: South chooses its pit first, then North.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lockstep {
    /// The pit that South has chosen; `None` while it chooses.
    pub chosen: Option<Pit>,
}
