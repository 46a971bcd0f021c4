//! Stored games compared with their logs.

use sqlx::PgPool;
use tracing::Instrument;
use uuid::Uuid;

use super::{DbError, analyses, games, statement};
use crate::domain::{Event, Flaw, Game, GameId, flaw_of_analysis, flaws};

/// What was found of a stored game.
#[derive(Clone, Debug)]
pub struct Verified {
    /// How many events its log has.
    pub events: usize,
    pub flaws: Vec<Flaw>,
    /// Why the game beside its log, or its analysis, cannot be read, if so.
    pub unreadable: Option<String>,
}

/// How often a game is read again that changes while it is read.
const READS_MAX: u32 = 5;

/// Compares a game with its log, and its log with the rules. `None` if there is no such game.
pub async fn verify(pool: &PgPool, id: GameId) -> Result<Option<Verified>, DbError> {
    for _ in 0..READS_MAX {
        let stored = games::find_whole(pool, id).await;
        let log = games::log(pool, id).await?;
        let events = log.len();
        let stored = match stored {
            Ok(Some(stored)) => stored.game,
            Ok(None) => return Ok(None),
            Err(error @ DbError::Inconsistent { .. }) => {
                let flaws = flaws(id, &log, None);
                return Ok(Some(Verified { events, flaws, unreadable: Some(error.to_string()) }));
            }
            Err(error) => return Err(error),
        };
        let again = games::find(pool, id).await?;
        if again.is_some_and(|again| again.game.version == stored.version) {
            let mut flaws = flaws(id, &log, Some(&stored));
            let (flaw, unreadable) = of_analysis(pool, &log, &stored).await?;
            flaws.extend(flaw);
            return Ok(Some(Verified { events, flaws, unreadable }));
        }
    }
    Err(DbError::locked())
}

/// What is wrong with a game's analysis, or why it cannot be read.
async fn of_analysis(pool: &PgPool, log: &[Event], game: &Game) -> Result<(Option<Flaw>, Option<String>), DbError> {
    // Of hardly any game there is one.
    if game.analysed_at.is_none() {
        return Ok((None, None));
    }
    match analyses::find(pool, game.id).await {
        Ok(known) => Ok((flaw_of_analysis(log, game, known.analysis.as_ref()), None)),
        Err(error @ DbError::Inconsistent { .. }) => Ok((None, Some(error.to_string()))),
        Err(error) => Err(error),
    }
}

/// Some games, and what their neighbourhood has that belongs to no game.
#[derive(Debug)]
pub struct Stretch {
    /// In the order of their ids; as many as were asked for, unless there are no more.
    pub games: Vec<GameId>,
    /// Logs between them without a game.
    pub orphans: Vec<Uuid>,
}

/// Up to `limit` games after one.
pub async fn stretch(pool: &PgPool, after: GameId, limit: u32) -> Result<Stretch, DbError> {
    let games =
        sqlx::query_scalar!("select id from game where id > $1 order by id limit $2", after.0, i64::from(limit))
            .fetch_all(pool)
            .instrument(statement("select game"))
            .await?;
    let last = games.last().filter(|_| games.len() == limit as usize).copied();
    let orphans = sqlx::query_scalar!(
        r#"
        select distinct game_id from event
        where game_id > $1 and game_id <= $2 and not exists (select from game where game.id = game_id)
        "#,
        after.0,
        last.unwrap_or(Uuid::max()),
    )
    .fetch_all(pool)
    .instrument(statement("select event of no game"))
    .await?;
    Ok(Stretch { games: games.into_iter().map(GameId).collect(), orphans })
}

/// About how many games there are.
pub async fn count(pool: &PgPool) -> Result<u64, DbError> {
    let count =
        sqlx::query_scalar!(r#"select reltuples::bigint as "count!" from pg_class where oid = 'game'::regclass"#)
            .fetch_one(pool)
            .instrument(statement("select reltuples"))
            .await?;
    Ok(u64::try_from(count).unwrap_or(0))
}
