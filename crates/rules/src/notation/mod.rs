//! Whole games and boards as text: records of our own, and the forms of other programs.
//!
//! Everything that is read is played by the rules, and what cannot be is refused with its line and column. Knows no file, no
//! network and no storage.

mod board_text;
mod error;
pub mod kgp;
mod movetext;
pub mod ogn;
mod record;
mod scan;
mod split;

pub use board_text::{BoardProblem, ParseBoardError};
pub use error::{DetailError, EndingError, IllegalPly, NameError, Problem, ReadError, RecordError};
pub use movetext::{RECORD_MOVES_MAX, read_moves, write_moves};
pub use record::{NAME_MAX, Record, RecordResult, Termination};
pub use scan::{BYTE_ORDER_MARK, Location, TEXT_MAX, VALUE_MAX};
pub use split::Splitter;
