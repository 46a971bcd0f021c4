//! The log of a finished game in a few bytes: [`encode`] and [`decode`].
//!
//! The form has a version. Version 1: a byte with the version, four bytes of a SHA-256, then bits. A move is its number among the legal
//! moves, and its position follows from the rules; a time is the difference from the event before. Rare cases are written whole: a position
//! to which the rules do not lead, a move that is not listed.
//!
//! Knows events and rules, and not where the bytes are stored. A form that was ever stored is read for ever: what
//! version 1 reads and writes never changes. The checksum also covers the moves and positions. So a rule that changes
//! later is an error of the reader and no other history.

mod bits;
mod checksum;
mod course;
mod error;
mod form;
mod read;
mod read_terms;
mod words;
mod write;
mod write_terms;

pub use error::ArchiveError;
pub use form::{ARCHIVE_VERSION, ArchivedLog};
pub use read::{decode, decode_unverified};
pub use write::encode;
