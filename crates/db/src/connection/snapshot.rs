//! Transactions whose statements all see one state of the database.

use sqlx::{PgPool, Postgres, Transaction};
use tracing::Instrument;

use super::{DbError, statement};

/// Begins a transaction in which every statement reads the snapshot of the first one. A rebuild cannot replace the tables that were read
/// until the transaction ends.
pub(crate) async fn begin_snapshot(pool: &PgPool) -> Result<Transaction<'static, Postgres>, DbError> {
    let begin = pool.begin_with("begin isolation level repeatable read, read only");
    Ok(begin.instrument(statement("begin")).await?)
}
