//! The parameters by which a game is searched and played. Knows no game.

use crate::estimate::Weights;

/// The parameters of the search of a game.
#[derive(Debug)]
pub(crate) struct Known {
    /// The weights of the estimate.
    pub weights: Weights,
    /// The levels.
    pub strengths: Strengths,
    /// Whether the search extends positions with an extra move beyond its depth, and looks at what extra moves bank.
    pub extends: bool,
    /// How many positions a review visits for the best move of a ply where endgames are known, if not as many as elsewhere.
    pub nodes_with_endgames: Option<u64>,
}

/// The levels of each game from 1 on. Levels with a single position search only their own move. They see what it captures and
/// that it gives an extra move, but not the reply.
///
/// The steps are chosen so that the higher of two levels wins 60 of 100 games; `benches/engine.rs tournament` measures it.
type Strengths = [Strength; 8];

/// The parameters of a level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strength {
    /// How many positions it visits for a move.
    pub nodes: u64,
    /// The range of its error, in points. The value of each move is raised by two random numbers below it. So small
    /// differences between moves are often misjudged, and large ones seldom.
    pub error: u32,
}

/// A strength with this number of positions, and this error in hundredths of a seed.
pub(crate) const fn strength(nodes: u64, error: u32) -> Strength {
    Strength { nodes, error }
}
