//! Whole games and boards as text: records of our own, and the forms of other programs.
//!
//! Everything that is read is played by the rules, and what cannot be is refused with its line and column. Knows no file, no
//! network and no storage.

mod board_text;
mod bounds;
mod ending;
mod error;
pub mod kgp;
mod location;
mod movetext;
pub mod ogn;
mod record;
mod result;
mod scan;
mod split;

pub use board_text::{BoardProblem, ParseBoardError};
pub use bounds::{NAME_MAX, RECORD_MOVES_MAX, TEXT_MAX, VALUE_MAX};
pub use error::{DetailError, EndingError, IllegalPly, NameError, Problem, ReadError, RecordError};
pub use location::{BYTE_ORDER_MARK, Location};
pub use movetext::{read_moves, write_moves};
pub use record::Record;
pub use result::{RecordResult, Termination};
pub use split::Splitter;
