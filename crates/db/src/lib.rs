//! PostgreSQL: the only SQL of the project, one file an aggregate.
//!
//! Functions are verbs on rows: they take a pool, and domain values where there are any, and give back domain values;
//! absence is `Option`. This module knows the domain; it knows nothing of HTTP.

pub mod connection;
pub mod events;
pub mod games;
pub mod idempotency;
pub mod kinds;
pub mod lists;
pub mod migrations;
pub mod players;
pub mod records;
pub mod study;
pub mod webhooks;

pub use connection::{DbError, pool};
pub use games::{
    lookups::{Fingerprint, Lookups},
    writers::{WriterTasks, Writers},
};
