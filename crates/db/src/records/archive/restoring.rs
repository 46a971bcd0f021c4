//! Putting archived logs back into `event`.

use mancala_domain::GameId;
use sqlx::{PgConnection, PgPool};
use tracing::Instrument;
use uuid::Uuid;

use super::logs;
use crate::{
    connection::{DbError, statement},
    games::archived::{WholeRow, whole_rows},
};

/// The most events of a batch.
const EVENTS_MAX: i64 = 20_000;

/// The result of restoring a batch of archives.
#[derive(Debug, Default)]
pub struct Restored {
    /// Games whose logs are in `event` again.
    pub games: u64,
    /// Games whose archives cannot be read, and why. They are as they were.
    pub unreadable: Vec<(GameId, String)>,
    /// The game after which the next batch begins; `None` at the end.
    pub next: Option<GameId>,
}

/// Puts back up to `limit` logs after one, in the order of the games' ids.
pub async fn restore(pool: &PgPool, after: Option<GameId>, limit: u32) -> Result<Restored, DbError> {
    let rows = sqlx::query!(
        "select game_id, events from archived_log where game_id > $1 order by game_id limit $2",
        after.map_or(Uuid::nil(), |game| game.0),
        i64::from(limit),
    )
    .fetch_all(pool)
    .instrument(statement("select archived_log"))
    .await?;
    let (found, mut events) = (rows.len(), 0);
    let fits = rows.into_iter().enumerate().take_while(|(n, row)| {
        events += i64::from(row.events);
        *n == 0 || events <= EVENTS_MAX
    });
    let ids: Vec<_> = fits.map(|(_, row)| row.game_id).collect();
    let is_end = ids.len() == found && found < limit as usize;
    let mut transaction = pool.begin().await?;
    let (games, unreadable) = put_back(&mut transaction, &ids).await?;
    transaction.commit().await?;
    Ok(Restored { games, unreadable, next: ids.last().copied().map(GameId).filter(|_| !is_end) })
}

type Unreadable = Vec<(GameId, String)>;

async fn put_back(connection: &mut PgConnection, ids: &[Uuid]) -> Result<(u64, Unreadable), DbError> {
    sqlx::query_scalar!("select id from game where id = any($1) order by id for no key update", ids)
        .fetch_all(&mut *connection)
        .instrument(statement("lock games"))
        .await?;
    let (mut whole, mut unreadable): (Vec<(Uuid, Vec<WholeRow>)>, Unreadable) = (vec![], vec![]);
    for (id, log) in logs::read(connection, ids).await? {
        match log.archive.map(|archive| whole_rows(id, &archive)) {
            Some(Ok(rows)) => whole.push((id, rows)),
            Some(Err(error)) => unreadable.push((GameId(id), error.to_string())),
            // Another process has put it back.
            None => {}
        }
    }
    let restored: Vec<_> = whole.iter().map(|(id, _)| *id).collect();
    logs::store(connection, whole).await?;
    delete(connection, &restored).await?;
    Ok((restored.len() as u64, unreadable))
}

/// Deletes the archives of games whose rows the caller has locked.
pub(crate) async fn delete(connection: &mut PgConnection, games: &[Uuid]) -> Result<(), DbError> {
    sqlx::query!("delete from archived_log where game_id = any($1)", games)
        .execute(connection)
        .instrument(statement("delete archived_log"))
        .await?;
    Ok(())
}
