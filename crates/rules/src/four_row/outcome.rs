//! How a game ended by the rules (R31). Knows nothing of resignations, clocks or offers.

use crate::{BySide, Side};

worded_enum! {
    /// Which rule ended the game (R31).
    pub enum EndReason {
        /// Bao: the front row of a side is empty, and the side has lost.
        FrontEmpty = "front_empty",
        /// Omweso: the mover has captured at both ends of the front row in one turn, and has won.
        TwoHeads = "two_heads",
        /// Omweso: the mover has captured in a second turn before the first capture of the other side, and has won.
        Akakyala = "akakyala",
        /// The side to move has no legal move and has lost.
        NoMove = "no_move",
        /// A sowing counts as endless.
        EndlessMove = "endless_move",
        /// The game has as many plies as the option `max_plies` allows.
        PlyLimit = "ply_limit",
    }
}

/// The result of a finished game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The winner by the rule that ended the game; `None` is a draw. The score decides nothing.
    pub winner: Option<Side>,
    /// Which rule ended the game; `None` where the position was imported as finished.
    pub reason: Option<EndReason>,
    /// The seeds of each side, in pits and reserve.
    pub score: BySide<u16>,
}
