//! All games behind one type each, for code that does not care which game it is: options, positions, and what each game
//! offers. Knows every game, and no rule of any.

mod catalogue;
mod options;
mod position;

pub use options::AnyOptions;
pub use position::AnyPosition;
