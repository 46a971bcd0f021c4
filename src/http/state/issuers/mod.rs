//! Tokens of other issuers: how they are read and verified, and the keys of their issuers. Knows neither apps nor the database.

mod jws;
mod key_sets;
mod keys;

pub(crate) use jws::SubjectToken;
pub(crate) use key_sets::KeySets;
pub use keys::{KEY_SET_BYTES_MAX, KeySet};
