//! PostgreSQL: all SQL of the service, in folders by resource.
//!
//! Functions are verbs on rows: they take a pool and domain values, and return domain values; absence is `Option`. This
//! crate knows the domain; it knows nothing of HTTP.
//!
//! Modules use each other in this order: `connection`, `kinds`, `backups`, `migrations`, `readiness` and `standbys`, `players`, `apps`,
//! `email`, `idempotency`, `operators`, `games`, then `merging`, `study`, `lists`, `events`, `records`, `webhooks` and
//! `push`.
//!
//! A game of a database that has all migrations:
//!
//! ```no_run
//! # async fn example(id: mancala_domain::GameId) -> Result<(), Box<dyn std::error::Error>> {
//! let database: mancala_db::Database = "postgres://mancala@localhost/mancala".parse()?;
//! let pool = mancala_db::pool(database, 8);
//! let found = mancala_db::games::find(&pool, id).await?;
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod apps;
pub mod backups;
pub mod connection;
pub mod databases;
pub mod email;
pub mod events;
pub mod games;
pub mod idempotency;
pub mod kinds;
pub mod lists;
pub mod merging;
pub mod migrations;
pub mod operators;
pub mod outbound;
pub mod players;
pub mod push;
pub mod readiness;
pub mod records;
pub mod rights;
pub mod standbys;
pub mod study;
pub mod webhooks;

pub use connection::{
    Database, DbError, Freshness, Reads, Standby, StandbyEvent, Unusable, WrongUrl, describe, kept_pool, pool,
};
pub use games::{
    lookups::{Fingerprint, Lookups},
    writers::{WriterTasks, Writers},
};
