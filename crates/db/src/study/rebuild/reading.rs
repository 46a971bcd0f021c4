//! Reading the games: their visits to positions are stored in batches, until all are read.

use mancala_domain::{EXPLORED_BROKEN_OFF_PLIES_MIN, EXPLORED_PLIES_MIN, GameId};
use sqlx::{PgConnection, PgPool};
use tracing::Instrument;
use uuid::Uuid;

use super::{
    state::{LOADING, Rebuild},
    visits::{BYTES, Visit, of_game, range, renumbered},
};
use crate::{
    connection::{DbError, copy::CopyRows, statement},
    games::columns::column,
    study::{
        explored_games::{self, CountedGame},
        explorer_index::allow_long_work,
    },
};

/// A batch is stored when it has so many games, or so many visits (26 MB). An interrupted rebuild reads at most as much again.
const GAMES_OF_BATCH: usize = 8_000;
const VISITS_OF_BATCH: usize = 600_000;

const COPY_GAMES: &str = "copy explorer_rebuild_game (game_id, batch, is_readable) from stdin with (format binary)";
const COPY_NUMBERS: &str = "copy explored_number_next (number, game_id) from stdin with (format binary)";
const COPY_VISITS: &str = "copy explorer_rebuild_visits (range, batch, visits) from stdin with (format binary)";

/// A game that is to be read.
#[derive(Clone, Copy, Debug)]
pub struct Listed {
    /// Its id.
    pub game: GameId,
    /// How many plies it has.
    pub plies: u32,
}

/// The visits that a batch of games adds to the explorer.
#[derive(Default)]
pub struct Read {
    /// Each game, and whether it can be read.
    games: Vec<(Uuid, bool)>,
    /// Visits of positions, whose numbers of games are indices of `games`.
    visits: Vec<Visit>,
    /// Games that cannot be counted, and why.
    pub unreadable: Vec<(GameId, DbError)>,
}

/// Games that were read and are not stored yet.
#[derive(Default)]
pub struct Batch {
    games: Vec<(Uuid, bool)>,
    visits: Vec<Visit>,
    last: Option<GameId>,
}

/// The next games that count, behind one of them. The condition mirrors `Exploration::counts`; a test compares both.
pub async fn list(pool: &PgPool, after: Option<GameId>, limit: i64) -> Result<Vec<Listed>, DbError> {
    let rows = sqlx::query!(
        r#"
        select id, ply from game
        where id > $1 and visibility = 'public' and finished_at is not null and opponent <> 'self'
            and practice is not true
            and ply >= case when result_reason in ('resignation', 'agreement', 'timeout') then $4::integer else $2 end
        order by id limit $3
        "#,
        after.map_or(Uuid::nil(), |game| game.0),
        column(EXPLORED_PLIES_MIN),
        limit,
        column(EXPLORED_BROKEN_OFF_PLIES_MIN),
    )
    .fetch_all(pool)
    .instrument(statement("select games to explore"))
    .await?;
    let listed = |id, ply| Listed { game: GameId(id), plies: u32::try_from(ply).unwrap_or_default() };
    Ok(rows.into_iter().map(|row| listed(row.id, row.ply)).collect())
}

/// Reads games. If stored data makes that fail, they are read one at a time.
pub async fn read(pool: &PgPool, ids: &[Uuid]) -> Result<Read, DbError> {
    let mut transaction = pool.begin().await?;
    allow_long_work(&mut transaction).await?;
    let stored = explored_games::read(&mut transaction, ids).await;
    transaction.rollback().await?;
    let mut read = Read::default();
    match stored {
        Ok(stored) => {
            for game in stored {
                let id = game.id();
                match CountedGame::of(game) {
                    Ok(Some(game)) => {
                        read.visits.extend(of_game(&game, place(&read.games)));
                        read.games.push((id, true));
                    }
                    // The game counts no longer.
                    Ok(None) => {}
                    Err(error) => read.refuse(id, error),
                }
            }
        }
        Err(error) if error.is_data_error() => match *ids {
            [id] => read.refuse(id, error),
            _ => {
                for id in ids {
                    read.add(Box::pin(self::read(pool, &[*id])).await?);
                }
            }
        },
        Err(error) => return Err(error),
    }
    Ok(read)
}

impl Read {
    fn refuse(&mut self, id: Uuid, error: DbError) {
        self.games.push((id, false));
        self.unreadable.push((GameId(id), error));
    }

    fn add(&mut self, other: Self) {
        let before = place(&self.games);
        self.games.extend(other.games);
        self.visits.extend(other.visits.iter().map(|visit| renumbered(visit, before)));
        self.unreadable.extend(other.unreadable);
    }
}

/// The place behind games.
fn place(games: &[(Uuid, bool)]) -> u32 {
    u32::try_from(games.len()).expect("a batch is small")
}

impl Batch {
    /// Adds games, of which `last` is the last.
    pub fn add(&mut self, read: Read, last: GameId) {
        let before = place(&self.games);
        self.games.extend(read.games);
        self.visits.extend(read.visits.iter().map(|visit| renumbered(visit, before)));
        self.last = Some(last);
    }

    /// Whether the batch has as many games or visits as one is to have.
    pub const fn is_full(&self) -> bool {
        self.games.len() >= GAMES_OF_BATCH || self.visits.len() >= VISITS_OF_BATCH
    }

    /// Sorts the visits. It is done before they are stored, and takes a tenth of a second for a full batch.
    pub fn sort(&mut self) {
        self.visits.sort_unstable();
    }

    /// Stores a sorted batch. `number` is how many were stored before. `None` if another process has taken the rebuild over.
    pub async fn store(&self, pool: &PgPool, rebuild: &Rebuild, number: i32) -> Result<Option<()>, DbError> {
        let mut transaction = pool.begin().await?;
        allow_long_work(&mut transaction).await?;
        let row = sqlx::query!("select batches from explorer_rebuild where token = $1 for update", rebuild.token)
            .fetch_optional(&mut *transaction)
            .instrument(statement("lock explorer_rebuild"))
            .await?;
        match row {
            None => return Ok(None),
            // The answer to an earlier attempt was lost.
            Some(row) if row.batches > number => return Ok(Some(())),
            Some(_) => {}
        }
        copy(&mut transaction, COPY_GAMES, self.game_rows(number), "copy explorer_rebuild_game").await?;
        let first = sqlx::query_scalar!(r#"select coalesce(max(number), 0) + 1 as "first!" from explored_number_next"#)
            .fetch_one(&mut *transaction)
            .instrument(statement("select explored_number_next"))
            .await?;
        let first = first.cast_unsigned();
        copy(&mut transaction, COPY_NUMBERS, self.number_rows(first), "copy explored_number_next").await?;
        copy(&mut transaction, COPY_VISITS, self.visit_rows(number, first), "copy explorer_rebuild_visits").await?;
        // A batch without games leaves the place as it is.
        sqlx::query!(
            "update explorer_rebuild set batches = $1, last_game_id = coalesce($2, last_game_id)",
            number + 1,
            self.last.map(|game| game.0)
        )
        .execute(&mut *transaction)
        .instrument(statement("update explorer_rebuild"))
        .await?;
        transaction.commit().await?;
        Ok(Some(()))
    }

    fn game_rows(&self, number: i32) -> CopyRows {
        let mut rows = CopyRows::new(3);
        for (game, is_readable) in &self.games {
            rows.begin_row();
            rows.value(game.as_bytes());
            rows.value(&number.to_be_bytes());
            rows.value(&[u8::from(*is_readable)]);
        }
        rows
    }

    /// The numbers of its games, of which the first has this one.
    fn number_rows(&self, first: u32) -> CopyRows {
        let mut rows = CopyRows::new(2);
        for ((game, _), number) in self.games.iter().zip(first..).filter(|((_, is_readable), _)| *is_readable) {
            rows.begin_row();
            rows.value(&number.to_be_bytes());
            rows.value(game.as_bytes());
        }
        rows
    }

    fn visit_rows(&self, number: i32, first: u32) -> CopyRows {
        let mut rows = CopyRows::new(3);
        let mut bytes = Vec::with_capacity(BYTES);
        for visits in self.visits.chunk_by(|one, other| range(one) == range(other)) {
            bytes.clear();
            bytes.extend(visits.iter().flat_map(|visit| renumbered(visit, first)));
            rows.begin_row();
            rows.value(&range(&visits[0]).to_be_bytes());
            rows.value(&number.to_be_bytes());
            rows.value(&bytes);
        }
        rows
    }
}

/// All games are read. `None` if another process has taken the rebuild over.
pub async fn finish(pool: &PgPool, rebuild: &Rebuild) -> Result<Option<()>, DbError> {
    let finished = sqlx::query!("update explorer_rebuild set step = $1 where token = $2", LOADING, rebuild.token)
        .execute(pool)
        .instrument(statement("update explorer_rebuild"))
        .await?;
    Ok((finished.rows_affected() > 0).then_some(()))
}

async fn copy(connection: &mut PgConnection, into: &str, rows: CopyRows, summary: &'static str) -> Result<(), DbError> {
    async {
        let mut copy = connection.copy_in_raw(into).await?;
        copy.send(rows.end()).await?;
        copy.finish().await
    }
    .instrument(statement(summary))
    .await?;
    Ok(())
}
