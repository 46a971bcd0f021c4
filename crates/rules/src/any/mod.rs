//! All games behind one type each, for code that does not care which game it is: options, positions, and what each game
//! offers. Knows every game, and no rule of any.

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
