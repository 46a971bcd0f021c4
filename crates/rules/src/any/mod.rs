//! All games behind one type each, for code that handles all games alike. Knows no game: each question is passed on to the game.

mod line;
mod options;
mod position;

pub use line::Line;
pub use position::AnyPosition;
