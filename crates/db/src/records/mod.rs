//! Imported games, and the verification of stored games against their logs.

pub mod import;
pub mod verify;
