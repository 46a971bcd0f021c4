//! Apps, their keys, the issuers that they trust, and their players.

pub mod issuers;
mod keys;
pub mod players;

pub use keys::{App, Changes, KeyHash, Quotas, change_key, disable, enable, find, insert, list, update};
