//! Connections: pools, dedicated connections, errors, spans of statements, and notifications between processes. It
//! knows no table.

mod columns;
mod dedicated;
mod error;
pub mod notifications;
mod pool;
mod statement;

pub(crate) use columns::columns;
pub(crate) use dedicated::DedicatedConnection;
pub use error::DbError;
pub use pool::pool;
pub(crate) use pool::with_limits;
pub(crate) use statement::statement;
