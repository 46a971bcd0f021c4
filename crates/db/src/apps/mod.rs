//! Apps, their keys, and their players.

mod keys;
pub mod players;

pub use keys::{App, KeyHash, change_key, disable, enable, find, insert, list};
