//! The operators' list of words that no name may have: one text, which all servers read. Knows nothing of its form.

use mancala_domain::PlayerId;
use sqlx::{PgConnection, PgPool};
use tracing::Instrument;
use uuid::Uuid;

use crate::connection::{DbError, statement};

/// The list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredFilter {
    /// How many times it was changed.
    pub revision: i64,
    /// Its text.
    pub list: String,
}

/// The list, at first an empty one.
pub async fn find(pool: &PgPool) -> Result<StoredFilter, DbError> {
    Ok(find_changed(&mut *pool.acquire().await?, 0).await?.unwrap_or_default())
}

/// The list, if it has been changed since a revision.
pub(crate) async fn find_changed(
    connection: &mut PgConnection,
    revision: i64,
) -> Result<Option<StoredFilter>, DbError> {
    let filter = sqlx::query_as!(
        StoredFilter,
        "select revision, list from name_filter where id = 1 and revision <> $1",
        revision,
    );
    filter.fetch_optional(connection).instrument(statement("select name_filter")).await.map_err(DbError::from)
}

/// Replaces the stored list; returns its revision.
pub(crate) async fn store(connection: &mut PgConnection, list: &str) -> Result<i64, DbError> {
    let revision = sqlx::query_scalar!(
        r#"
        insert into name_filter as kept (id, revision, list) values (1, 1, $1)
        on conflict (id) do update set revision = kept.revision + 1, list = excluded.list
        returning revision
        "#,
        list,
    );
    Ok(revision.fetch_one(connection).instrument(statement("insert name_filter")).await?)
}

/// Up to `limit` guests and accounts with their names, after the one with this id.
pub async fn list_names(
    pool: &PgPool,
    after: Option<PlayerId>,
    limit: u32,
) -> Result<Vec<(PlayerId, String)>, DbError> {
    let rows = sqlx::query!(
        "select id, name from player where id > $1 and kind in ('guest', 'account') order by id limit $2",
        after.map_or(Uuid::nil(), |player| player.0),
        i64::from(limit),
    )
    .fetch_all(pool)
    .instrument(statement("select player names"))
    .await?;
    Ok(rows.into_iter().map(|row| (PlayerId(row.id), row.name)).collect())
}
