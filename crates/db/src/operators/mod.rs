//! Operators of the server: their keys, their acts on players, and the log of acts.

pub mod acts;
pub mod keys;
pub mod name_filter;

pub use acts::{Act, Acted, Deed, Finding, list_acts};
