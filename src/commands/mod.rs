//! The commands of the binary, one file each, and what they share.
//!
//! A command gets its options, runs until it is done or a signal stops it, and ends with a [`Failure`] or without one.

mod background;
mod configuration;
mod database;
mod export;
mod failure;
mod import;
mod keys;
mod migrate;
mod openapi;
mod output;
mod progress;
mod reindex;
mod serve;
mod server;
mod solve;
mod stop_signals;
mod verify;

pub use configuration::configuration;
pub use export::export;
pub use failure::Failure;
pub use import::import;
pub use migrate::migrate;
pub use openapi::openapi;
pub use output::print;
pub use reindex::reindex;
pub use serve::serve;
pub use solve::solve;
pub use verify::verify;
