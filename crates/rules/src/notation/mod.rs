//! Whole games and boards as text: the records of this project, and the forms of other programs.
//!
//! A reader plays every game by the rules and refuses an illegal one with its line and column. Knows no file, no
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
pub use record::{Record, UnknownTermination};
pub use result::{RecordResult, Termination};
pub use split::Splitter;
