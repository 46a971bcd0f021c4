//! How long a transaction waits for locks. Knows no table.

use sqlx::PgConnection;
use tracing::Instrument;

use super::{DbError, statement};

/// Lets the statements of a transaction wait for locks for two seconds, which is longer than a request would.
pub(crate) async fn wait_longer_for_locks(connection: &mut PgConnection) -> Result<(), DbError> {
    let setting = sqlx::query("set local lock_timeout = '2s'");
    setting.execute(connection).instrument(statement("set lock_timeout")).await?;
    Ok(())
}
