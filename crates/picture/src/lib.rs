//! Draws boards and courses of mancala games as SVG: one text each, without a script and without external resources. Also renders them as
//! PNG.
//!
//! [`draw_board`] draws a position, [`draw_graph`] draws the lead over a whole game, or its value. Each picture's `title`
//! and `desc` say its content in words. [`render_png`] makes pixels of them, with fonts of its own.
//!
//! The crate is pure. It knows the boards and moves of the rules, and the names of players. It does not know stored
//! games, HTTP, or where a picture is shown. `templates/` has the shapes and colours; the code chooses what is shown
//! and where.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod board;
#[cfg(test)]
mod fit;
mod font;
mod graph;
mod language;
mod layout;
mod raster;
mod scale;
mod scene;
mod svg;
mod view;
mod words;

pub use board::draw_board;
pub use graph::{Course, Fault, Measure, POINTS_MAX, Point, draw_graph};
pub use mancala_texts::Language;
pub use raster::{PNG_WIDTHS, RasterError, render_png};
pub use scene::{LastMove, PlayerLabel, PlayerMark, Scene, SceneStatus};
pub use view::{Background, Caption, Colour, Handedness, NoColour, Theme, View};
pub use words::{SeatWords, describe_seat, status as describe_status};
