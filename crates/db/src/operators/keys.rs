//! The keys of operators, as hashes.

use sqlx::PgPool;
use time::OffsetDateTime;
use tracing::Instrument;

use crate::connection::{DbError, statement};

/// The SHA-256 of a key.
pub type Hash = [u8; 32];

/// An operator.
#[derive(Clone, Debug)]
pub struct Operator {
    /// The name, by which the log tells who acted.
    pub name: String,
    /// When the operator was made.
    pub created_at: OffsetDateTime,
    /// When the present key was made.
    pub rotated_at: OffsetDateTime,
    /// Since when the key opens nothing.
    pub disabled_at: Option<OffsetDateTime>,
}

/// Stores a new operator; returns whether the name was free.
pub async fn insert(pool: &PgPool, name: &str, key: &Hash, now: OffsetDateTime) -> Result<bool, DbError> {
    let stored = sqlx::query!(
        "insert into operator (name, key_hash, created_at, rotated_at) values ($1, $2, $3, $3) on conflict (name) do nothing",
        name,
        key,
        now,
    )
    .execute(pool)
    .instrument(statement("insert operator"))
    .await?;
    Ok(stored.rows_affected() == 1)
}

/// Gives an operator another key, and enables it; returns whether there is such an operator.
pub async fn rotate(pool: &PgPool, name: &str, key: &Hash, now: OffsetDateTime) -> Result<bool, DbError> {
    let stored = sqlx::query!(
        "update operator set key_hash = $2, rotated_at = $3, disabled_at = null where name = $1",
        name,
        key,
        now
    )
    .execute(pool)
    .instrument(statement("update operator"))
    .await?;
    Ok(stored.rows_affected() == 1)
}

/// Disables an operator's key; returns whether there is such an operator.
pub async fn disable(pool: &PgPool, name: &str, now: OffsetDateTime) -> Result<bool, DbError> {
    let stored = sqlx::query!("update operator set disabled_at = coalesce(disabled_at, $2) where name = $1", name, now)
        .execute(pool)
        .instrument(statement("update operator"))
        .await?;
    Ok(stored.rows_affected() == 1)
}

/// The name of the operator whose key this is, unless it is disabled.
pub async fn find(pool: &PgPool, key: &Hash) -> Result<Option<String>, DbError> {
    let name = sqlx::query_scalar!("select name from operator where key_hash = $1 and disabled_at is null", key);
    name.fetch_optional(pool).instrument(statement("select operator")).await.map_err(DbError::from)
}

/// Up to `limit` operators, by name.
pub async fn list(pool: &PgPool, limit: u32) -> Result<Vec<Operator>, DbError> {
    let operators = sqlx::query_as!(
        Operator,
        "select name, created_at, rotated_at, disabled_at from operator order by name limit $1",
        i64::from(limit),
    );
    operators.fetch_all(pool).instrument(statement("select operator")).await.map_err(DbError::from)
}
