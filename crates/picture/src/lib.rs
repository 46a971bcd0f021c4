//! Draws boards and courses of mancala games as SVG: one text each, without a script and without external resources.
//!
//! [`draw_board`] draws a position, [`draw_graph`] draws the lead over a whole game. Each picture's `title` and `desc`
//! say its content in words.
//!
//! The crate is pure. It knows the boards and moves of the rules, and the names of players. It does not know stored
//! games, HTTP, or where a picture is shown. `templates/` has the shapes and colours; the code chooses what is shown
//! and where.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod board;
mod graph;
mod layout;
mod scene;
mod svg;
mod view;
mod words;

pub use board::draw_board;
pub use graph::{Course, Fault, POINTS_MAX, Point, draw_graph};
pub use scene::{LastMove, PlayerLabel, Scene, SceneStatus};
pub use view::{Handedness, Theme, View};
