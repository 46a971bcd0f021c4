//! All games behind one type each, for code that handles all games alike. Knows no game: each question is passed on to the game.

mod board;
mod line;
mod options;
mod pending;
mod position;

pub use board::AnyBoard;
pub use line::Line;
pub use pending::Pending;
pub use position::AnyPosition;
