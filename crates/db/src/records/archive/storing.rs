//! Storing archives, which replace the rows that they are made of.

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
};

use mancala_domain::GameId;
use sqlx::{PgConnection, PgPool};
use time::{Duration, OffsetDateTime};
use tokio::task::spawn_blocking;
use tracing::Instrument;
use uuid::Uuid;

use super::{folding::fold, logs, marking::raise_mark};
use crate::{
    connection::{DbError, columns, statement},
    games::logs::Log,
};

/// After this a game whose log cannot be archived is tried again, in case it was repaired or the release is a newer one.
const PUT_OFF_FOR: Duration = Duration::DAY;

/// The result of archiving a batch of games.
#[derive(Debug, Default)]
pub struct Archived {
    /// Games whose logs were archived.
    pub games: u32,
    /// Games whose logs cannot be archived, and why. They are as they were, and put off.
    pub put_off: Vec<(GameId, String)>,
}

/// Archives the logs of those of the games that ended, have not changed since `before`, and are not locked by another transaction.
/// Each log is decoded and compared before its rows are deleted, in the same transaction. If stored data makes the batch fail, the
/// games are tried one at a time.
pub async fn archive(
    pool: &PgPool,
    games: &[GameId],
    before: OffsetDateTime,
    now: OffsetDateTime,
) -> Result<Archived, DbError> {
    let ids: Vec<_> = games.iter().map(|game| game.0).collect();
    let error = match try_to_archive(pool, &ids, before, now).await {
        Err(error) if error.is_data_error() => error,
        archived => return archived,
    };
    let mut all = Archived::default();
    if let [game] = *games {
        all.put_off.push((game, error.to_string()));
        put_off_until(&mut *pool.acquire().await?, &all.put_off, now + PUT_OFF_FOR).await?;
        return Ok(all);
    }
    for game in games {
        let one = Box::pin(archive(pool, &[*game], before, now)).await?;
        all.games += one.games;
        all.put_off.extend(one.put_off);
    }
    Ok(all)
}

async fn try_to_archive(
    pool: &PgPool,
    ids: &[Uuid],
    before: OffsetDateTime,
    now: OffsetDateTime,
) -> Result<Archived, DbError> {
    let mut transaction = pool.begin().await?;
    let done = archive_locked(&mut transaction, ids, before, now).await;
    // A dropped transaction keeps its locks until its connection is next used.
    if done.is_ok() {
        transaction.commit().await?;
    } else if let Err(error) = transaction.rollback().await {
        tracing::debug!("the archive failed to roll back, so its transaction ends with its connection: {error}");
    }
    done
}

async fn archive_locked(
    connection: &mut PgConnection,
    ids: &[Uuid],
    before: OffsetDateTime,
    now: OffsetDateTime,
) -> Result<Archived, DbError> {
    let locked = sqlx::query!(
        r#"
        select id, version from game
        where id = any($1) and (finished_at is not null or aborted_at is not null) and updated_at < $2
        order by id for no key update skip locked
        "#,
        ids,
        before,
    )
    .fetch_all(&mut *connection)
    .instrument(statement("lock games"))
    .await?;
    let ids: Vec<_> = locked.iter().map(|row| row.id).collect();
    // Read by a later statement than the lock: so it has all that was stored before.
    let logs = logs::read(connection, &ids).await?;
    let locked = locked.into_iter().map(|row| (row.id, row.version)).collect();
    // Other tasks share the caller's thread.
    let folded = spawn_blocking(move || fold_all(locked, logs)).await.map_err(|_| DbError::silent())?;
    let (archives, put_off) = folded;
    let games = u32::try_from(archives.len()).unwrap_or(u32::MAX);
    if !archives.is_empty() {
        raise_mark(connection).await?;
        store(connection, archives).await?;
    }
    if !put_off.is_empty() {
        put_off_until(connection, &put_off, now + PUT_OFF_FOR).await?;
    }
    Ok(Archived { games, put_off })
}

/// The archives of logs, and the games whose logs cannot be archived.
type Folded = (Vec<Archive>, Vec<(GameId, String)>);

fn fold_all(games: Vec<(Uuid, i32)>, mut logs: BTreeMap<Uuid, Log>) -> Folded {
    let (mut archives, mut put_off) = (vec![], vec![]);
    for (game_id, version) in games {
        let Some(log) = logs.remove(&game_id).filter(|log| !log.later.is_empty()) else { continue };
        // A panic would fail the whole batch, and again and again.
        let folded = catch_unwind(AssertUnwindSafe(|| fold_log(game_id, version, log)));
        match folded.unwrap_or_else(|_| Err("the archive panicked".to_owned())) {
            Ok(archive) => archives.push(archive),
            Err(reason) => put_off.push((GameId(game_id), reason)),
        }
    }
    (archives, put_off)
}

fn fold_log(game_id: Uuid, version: i32, log: Log) -> Result<Archive, String> {
    let rows = log.whole_rows(game_id).map_err(|error| error.to_string())?;
    if i32::try_from(rows.len()) != Ok(version) {
        return Err("its log and its version differ".to_owned());
    }
    let last_at = rows.last().ok_or("its log is empty")?.at;
    Ok(Archive { game_id, last_at, events: version, log: fold(game_id, &rows)? })
}

columns! {
    /// A row of `archived_log`, but for the transaction of its last event.
    struct Archive => Archives {
        game_id: Uuid,
        last_at: OffsetDateTime,
        events: i32,
        log: Vec<u8>,
    }
}

/// Stores archives, and deletes the rows of their events. An archive that was there has the first of its events.
async fn store(connection: &mut PgConnection, archives: Vec<Archive>) -> Result<(), DbError> {
    let given = Archives::of(archives.into_iter());
    sqlx::query!(
        r#"
        insert into archived_log (game_id, last_at, written_by, history, events, log)
        select given.game_id, last_at, written_by,
            -- The default, for all rows at once.
            (select present_history()), events, log
        from (
            select unnest($1::uuid[]) as game_id, unnest($2::timestamptz[]) as last_at, unnest($3::integer[]) as events,
                unnest($4::bytea[]) as log
        ) given
        cross join lateral (
            select xmin as written_by from event where event.game_id = given.game_id order by seq desc limit 1
        ) last
        on conflict (game_id) do update set last_at = excluded.last_at, written_by = excluded.written_by,
            history = excluded.history, events = excluded.events, log = excluded.log
        "#,
        &given.game_id,
        &given.last_at,
        &given.events,
        &given.log,
    )
    .execute(&mut *connection)
    .instrument(statement("insert archived_log"))
    .await?;
    sqlx::query!(
        r#"
        with no_longer as (
            delete from unarchived_game where game_id = any($1)
        )
        delete from event where game_id = any($1)
        "#,
        &given.game_id,
    )
    .execute(connection)
    .instrument(statement("delete event"))
    .await?;
    Ok(())
}

async fn put_off_until(
    connection: &mut PgConnection,
    games: &[(GameId, String)],
    until: OffsetDateTime,
) -> Result<(), DbError> {
    let ids: Vec<_> = games.iter().map(|(game, _)| game.0).collect();
    sqlx::query!(
        r#"
        insert into unarchived_game (game_id, put_off_until) select unnest($1::uuid[]), $2
        on conflict (game_id) do update set put_off_until = excluded.put_off_until
        "#,
        &ids,
        until,
    )
    .execute(connection)
    .instrument(statement("insert unarchived_game"))
    .await?;
    Ok(())
}
