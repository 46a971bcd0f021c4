//! Replaces the explorer that is in use by the rebuilt one.

use std::collections::{BTreeMap, HashSet};

use mancala_domain::{EXPLORED_BROKEN_OFF_PLIES_MIN, EXPLORED_PLIES_MIN};
use sqlx::{Connection, PgConnection, PgPool};
use time::OffsetDateTime;
use tracing::Instrument;
use uuid::Uuid;

use super::{
    state::{LOADED, Rebuild, SWAPPED, empty, hold},
    visits::{Visit, game, is_first, position, rows as rows_of},
};
use crate::{
    connection::{DbError, statement},
    games::columns::column,
    study::{
        entry_removal,
        explorer_batch::PUT_OFF_FOR,
        explorer_index::{allow_long_work, lock},
        tallies::{MoveColumns, MoveRow},
    },
};

/// How long the exchange waits for readers before it is given up and tried again; meanwhile all new readers wait.
const LOCK_TIMEOUT: &str = "set local lock_timeout = '100ms'";

/// No transaction may hold these while the names change. Taken and given back at first, so that nothing is done in vain.
const LOCK_TABLES: &str =
    "lock table explored_move, explored_game, explored_chunk, explored_number in access exclusive mode";

/// An automatic vacuum gives way after a second, which is longer than `LOCK_TIMEOUT`, and none begins. Readers and writers go on.
const KEEP_VACUUM_AWAY: &str = "
    lock table explored_move, explored_game, explored_chunk, explored_number in share update exclusive mode;
    lock table explored_move_next, explored_game_next, explored_chunk_next, explored_number_next, explorer_rebuild_game,
        explorer_rebuild_visits in access exclusive mode";

/// The names of a table and of its key change places with those of its `_next`.
macro_rules! exchange {
    ($table:literal) => {
        concat!(
            exchange!("table ", $table, ""),
            concat!("alter table ", $table, "_next rename constraint ", $table, "_pkey to ", $table, "_before_pkey;"),
            concat!("alter table ", $table, " rename constraint ", $table, "_next_pkey to ", $table, "_pkey;"),
            concat!(
                "alter table ",
                $table,
                "_next rename constraint ",
                $table,
                "_before_pkey to ",
                $table,
                "_next_pkey;"
            ),
        )
    };
    ($kind:literal, $table:literal, $suffix:literal) => {
        concat!(
            concat!("alter ", $kind, $table, $suffix, " rename to ", $table, "_before", $suffix, ";"),
            concat!("alter ", $kind, $table, "_next", $suffix, " rename to ", $table, $suffix, ";"),
            concat!("alter ", $kind, $table, "_before", $suffix, " rename to ", $table, "_next", $suffix, ";"),
        )
    };
}

/// The tables exchange their names.
const RENAME: &str = concat!(
    exchange!("explored_move"),
    exchange!("explored_game"),
    exchange!("explored_chunk"),
    exchange!("explored_number"),
    exchange!("index ", "explored_number", "_game_idx"),
);

/// Without it the first queries would be planned as for empty tables.
const ANALYZE: &str = "analyze explored_move_next, explored_chunk_next, explored_number_next, explorer_rebuild_game";

/// Sorts and hashes of all ids stay in memory.
const WORK_MEM: &str = "set local work_mem = '64MB'";

/// The service's connections only allow plans for a few rows, by an index. `explorer_rebuild_game` has none by game: each of these
/// statements reads whole tables once, and would read them once for each game.
const WHOLE_TABLES: &str = "
    set local enable_seqscan = on;
    set local enable_hashjoin = on;
    set local enable_mergejoin = on";

/// The service's plans again.
const FEW_ROWS: &str = "
    set local enable_seqscan = off;
    set local enable_hashjoin = off;
    set local enable_mergejoin = off";

/// Prepares the swap while readers still use the former tables. The planner's statistics are updated, and deleted games are removed from
/// the new tables. `None` if another process has taken the rebuild over.
pub async fn prepare(pool: &PgPool, rebuild: &Rebuild) -> Result<Option<()>, DbError> {
    let mut transaction = pool.begin().await?;
    allow_long_work(&mut transaction).await?;
    if !hold(&mut transaction, rebuild.token).await? {
        return Ok(None);
    }
    sqlx::raw_sql(ANALYZE).execute(&mut *transaction).instrument(statement("analyze explored_move_next")).await?;
    remove_deleted(&mut transaction).await?;
    // The visits of the deleted games are still stored. Loading again would count them.
    sqlx::query!("update explorer_rebuild set step = $1 where token = $2", LOADED, rebuild.token)
        .execute(&mut *transaction)
        .instrument(statement("update explorer_rebuild"))
        .await?;
    transaction.commit().await?;
    Ok(Some(()))
}

/// Exchanges the tables. Games that ended meanwhile are queued. Readers wait only while the names change, at the very end, and
/// appends never. `None` if another process has taken the rebuild over.
pub async fn swap(pool: &PgPool, rebuild: &Rebuild, now: OffsetDateTime) -> Result<Option<()>, DbError> {
    let mut transaction = pool.begin().await?;
    allow_long_work(&mut transaction).await?;
    sqlx::raw_sql(WORK_MEM).execute(&mut *transaction).instrument(statement("set work_mem")).await?;
    sqlx::raw_sql(KEEP_VACUUM_AWAY).execute(&mut *transaction).instrument(statement("lock explored_move")).await?;
    wait_for_readers(&mut transaction).await?;
    lock(&mut transaction).await?;
    let step = sqlx::query_scalar!("select step from explorer_rebuild where token = $1 for update", rebuild.token)
        .fetch_optional(&mut *transaction)
        .instrument(statement("lock explorer_rebuild"))
        .await?;
    match step.as_deref() {
        None => return Ok(None),
        // The answer to an earlier attempt was lost.
        Some(SWAPPED) => return Ok(Some(())),
        Some(_) => {}
    }
    remove_deleted(&mut transaction).await?;
    update_queue(&mut transaction, now).await?;
    sqlx::query!("update explorer_rebuild set step = $1", SWAPPED)
        .execute(&mut *transaction)
        .instrument(statement("update explorer_rebuild"))
        .await?;
    sqlx::raw_sql(LOCK_TIMEOUT).execute(&mut *transaction).instrument(statement("set lock_timeout")).await?;
    sqlx::raw_sql(RENAME).execute(&mut *transaction).instrument(statement("alter table explored_move")).await?;
    // The former tables have these names now.
    empty(&mut transaction).await?;
    transaction.commit().await?;
    Ok(Some(()))
}

/// Fails if a transaction reads the tables, such as a backup.
async fn wait_for_readers(connection: &mut PgConnection) -> Result<(), DbError> {
    let mut attempt = connection.begin().await?;
    sqlx::raw_sql(LOCK_TIMEOUT).execute(&mut *attempt).instrument(statement("set lock_timeout")).await?;
    sqlx::raw_sql(LOCK_TABLES).execute(&mut *attempt).instrument(statement("lock explored_move")).await?;
    Ok(attempt.rollback().await?)
}

/// Takes games out of the new tables that were deleted after they had been read.
async fn remove_deleted(connection: &mut PgConnection) -> Result<(), DbError> {
    plan_for(connection, WHOLE_TABLES).await?;
    let rows = sqlx::query!(
        r#"
        delete from explorer_rebuild_game read
        where not exists (select from game where game.id = read.game_id)
        returning game_id, batch
        "#,
    )
    .fetch_all(&mut *connection)
    .instrument(statement("delete explorer_rebuild_game"))
    .await?;
    plan_for(connection, FEW_ROWS).await?;
    let mut batches = BTreeMap::<i32, HashSet<Uuid>>::new();
    for row in rows {
        batches.entry(row.batch).or_default().insert(row.game_id);
    }
    for (batch, deleted) in batches {
        let visits = visits_of(connection, batch, &deleted).await?;
        let moves = MoveColumns::of(rows_of(&visits).map(MoveRow::from));
        let visited = visits.iter().filter(|visit| is_first(visit));
        entry_removal::delete_next(connection, visited.map(|visit| (position(visit), game(visit))).collect()).await?;
        moves.remove_next(connection, &deleted.into_iter().collect::<Vec<_>>()).await?;
    }
    Ok(())
}

/// The sorted visits of games of a batch.
async fn visits_of(connection: &mut PgConnection, batch: i32, games: &HashSet<Uuid>) -> Result<Vec<Visit>, DbError> {
    let blocks =
        sqlx::query_scalar!("select visits from explorer_rebuild_visits where batch = $1 order by range", batch)
            .fetch_all(connection)
            .instrument(statement("select explorer_rebuild_visits"))
            .await?;
    let visits = blocks.iter().flat_map(|bytes| bytes.as_chunks().0);
    Ok(visits.filter(|visit| games.contains(&game(visit))).copied().collect())
}

/// Games that the new tables count leave the queue, and those that cannot be read are put off. Games that ended
/// meanwhile are queued, also if the former tables count them.
async fn update_queue(connection: &mut PgConnection, now: OffsetDateTime) -> Result<(), DbError> {
    plan_for(connection, WHOLE_TABLES).await?;
    sqlx::query!(
        r#"
        delete from unexplored_game using explorer_rebuild_game read
        where unexplored_game.game_id = read.game_id and read.is_readable
        "#,
    )
    .execute(&mut *connection)
    .instrument(statement("delete unexplored_game"))
    .await?;
    sqlx::query!(
        r#"
        insert into unexplored_game (game_id, is_imported, put_off_until)
        select id, opponent = 'imported', $1 from explorer_rebuild_game read join game on game.id = read.game_id
        where not is_readable
        on conflict (game_id) do update set put_off_until = excluded.put_off_until
        "#,
        now + PUT_OFF_FOR,
    )
    .execute(&mut *connection)
    .instrument(statement("insert unexplored_game"))
    .await?;
    // The condition mirrors `Exploration::counts`; a test compares both.
    sqlx::query!(
        r#"
        insert into unexplored_game as waiting (game_id, is_imported)
        select id, opponent = 'imported' from game
        where visibility = 'public' and finished_at is not null and opponent <> 'self'
            and practice is not true
            and ply >= case when result_reason in ('resignation', 'agreement', 'timeout') then $2::integer else $1 end
          and not exists (select from explorer_rebuild_game read where read.game_id = game.id)
        order by opponent = 'imported', id
        on conflict (game_id) do update set put_off_until = null where waiting.put_off_until is not null
        "#,
        column(EXPLORED_PLIES_MIN),
        column(EXPLORED_BROKEN_OFF_PLIES_MIN),
    )
    .execute(&mut *connection)
    .instrument(statement("insert unexplored_game"))
    .await?;
    plan_for(connection, FEW_ROWS).await
}

/// Allows the plans of the next statements: `WHOLE_TABLES` or `FEW_ROWS`.
async fn plan_for(connection: &mut PgConnection, settings: &'static str) -> Result<(), DbError> {
    sqlx::raw_sql(settings).execute(connection).instrument(statement("set enable_hashjoin")).await?;
    Ok(())
}
