//! Operators of the server: their keys, what they do to players, and the log of it.

pub mod acts;
pub mod keys;
pub mod name_filter;

pub use acts::{Act, Acted, Deed, Finding, list_acts};
