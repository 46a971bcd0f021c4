//! Games that were imported, and stored games compared with their logs.

pub mod import;
pub mod verify;
