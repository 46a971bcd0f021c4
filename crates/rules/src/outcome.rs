//! How a game ended by the rules. Knows nothing of resignations, clocks or offers.

use super::{BySide, Side};

worded_enum! {
    /// Which rule ended the game (R8, R31).
    pub enum EndReason {
        /// A side's row was empty.
        SideEmpty = "side_empty",
        /// The side to act had no seeds to sow, or none that it was allowed to.
        NoMove = "no_move",
        /// The other row was empty, and no seed of the side to move could get there.
        NoFeedingMove = "no_feeding_move",
        /// A store held more than half of all seeds.
        Majority = "majority",
        /// The same position came as often as the option `repetition` allows. In Toguz Kumalak and Bestemshe, it also
        /// means that no store changed for more than a thousand plies (R45).
        Repetition = "repetition",
        /// Both players agreed to stop.
        Agreement = "agreement",
        /// A grand slam captured all seeds of the other row, and the remaining seeds went to the other side (R6).
        GrandSlamForfeit = "grand_slam_forfeit",
        /// Bao: the front row of a side is empty, and the side has lost (R31).
        FrontEmpty = "front_empty",
        /// Omweso: the mover has captured at both ends of the front row in one turn, and has won (R31).
        TwoHeads = "two_heads",
        /// Omweso: the mover has captured in a second turn before the first capture of the other side, and has won (R31).
        Akakyala = "akakyala",
        /// With four rows: a sowing counts as endless (R31).
        EndlessMove = "endless_move",
        /// With four rows: the game has as many plies as the option `max_plies` allows (R31).
        PlyLimit = "ply_limit",
    }
}

/// The result of a finished game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The side with more seeds in its store, or with four rows the side that the rule names (R31); `None` is a draw.
    pub winner: Option<Side>,
    /// Which rule ended the game; `None` where the position was imported as finished.
    pub reason: Option<EndReason>,
    /// Seeds in each store. Seeds left in pits count for neither side. With four rows: the seeds of each side in pits and
    /// reserve, which decide nothing.
    pub score: BySide<u16>,
}

impl Outcome {
    pub(super) fn of(score: BySide<u16>, reason: Option<EndReason>) -> Self {
        let winner = match score.south.cmp(&score.north) {
            std::cmp::Ordering::Greater => Some(Side::South),
            std::cmp::Ordering::Less => Some(Side::North),
            std::cmp::Ordering::Equal => None,
        };
        Self { winner, reason, score }
    }
}
