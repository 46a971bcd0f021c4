//! A batch of queued games: reading what the explorer counts of them, and storing it.

use mancala_domain::GameId;
use sqlx::PgConnection;
use time::{Duration, OffsetDateTime};
use tracing::Instrument;
use uuid::Uuid;

use super::{
    entries,
    explored_games::{CountedGame, read},
    frequent,
};
use crate::connection::{DbError, statement};

/// How many plies one transaction counts, and how many of one game, so that very long games hold up nothing.
const PLIES_AT_ONCE: i64 = 20_000;

/// How many plies a game of a large batch may have on average.
const PLIES_OF_A_GAME: i64 = 80;

/// After this a game whose log cannot be read is tried again, in case it has been repaired.
pub(super) const PUT_OFF_FOR: Duration = Duration::DAY;

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

/// A place in the queue: played games come before imported ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuePosition {
    is_imported: bool,
    number: i64,
}

impl QueuePosition {
    /// The place before all games.
    pub const FIRST: Self = Self { is_imported: false, number: i64::MIN };
}

/// The counts that queued games add to the explorer, before they are stored.
#[derive(Debug)]
pub struct Batch {
    /// The games that leave the queue.
    done: Vec<Uuid>,
    games: Vec<CountedGame>,
    unreadable: Vec<(GameId, DbError)>,
    last: Option<QueuePosition>,
    is_full: bool,
}

impl Batch {
    /// Reads up to `limit` queued games, or a single one that is longer than a batch may be.
    pub(super) async fn read(
        connection: &mut PgConnection,
        now: OffsetDateTime,
        limit: u32,
        after: QueuePosition,
    ) -> Result<Self, DbError> {
        let Waiting { ids, last, is_full } = Waiting::read(connection, now, limit, after).await?;
        let (mut games, mut unreadable) = (vec![], vec![]);
        let stored = if ids.is_empty() { vec![] } else { read(connection, &ids).await? };
        for game in stored {
            let id = game.id();
            match CountedGame::of(game) {
                // `None`: a server of an older release has queued a game that no longer counts.
                Ok(game) => games.extend(game),
                Err(error) => unreadable.push((GameId(id), error)),
            }
        }
        // A game that is queued and not found was deleted.
        let is_readable = |id: &Uuid| unreadable.iter().all(|(unreadable, _)| unreadable.0 != *id);
        let done = ids.into_iter().filter(is_readable).collect();
        Ok(Self { done, games, unreadable, last, is_full })
    }

    /// The place behind the last game, if there may be more games there.
    pub fn next(&self) -> Option<QueuePosition> {
        self.last.filter(|_| self.is_full)
    }

    /// Stores the batch. A game that was counted before violates a key, and then nothing is stored. `None` if a game
    /// has left the queue since it was read: the caller rolls back.
    pub(super) async fn store(
        &self,
        connection: &mut PgConnection,
        now: OffsetDateTime,
    ) -> Result<Option<Explored>, DbError> {
        let Self { done, games, unreadable, is_full, .. } = self;
        if done.is_empty() && unreadable.is_empty() {
            return Ok(Some(Explored::default()));
        }
        if !self.update_queue(connection, now).await? {
            return Ok(None);
        }
        let mut entries: Vec<_> = games.iter().flat_map(CountedGame::entries).collect();
        entries.sort_unstable();
        frequent::tallies(connection, games, &entries).await?.columns().store(connection).await?;
        entries::insert(connection, entries).await?;
        entries::number(connection, &games.iter().map(|game| game.id).collect::<Vec<_>>()).await?;
        let games = u32::try_from(games.len()).expect("a batch is small");
        Ok(Some(Explored { games, unreadable: unreadable.clone(), is_full: *is_full }))
    }

    /// Counted games leave the queue; those that cannot be read are put off. `false` if one had left it before.
    async fn update_queue(&self, connection: &mut PgConnection, now: OffsetDateTime) -> Result<bool, DbError> {
        let unreadable: Vec<_> = self.unreadable.iter().map(|(game, _)| game.0).collect();
        let left = sqlx::query!(
            r#"
            with put_off as (
                update unexplored_game set put_off_until = $3 where game_id = any($2)
            )
            delete from unexplored_game where game_id = any($1)
            "#,
            &self.done,
            &unreadable,
            now + PUT_OFF_FOR,
        )
        .execute(connection)
        .instrument(statement("delete unexplored_game"))
        .await?;
        Ok(usize::try_from(left.rows_affected()) == Ok(self.done.len()))
    }
}

/// The next games in the queue.
struct Waiting {
    ids: Vec<Uuid>,
    last: Option<QueuePosition>,
    is_full: bool,
}

impl Waiting {
    async fn read(
        connection: &mut PgConnection,
        now: OffsetDateTime,
        limit: u32,
        after: QueuePosition,
    ) -> Result<Self, DbError> {
        let rows = sqlx::query!(
            r#"
            select waiting.game_id as "id!", is_imported as "is_imported!", number as "number!", ply as "ply?"
            from (
                select game_id, is_imported, number from unexplored_game
                where (put_off_until is null or put_off_until <= $1) and (is_imported, number) > ($3, $4)
                order by is_imported, number limit $2
            ) waiting
            left join game on game.id = waiting.game_id
            order by waiting.is_imported, waiting.number
            "#,
            now,
            i64::from(limit),
            after.is_imported,
            after.number,
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
        let (mut ids, mut last) = (vec![], None);
        for (_, row) in fits {
            ids.push(row.id);
            last = Some(QueuePosition { is_imported: row.is_imported, number: row.number });
        }
        let is_full = ids.len() < found || found == limit as usize;
        Ok(Self { ids, last, is_full })
    }
}
