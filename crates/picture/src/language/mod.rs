//! The languages of pictures, and the words of each. Knows no picture: `words` makes sentences of them.

mod by_language;
mod de;
mod en;
mod es;
mod fr;
mod words;

pub(crate) use by_language::words;
pub(crate) use words::{Words, fill};
