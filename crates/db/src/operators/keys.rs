//! The keys of operators, as hashes.

use serde_json::json;
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use tracing::Instrument;

use super::acts::{self, Act};
use crate::connection::{DbError, statement};

/// How the log names the command line, with which keys are made: no operator is called so.
pub const COMMAND_LINE: &str = "(command line)";

/// The SHA-256 of a key.
pub type Hash = [u8; 32];

/// An operator.
#[derive(Clone, Debug)]
pub struct Operator {
    /// The name by which the log identifies the operator.
    pub name: String,
    /// When the operator was made.
    pub created_at: OffsetDateTime,
    /// When the present key was made.
    pub rotated_at: OffsetDateTime,
    /// Since when the key opens nothing.
    pub disabled_at: Option<OffsetDateTime>,
}

/// Stores a new operator; returns whether the name was free. This and the functions below also write to the log of acts.
pub async fn insert(pool: &PgPool, name: &str, key: &Hash, now: OffsetDateTime) -> Result<bool, DbError> {
    let mut transaction = pool.begin().await?;
    let stored = sqlx::query!(
        "insert into operator (name, key_hash, created_at, rotated_at) values ($1, $2, $3, $3) on conflict (name) do nothing",
        name,
        key,
        now,
    )
    .execute(&mut *transaction)
    .instrument(statement("insert operator"))
    .await?;
    let is_stored = note(&mut transaction, "create_operator", name, stored.rows_affected(), now).await?;
    transaction.commit().await?;
    Ok(is_stored)
}

/// Gives an operator another key, and enables it; returns whether there is such an operator.
pub async fn rotate(pool: &PgPool, name: &str, key: &Hash, now: OffsetDateTime) -> Result<bool, DbError> {
    let mut transaction = pool.begin().await?;
    let stored = sqlx::query!(
        "update operator set key_hash = $2, rotated_at = $3, disabled_at = null where name = $1",
        name,
        key,
        now
    )
    .execute(&mut *transaction)
    .instrument(statement("update operator"))
    .await?;
    let is_stored = note(&mut transaction, "rotate_operator", name, stored.rows_affected(), now).await?;
    transaction.commit().await?;
    Ok(is_stored)
}

/// Disables an operator's key; returns whether there is such an operator.
pub async fn disable(pool: &PgPool, name: &str, now: OffsetDateTime) -> Result<bool, DbError> {
    let mut transaction = pool.begin().await?;
    let stored = sqlx::query!("update operator set disabled_at = coalesce(disabled_at, $2) where name = $1", name, now)
        .execute(&mut *transaction)
        .instrument(statement("update operator"))
        .await?;
    let is_stored = note(&mut transaction, "disable_operator", name, stored.rows_affected(), now).await?;
    transaction.commit().await?;
    Ok(is_stored)
}

/// Logs an act on an operator's key, if there is such an operator; returns whether there is.
async fn note(
    connection: &mut PgConnection,
    act: &str,
    name: &str,
    changed: u64,
    now: OffsetDateTime,
) -> Result<bool, DbError> {
    if changed == 1 {
        acts::insert(connection, &Act::of_server(COMMAND_LINE, act, json!({ "operator": name }), now)).await?;
    }
    Ok(changed == 1)
}

/// Finds the name of the operator with this key, unless the key is disabled.
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
