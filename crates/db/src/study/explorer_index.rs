//! Filling the explorer: each game that ended with a result is counted once.
//!
//! A game is queued in `unexplored_game` by the statement that ends it, and removed by the transaction that counts it.
//! So a process that is killed in between leaves no trace. One process at a time does this work.

use mancala_domain::GameId;
use sqlx::{PgConnection, PgPool, Postgres, Transaction};
use time::OffsetDateTime;
use tracing::Instrument;

use super::explorer_batch::PUT_OFF_FOR;
pub use super::explorer_batch::{Batch, Explored, QueuePosition};
use crate::connection::{DbError, statement};

/// The advisory lock of the process that fills the explorer or replaces it.
const ADVISORY_LOCK: i64 = 0x6578_706c_6f72_6572;

/// At most this many queued games are counted: that there are more is enough to know.
const COUNTED_MAX: i64 = 10_000;

/// Counts up to `limit` queued games in one transaction, or a single one that is longer than a batch may be. `None` if
/// another process has the lock. If stored data makes the batch fail, games are tried one at a time, and one that fails
/// alone is put off.
pub async fn explore(pool: &PgPool, now: OffsetDateTime, limit: u32) -> Result<Option<Explored>, DbError> {
    let mut limit = limit;
    loop {
        match try_to_explore(pool, now, limit).await {
            Err(error) if error.is_data_error() && limit > 1 => limit = 1,
            Err(error) if error.is_data_error() => {
                let game = put_off_next(pool, now).await?.ok_or(error.clone())?;
                return Ok(Some(Explored { games: 0, unreadable: vec![(game, error)], is_full: true }));
            }
            explored => return explored,
        }
    }
}

async fn try_to_explore(pool: &PgPool, now: OffsetDateTime, limit: u32) -> Result<Option<Explored>, DbError> {
    let mut transaction = pool.begin().await?;
    let explored = explore_next(&mut transaction, now, limit).await;
    end(transaction, explored).await
}

async fn explore_next(
    connection: &mut PgConnection,
    now: OffsetDateTime,
    limit: u32,
) -> Result<Option<Explored>, DbError> {
    if !try_lock(connection).await? {
        return Ok(None);
    }
    let batch = Batch::read(connection, now, limit, QueuePosition::FIRST).await?;
    batch.store(connection, now).await
}

/// Reads up to `limit` queued games behind a place in the queue. It needs no lock, so another batch may be stored meanwhile.
pub async fn read(pool: &PgPool, now: OffsetDateTime, limit: u32, after: QueuePosition) -> Result<Batch, DbError> {
    let mut transaction = pool.begin().await?;
    allow_long_work(&mut transaction).await?;
    let batch = Batch::read(&mut transaction, now, limit, after).await?;
    transaction.commit().await?;
    Ok(batch)
}

/// Counts the games of a batch that was read ahead. `None` if another process has the lock, or if the queue has changed: then the
/// batch is of no use any more.
pub async fn store(pool: &PgPool, batch: &Batch, now: OffsetDateTime) -> Result<Option<Explored>, DbError> {
    let mut transaction = pool.begin().await?;
    let explored = match try_lock(&mut transaction).await {
        Ok(true) => batch.store(&mut transaction, now).await,
        Ok(false) => Ok(None),
        Err(error) => Err(error),
    };
    end(transaction, explored).await
}

/// Commits after a success, and rolls back after an error.
pub(super) async fn end<T>(
    transaction: Transaction<'_, Postgres>,
    done: Result<Option<T>, DbError>,
) -> Result<Option<T>, DbError> {
    // A dropped transaction ends when its connection is next used, and keeps the lock until then.
    if let Ok(Some(_)) = done {
        transaction.commit().await?;
    } else if let Err(error) = transaction.rollback().await {
        tracing::debug!("the explorer failed to roll back, so its transaction ends with its connection: {error}");
    }
    done
}

/// Whether the lock is ours until the end of the transaction. It may last for longer than a request.
pub(super) async fn try_lock(connection: &mut PgConnection) -> Result<bool, DbError> {
    allow_long_work(connection).await?;
    let is_ours = sqlx::query_scalar!(r#"select pg_try_advisory_xact_lock($1) as "is_ours!""#, ADVISORY_LOCK)
        .fetch_one(connection)
        .instrument(statement("lock explorer"))
        .await?;
    Ok(is_ours)
}

/// Waits for the process that fills the explorer, and keeps it out until the end of the transaction.
pub(crate) async fn lock(connection: &mut PgConnection) -> Result<(), DbError> {
    sqlx::query!("select pg_advisory_xact_lock($1)", ADVISORY_LOCK)
        .execute(connection)
        .instrument(statement("lock explorer"))
        .await?;
    Ok(())
}

/// How many games are queued, counted up to `COUNTED_MAX`; and how many of them are put off.
pub async fn count_waiting(pool: &PgPool) -> Result<(i64, i64), DbError> {
    let row = sqlx::query!(
        r#"
        select (select count(*) from (select from unexplored_game limit $1) counted) as "waiting!",
            (select count(*) from (select from unexplored_game where put_off_until is not null limit $1) counted) as "put_off!"
        "#,
        COUNTED_MAX,
    )
    .fetch_one(pool)
    .instrument(statement("count unexplored_game"))
    .await?;
    Ok((row.waiting, row.put_off))
}

/// How many games are queued. Counts them all, which takes a second for millions.
pub async fn count_all_waiting(pool: &PgPool) -> Result<u64, DbError> {
    let waiting = sqlx::query_scalar!(r#"select count(*) as "waiting!" from unexplored_game"#);
    let waiting = waiting.fetch_one(pool).instrument(statement("count unexplored_game")).await?;
    Ok(u64::try_from(waiting).unwrap_or_default())
}

/// Puts off the next game, with which every batch fails.
async fn put_off_next(pool: &PgPool, now: OffsetDateTime) -> Result<Option<GameId>, DbError> {
    let game = sqlx::query_scalar!(
        r#"
        with next as (
            select game_id from unexplored_game where put_off_until is null or put_off_until <= $1
            order by is_imported, number limit 1
        )
        update unexplored_game set put_off_until = $2 from next where unexplored_game.game_id = next.game_id
        returning unexplored_game.game_id
        "#,
        now,
        now + PUT_OFF_FOR,
    )
    .fetch_optional(pool)
    .instrument(statement("update unexplored_game"))
    .await?;
    Ok(game.map(GameId))
}

/// No request waits for this work, and it takes longer than a request may.
pub(super) async fn allow_long_work(connection: &mut PgConnection) -> Result<(), DbError> {
    sqlx::raw_sql(
        "set local statement_timeout = '10min'; set local idle_in_transaction_session_timeout = '1min'; \
         set local lock_timeout = '1min'",
    )
    .execute(connection)
    .instrument(statement("set statement_timeout"))
    .await?;
    Ok(())
}
