//! Connections: pools, dedicated connections, errors, spans of statements, and notifications between processes. It
//! knows no table.

mod columns;
pub(crate) mod copy;
mod database;
mod dedicated;
pub(crate) mod doubt;
mod error;
mod freshness;
mod hosts;
mod last_use;
mod lock_wait;
pub mod notifications;
mod openable;
mod pool;
mod reads;
mod renewal;
mod session_name;
mod settings;
pub mod sight;
mod snapshot;
mod statement;
mod waiting;

pub(crate) use columns::columns;
pub use database::Database;
pub(crate) use dedicated::DedicatedConnection;
pub use error::DbError;
pub(crate) use error::may_pass;
pub use freshness::{Freshness, StandbyEvent};
pub use hosts::{WrongUrl, describe};
pub use last_use::LastUse;
pub(crate) use lock_wait::wait_longer_for_locks;
pub use openable::openable;
pub use pool::{kept_pool, pool};
pub use reads::{Reads, Standby};
pub(crate) use renewal::request as renew_connections;
pub(crate) use session_name::{OF_FORMER, session_name_for};
pub(crate) use settings::Setting;
pub(crate) use snapshot::begin_snapshot;
pub(crate) use statement::statement;
pub use waiting::Unusable;
