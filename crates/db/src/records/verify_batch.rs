//! The verification of consecutive games: five statements for all of them, however many there are.

use std::collections::{BTreeMap, HashMap};

use mancala_domain::{Event, GameId, audit};
use sqlx::PgPool;
use tracing::Instrument;
use uuid::Uuid;

use super::{
    archive::{ArchiveColumns, list_orphans},
    verify::{DerivedColumns, Verified, of_analysis, verify},
};
use crate::{
    connection::{DbError, statement},
    games::{
        self,
        find::Histories,
        logs::{Log, query_logs},
    },
};

/// The most events of a batch, so that a batch of long games needs no more memory than one of short games.
const EVENTS_MAX: i64 = 20_000;

/// Consecutive games, in the order of their ids.
#[derive(Clone, Debug)]
pub struct GameBatch {
    after: GameId,
    /// The games.
    pub games: Vec<GameId>,
    /// Whether no games follow.
    pub is_last: bool,
}

impl GameBatch {
    /// The game after which the next batch begins.
    pub fn last(&self) -> GameId {
        self.games.last().copied().unwrap_or(self.after)
    }

    /// The last id that belongs to the batch: logs without a game may have ids behind the last game.
    fn until(&self) -> Uuid {
        if self.is_last { Uuid::max() } else { self.last().0 }
    }
}

/// Up to `limit` games after one, at least one if there are any, and not many more than `EVENTS_MAX` events.
pub async fn list_batch(pool: &PgPool, after: GameId, limit: u32) -> Result<GameBatch, DbError> {
    let rows =
        sqlx::query!("select id, version from game where id > $1 order by id limit $2", after.0, i64::from(limit))
            .fetch_all(pool)
            .instrument(statement("select game"))
            .await?;
    let (found, mut events) = (rows.len(), 0);
    let fits = rows.into_iter().enumerate().take_while(|(n, row)| {
        events += i64::from(row.version);
        *n == 0 || events <= EVENTS_MAX
    });
    let games: Vec<_> = fits.map(|(_, row)| GameId(row.id)).collect();
    let is_last = games.len() == found && found < limit as usize;
    Ok(GameBatch { after, games, is_last })
}

/// The result of verifying a batch of games.
#[derive(Debug, Default)]
pub struct VerifiedBatch {
    /// The games that exist, each with its flaws.
    pub games: Vec<(GameId, Verified)>,
    /// Logs without a game.
    pub orphans: Vec<Uuid>,
    /// Games that were deleted since the batch was listed.
    pub vanished: Vec<GameId>,
}

/// Verifies a batch, as [`verify`] does each game.
pub async fn verify_batch(pool: &PgPool, batch: &GameBatch) -> Result<VerifiedBatch, DbError> {
    let mut verified = VerifiedBatch::default();
    let alone = match read(pool, batch).await {
        Ok(read) => {
            // A log without a listed game may be of one that was created since the batch was listed.
            if read.logs.keys().any(|id| batch.games.binary_search_by_key(id, |game| game.0).is_err()) {
                verified.orphans = list_orphans(pool, batch.after.0, batch.until()).await?;
            }
            read.audit(pool, batch, &mut verified).await?
        }
        // A row that cannot be read fails the statement for all, so each game is read alone.
        Err(error) if error.is_data_error() => {
            verified.orphans = list_orphans(pool, batch.after.0, batch.until()).await?;
            batch.games.clone()
        }
        Err(error) => return Err(error),
    };
    for id in alone {
        match verify(pool, id).await? {
            Some(found) => verified.games.push((id, found)),
            None => verified.vanished.push(id),
        }
    }
    Ok(verified)
}

/// The stored state of a batch. The games are read first and their derived columns last: a game with the same version in
/// both has exactly this log.
struct Read {
    games: HashMap<Uuid, games::SeatedGame>,
    /// All logs between the ends of the batch.
    logs: BTreeMap<Uuid, Log>,
    archives: HashMap<Uuid, ArchiveColumns>,
    columns: HashMap<Uuid, (i32, DerivedColumns)>,
}

async fn read(pool: &PgPool, batch: &GameBatch) -> Result<Read, DbError> {
    let ids: Vec<_> = batch.games.iter().map(|game| game.0).collect();
    let games = games::find::load(pool, &ids, Histories::Loaded).await?;
    let rows = query_logs!(
        events of games,
        "event where game_id > $1 and game_id <= $2",
        "game_id > $1 and game_id <= $2",
        batch.after.0,
        batch.until(),
    )
    .fetch_all(pool)
    .instrument(statement("select event of games"))
    .await?;
    let archives = ArchiveColumns::read(pool, &ids).await?;
    let columns = DerivedColumns::read(pool, &ids).await?;
    let games = games.into_iter().map(|seated| (seated.game.id().0, seated)).collect();
    Ok(Read { games, logs: Log::by_game(rows), archives, columns })
}

impl Read {
    /// Audits the games. Returns those that have to be verified alone: they have changed, or cannot be read.
    async fn audit(
        mut self,
        pool: &PgPool,
        batch: &GameBatch,
        verified: &mut VerifiedBatch,
    ) -> Result<Vec<GameId>, DbError> {
        let mut alone = vec![];
        for &id in &batch.games {
            let rows = self.logs.remove(&id.0).unwrap_or_default().event_rows(id.0);
            let log = rows.and_then(|rows| games::plies::events(id, rows));
            let (Some(seated), Ok(log)) = (self.games.remove(&id.0), log) else {
                alone.push(id);
                continue;
            };
            match self.columns.remove(&id.0) {
                Some((version, columns)) if u32::try_from(version) == Ok(seated.game.version()) => {
                    let archive = self.archives.remove(&id.0);
                    let found = audited(pool, &log, &seated.game, &columns, archive.as_ref()).await?;
                    verified.games.push((id, found));
                }
                _ => alone.push(id),
            }
        }
        Ok(alone)
    }
}

async fn audited(
    pool: &PgPool,
    log: &[Event],
    stored: &mancala_domain::Game,
    columns: &DerivedColumns,
    archive: Option<&ArchiveColumns>,
) -> Result<Verified, DbError> {
    let mut flaws = audit(stored.id(), log, Some(stored));
    flaws.extend(columns.flaws(stored));
    flaws.extend(archive.into_iter().flat_map(|archive| archive.flaws(log)));
    let (flaw, unreadable) = of_analysis(pool, log, stored).await?;
    flaws.extend(flaw);
    Ok(Verified { events: log.len(), flaws, unreadable })
}
