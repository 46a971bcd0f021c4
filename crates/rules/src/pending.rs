//! An open choice inside a turn, in any game. Knows where it is, not what may be chosen.

use crate::Pit;

/// A turn waits for its owner's choice: a lap has ended in a pit, whose seeds or whose catch may be sown on (R23).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pending {
    /// The pit from which the sowing continues.
    pub pit: Pit,
    /// Seeds in the hand, in no pit and no reserve; 0 if the seeds lie in the pit.
    pub hand: u16,
}
