//! All games behind one type each, for code that handles all games alike: options, positions, and the catalogue of each game. Knows every
//! game, but no rule.

mod board;
mod catalogue;
mod four_rows;
mod line;
mod options;
mod pending;
mod position;

pub use board::AnyBoard;
pub use line::Line;
pub use options::AnyOptions;
pub use pending::Pending;
pub use position::AnyPosition;
