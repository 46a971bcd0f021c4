//! Finding the logs that may be archived.

use mancala_domain::GameId;
use sqlx::PgPool;
use time::OffsetDateTime;
use tracing::Instrument;
use uuid::Uuid;

use crate::connection::{DbError, statement};

/// The most events of a batch, so that long games take no more memory and no longer locks than short ones. Appends to these games wait
/// for the batch, and other appends for them.
const EVENTS_MAX: i64 = 2_000;

/// A part of the logs whose events are rows of `event`.
#[derive(Debug)]
pub struct Scanned {
    /// How many logs the batch read.
    pub scanned: u64,
    /// The games whose logs may be archived: they ended long enough ago, and are not put off.
    pub ready: Vec<GameId>,
    /// The time of the oldest last event among games that ended long enough ago, those that are put off included.
    pub oldest: Option<OffsetDateTime>,
    /// The game after which the next scan begins; `None` at the end.
    pub next: Option<GameId>,
}

/// Looks at up to `limit` logs after one, in the order of the games' ids. It jumps from game to game in the key of
/// `event`, so it passes no archived game. It finds the rest of the work without an index or a queue that moves would
/// have to keep.
pub async fn scan(
    pool: &PgPool,
    after: Option<GameId>,
    before: OffsetDateTime,
    now: OffsetDateTime,
    limit: u32,
) -> Result<Scanned, DbError> {
    let rows = sqlx::query!(
        r#"
        with recursive logged (game_id, number) as (
            (select game_id, 1 from event where game_id > $1 order by game_id limit 1)
            union all
            select next.game_id, number + 1 from logged cross join lateral (
                select event.game_id from event where event.game_id > logged.game_id order by event.game_id limit 1
            ) next
            where number < $2
        )
        select logged.game_id as "id!", game.version as "version?",
            case when (game.finished_at is not null or game.aborted_at is not null) and game.updated_at < $3
                then game.updated_at end as "due_since?",
            coalesce(put_off_until > $4, false) as "is_put_off!"
        from logged
        left join game on game.id = logged.game_id
        left join unarchived_game on unarchived_game.game_id = logged.game_id
        order by logged.game_id
        "#,
        after.map_or(Uuid::nil(), |game| game.0),
        i32::try_from(limit).unwrap_or(i32::MAX),
        before,
        now,
    )
    .fetch_all(pool)
    .instrument(statement("select event game"))
    .await?;
    let (found, mut events) = (rows.len(), 0);
    let fits = rows.into_iter().take_while(|row| {
        let is_first = events == 0;
        events += if is_ready(row.due_since, row.is_put_off) { i64::from(row.version.unwrap_or_default()) } else { 0 };
        is_first || events <= EVENTS_MAX
    });
    let (mut scanned, mut ready, mut oldest, mut last) = (0, vec![], None, None);
    for row in fits {
        scanned += 1;
        last = Some(GameId(row.id));
        oldest = oldest.into_iter().chain(row.due_since).min();
        if is_ready(row.due_since, row.is_put_off) {
            ready.push(GameId(row.id));
        }
    }
    let is_end = scanned == found && found < limit as usize;
    Ok(Scanned { scanned: scanned as u64, ready, oldest, next: last.filter(|_| !is_end) })
}

/// Whether a log may be archived now.
const fn is_ready(due_since: Option<OffsetDateTime>, is_put_off: bool) -> bool {
    due_since.is_some() && !is_put_off
}

/// About how many games there are, and how many logs are archived, by the planner's statistics.
#[derive(Clone, Copy, Debug)]
pub struct ArchiveCounts {
    /// All games.
    pub games: u64,
    /// Archived logs.
    pub archived: u64,
}

/// Counts games and archived logs.
pub async fn count(pool: &PgPool) -> Result<ArchiveCounts, DbError> {
    let row = sqlx::query!(
        r#"
        select (select reltuples::bigint from pg_class where oid = 'game'::regclass) as "games!",
            (select reltuples::bigint from pg_class where oid = 'archived_log'::regclass) as "archived!"
        "#
    );
    let row = row.fetch_one(pool).instrument(statement("count archived_log")).await?;
    let [games, archived] = [row.games, row.archived].map(|count| u64::try_from(count).unwrap_or(0));
    Ok(ArchiveCounts { games, archived })
}
