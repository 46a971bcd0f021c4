//! The commands of the binary, one file each, and what they share.
//!
//! A command gets its options, runs until it is done or a signal stops it, and ends with a [`Failure`] or without one.

mod app;
mod archive;
mod background;
mod backup;
mod configuration;
mod connections;
mod database;
mod export;
mod failure;
mod import;
mod keys;
mod mailing;
mod migrate;
mod moderation;
mod names;
mod openapi;
mod output;
mod progress;
mod push;
mod reindex;
mod restore;
mod resume;
mod serve;
mod server;
mod service_manager;
mod solve;
mod stop_signals;
mod tools;
mod upgrade;
mod verify;
mod whole_file;

pub use app::app;
pub use archive::{archive, unarchive};
pub use backup::backup;
pub use configuration::configuration;
pub use export::export;
pub use failure::Failure;
pub use import::import;
pub use migrate::migrate;
pub use moderation::{operators, players, reports};
pub use names::names;
pub use openapi::openapi;
pub use output::print;
pub use reindex::reindex;
pub use restore::restore;
pub use serve::serve;
pub use solve::solve;
pub use upgrade::upgrade;
pub use verify::verify;
