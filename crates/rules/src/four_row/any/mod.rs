//! Both games behind one type each, for code that does not care which game it is. Knows every game, and no rule of any.

mod catalogue;
mod options;
mod position;

pub use options::AnyOptions;
pub use position::AnyPosition;
