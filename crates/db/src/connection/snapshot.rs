//! Transactions whose statements all see one state of the database.

use sqlx::{PgPool, Postgres, Transaction};
use tracing::Instrument;

use super::{DbError, statement};

/// Begins a transaction that reads the state of its first statement, whatever is stored meanwhile. The tables that it has read are not exchanged
/// before its end.
pub(crate) async fn begin_snapshot(pool: &PgPool) -> Result<Transaction<'static, Postgres>, DbError> {
    let begin = pool.begin_with("begin isolation level repeatable read, read only");
    Ok(begin.instrument(statement("begin")).await?)
}
