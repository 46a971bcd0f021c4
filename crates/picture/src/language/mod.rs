//! The languages of pictures, and the words of each. Knows no picture: `words` makes sentences of them.

mod de;
mod en;
mod es;
mod fr;
mod languages;
mod words;

pub use languages::Language;
pub(crate) use words::{Words, fill};
