//! Connections: pools, dedicated connections, errors, spans of statements, and notifications between processes. It
//! knows no table.

mod columns;
pub(crate) mod copy;
mod database;
mod dedicated;
mod error;
pub mod free;
mod freshness;
mod hosts;
pub mod notifications;
mod pool;
mod reads;
mod renewal;
mod settings;
pub mod sight;
mod snapshot;
mod statement;
mod waiting;

pub(crate) use columns::columns;
pub use database::Database;
pub(crate) use dedicated::DedicatedConnection;
pub use error::DbError;
pub use freshness::{Freshness, StandbyEvent};
pub use hosts::WrongUrl;
pub use pool::{pool, pool_for_moves};
pub use reads::{Reads, Standby};
pub(crate) use renewal::request as renew_connections;
pub(crate) use settings::Setting;
pub(crate) use snapshot::begin_snapshot;
pub(crate) use statement::statement;
pub use waiting::Unusable;
