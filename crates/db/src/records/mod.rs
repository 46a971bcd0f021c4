//! Imported games, stored, counted and deleted, the logs of finished games at rest, and the verification of stored games against
//! their logs.

pub mod archive;
pub mod deletion;
mod event_copy;
pub mod import;
mod import_erasure;
pub mod usage;
pub mod verify;
pub mod verify_batch;

pub use import_erasure::erase_imports;
