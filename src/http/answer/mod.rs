//! What answers have in common: the envelope of failures, headers, cursors, and types of the wire that several resources share.

pub(crate) mod cursor;
pub(crate) mod headers;
pub(crate) mod page;
pub(crate) mod problem;
