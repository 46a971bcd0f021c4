//! When the last backup was made: the program that makes it notes that, and servers show it.

use sqlx::PgPool;
use time::OffsetDateTime;
use tracing::Instrument;

use crate::connection::{DbError, statement};

/// Notes that a backup is complete.
pub async fn note(pool: &PgPool) -> Result<(), DbError> {
    let noted = sqlx::query!("update last_backup set ended_at = now()");
    noted.execute(pool).instrument(statement("update last_backup")).await?;
    Ok(())
}

/// When the last backup was complete; `None` before the first.
pub async fn find_last(pool: &PgPool) -> Result<Option<OffsetDateTime>, DbError> {
    let found = sqlx::query_scalar!("select ended_at from last_backup");
    Ok(found.fetch_optional(pool).instrument(statement("select last_backup")).await?.flatten())
}
