//! Pictures of boards and of games, as SVG: one text each, without a script, and without anything that is loaded.
//!
//! Pure: knows the rules' boards and moves, and what people are called who sit there. Knows nothing of games that are stored, of
//! HTTP, or of where a picture is shown. How a picture is drawn stands in `templates/`; here is what it shows, and where.

mod board;
mod graph;
mod layout;
mod words;

pub use board::{LastMove, Scene, Standing, draw_board};
pub use graph::{Course, Fault, POINTS_MAX, Point, draw_graph};
use mancala_rules::Side;

/// How a picture is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Who sits at the bottom. The other side's row is seen from there: the board is turned, not redrawn.
    pub bottom: Side,
    pub handedness: Handedness,
    pub theme: Theme,
}

/// Which way round the board lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handedness {
    /// Sowing goes on to the right at the bottom: against the clock.
    Plain,
    /// As in a mirror: with the clock.
    Mirrored,
}

/// In which colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    Light,
    Dark,
    /// As whoever looks at it prefers.
    Auto,
}

/// Why writing a template cannot fail.
const ALWAYS_TEXT: &str = "a String takes everything, and no template calls anything that fails";
