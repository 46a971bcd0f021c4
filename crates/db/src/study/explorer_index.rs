//! Filling the explorer: each game that ended with a result is counted once.
//!
//! A game is queued in `unexplored_game` by the statement that ends it, and removed by the transaction that counts it.
//! So a process that is killed in between leaves no trace. One process at a time does this work.

use mancala_domain::{EXPLORED_PLIES_MIN, GameId};
use sqlx::{Connection, PgConnection, PgPool};
use time::{Duration, OffsetDateTime};
use tokio::time::sleep;
use tracing::Instrument;
use uuid::Uuid;

use super::{
    explored_games::{read, visits},
    tallies::Tallies,
};
use crate::{
    connection::{DbError, statement},
    games::columns::column,
};

/// The advisory lock of the process that fills the explorer or empties it.
const ADVISORY_LOCK: i64 = 0x6578_706c_6f72_6572;

/// How many plies one transaction counts, and how many of one game, so that very long games hold up nothing.
const PLIES_AT_ONCE: i64 = 20_000;

/// How many plies a game of a large batch may have on average.
const PLIES_OF_A_GAME: i64 = 80;

/// How long the `truncate` waits for readers before it lets them go on and is tried again; meanwhile all new readers
/// wait.
const EMPTYING_LOCK_TIMEOUT: &str = "set local lock_timeout = '100ms'";

/// The pause between two tries, and how many there are: ten minutes.
const EMPTYING_PAUSE: std::time::Duration = std::time::Duration::from_secs(1);
const EMPTYING_TRIES: u32 = 600;

/// At most this many queued games are counted: that there are more is enough to know.
const COUNTED_MAX: i64 = 10_000;

/// After this a game whose log cannot be read is tried again, in case it has been repaired.
const PUT_OFF_FOR: Duration = Duration::DAY;

/// The result of a batch.
#[derive(Debug, Default)]
pub struct Explored {
    /// Games that were counted.
    pub games: u32,
    /// Games that cannot be counted: they are put off.
    pub unreadable: Vec<(GameId, DbError)>,
    /// Whether there may be more.
    pub is_full: bool,
}

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
    // A dropped transaction ends when its connection is next used, and keeps the lock until then.
    if explored.is_ok() {
        transaction.commit().await?;
    } else if let Err(error) = transaction.rollback().await {
        tracing::debug!("the explorer failed to roll back, so its transaction ends with its connection: {error}");
    }
    explored
}

async fn explore_next(
    connection: &mut PgConnection,
    now: OffsetDateTime,
    limit: u32,
) -> Result<Option<Explored>, DbError> {
    allow_long_work(connection).await?;
    let is_ours = sqlx::query_scalar!(r#"select pg_try_advisory_xact_lock($1) as "is_ours!""#, ADVISORY_LOCK)
        .fetch_one(&mut *connection)
        .instrument(statement("lock explorer"))
        .await?;
    if !is_ours {
        return Ok(None);
    }
    let (waiting, is_full) = waiting(connection, now, limit).await?;
    if waiting.is_empty() {
        return Ok(Some(Explored::default()));
    }
    let (mut tallies, mut visited) = (Tallies::default(), vec![]);
    let (mut games, mut unreadable) = (0, vec![]);
    for game in read(connection, &waiting).await? {
        let (id, is_imported) = (game.id(), game.is_imported());
        match game.exploration() {
            Ok(Some(exploration)) => {
                tallies.add(id, is_imported, &exploration);
                visited.extend(visits(id, &exploration));
                games += 1;
            }
            // A server of an older release has queued a game that no longer counts.
            Ok(None) => {}
            Err(error) => unreadable.push((GameId(id), error)),
        }
    }
    // A game that is queued and not found was deleted.
    let done: Vec<_> =
        waiting.into_iter().filter(|id| unreadable.iter().all(|(unreadable, _)| unreadable.0 != *id)).collect();
    tallies.store(connection).await?;
    store_visited(connection, visited).await?;
    settle(connection, &done, &unreadable, now).await?;
    Ok(Some(Explored { games, unreadable, is_full }))
}

/// Waits for the process that fills the explorer, and keeps it out until the end of the transaction.
pub(crate) async fn lock(connection: &mut PgConnection) -> Result<(), DbError> {
    sqlx::query!("select pg_advisory_xact_lock($1)", ADVISORY_LOCK)
        .execute(connection)
        .instrument(statement("lock explorer"))
        .await?;
    Ok(())
}

/// Empties the explorer and queues all games; returns how many there are. Appends never wait for this. Readers of the
/// explorer wait only while the tables are emptied, at the very end.
pub async fn begin_anew(pool: &PgPool) -> Result<u64, DbError> {
    let mut transaction = pool.begin().await?;
    allow_long_work(&mut transaction).await?;
    lock(&mut transaction).await?;
    // A game that ends meanwhile is not seen here: the statement that ends it queues it.
    // The condition mirrors `Exploration::counts`; a test compares both.
    sqlx::query!(
        r#"
        insert into unexplored_game as waiting (game_id, is_imported)
        select id, opponent = 'imported' from game
        where visibility = 'public' and finished_at is not null and opponent <> 'self' and ply >= $1
        order by opponent = 'imported', id
        on conflict (game_id) do update set put_off_until = null where waiting.put_off_until is not null
        "#,
        column(EXPLORED_PLIES_MIN),
    )
    .execute(&mut *transaction)
    .instrument(statement("insert unexplored_game"))
    .await?;
    let games = sqlx::query_scalar!(r#"select count(*) as "count!" from unexplored_game"#)
        .fetch_one(&mut *transaction)
        .instrument(statement("count unexplored_game"))
        .await?;
    empty(&mut transaction).await?;
    transaction.commit().await?;
    Ok(u64::try_from(games).unwrap_or_default())
}

/// Empties the tables. `truncate` has to wait for all readers, such as a backup, and all new readers wait for it: so it
/// waits for a short time, and is retried.
async fn empty(connection: &mut PgConnection) -> Result<(), DbError> {
    let mut tries = 1;
    loop {
        let mut attempt = connection.begin().await?;
        sqlx::raw_sql(EMPTYING_LOCK_TIMEOUT).execute(&mut *attempt).instrument(statement("set lock_timeout")).await?;
        let emptied = sqlx::query!("truncate explored_move, explored_game")
            .execute(&mut *attempt)
            .instrument(statement("truncate explored_move"))
            .await
            .map_err(DbError::from);
        match emptied {
            Ok(_) => return Ok(attempt.commit().await?),
            Err(DbError::Busy(_)) if tries < EMPTYING_TRIES => attempt.rollback().await?,
            Err(error) => return Err(error),
        }
        tries += 1;
        sleep(EMPTYING_PAUSE).await;
    }
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
async fn allow_long_work(connection: &mut PgConnection) -> Result<(), DbError> {
    sqlx::raw_sql(
        "set local statement_timeout = '10min'; set local idle_in_transaction_session_timeout = '1min'; \
         set local lock_timeout = '1min'",
    )
    .execute(connection)
    .instrument(statement("set statement_timeout"))
    .await?;
    Ok(())
}

/// The next games in the queue, and whether there may be more.
async fn waiting(connection: &mut PgConnection, now: OffsetDateTime, limit: u32) -> Result<(Vec<Uuid>, bool), DbError> {
    let rows = sqlx::query!(
        r#"
        select waiting.game_id as "id!", ply as "ply?"
        from (
            select game_id, is_imported, number from unexplored_game
            where put_off_until is null or put_off_until <= $1
            order by is_imported, number limit $2
        ) waiting
        left join game on game.id = waiting.game_id
        order by waiting.is_imported, waiting.number
        "#,
        now,
        i64::from(limit),
    )
    .fetch_all(connection)
    .instrument(statement("select unexplored_game game"))
    .await?;
    let (found, mut plies) = (rows.len(), 0);
    let plies_max = PLIES_AT_ONCE.max(i64::from(limit) * PLIES_OF_A_GAME);
    let fits = rows.into_iter().enumerate().take_while(|(n, row)| {
        plies += i64::from(row.ply.unwrap_or(0));
        *n == 0 || plies <= plies_max
    });
    let waiting: Vec<_> = fits.map(|(_, row)| row.id).collect();
    let is_full = waiting.len() < found || found == limit as usize;
    Ok((waiting, is_full))
}

/// A game that was counted before violates the key, and nothing of the batch is stored.
async fn store_visited(connection: &mut PgConnection, mut visited: Vec<(i64, Uuid)>) -> Result<(), DbError> {
    visited.sort_unstable();
    let (positions, games): (Vec<_>, Vec<_>) = visited.into_iter().unzip();
    sqlx::query!(
        "insert into explored_game (position, game_id) select * from unnest($1::bigint[], $2::uuid[])",
        &positions,
        &games,
    )
    .execute(connection)
    .instrument(statement("insert explored_game"))
    .await?;
    Ok(())
}

/// Counted games leave the queue; those that cannot be read are put off.
async fn settle(
    connection: &mut PgConnection,
    done: &[Uuid],
    unreadable: &[(GameId, DbError)],
    now: OffsetDateTime,
) -> Result<(), DbError> {
    let unreadable: Vec<_> = unreadable.iter().map(|(game, _)| game.0).collect();
    sqlx::query!(
        r#"
        with put_off as (
            update unexplored_game set put_off_until = $3 where game_id = any($2)
        )
        delete from unexplored_game where game_id = any($1)
        "#,
        done,
        &unreadable,
        now + PUT_OFF_FOR,
    )
    .execute(connection)
    .instrument(statement("delete unexplored_game"))
    .await?;
    Ok(())
}
