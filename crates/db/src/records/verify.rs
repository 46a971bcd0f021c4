//! The verification of stored games against their logs.

use mancala_domain::{Event, Flaw, Game, GameId, PlayerId, audit, audit_analysis};
use sqlx::PgPool;
use tracing::Instrument;
use uuid::Uuid;

use crate::{
    connection::{DbError, statement},
    games::{self, columns::column, fold::Fold},
    study::analyses,
};

/// The result of verifying a stored game.
#[derive(Clone, Debug)]
pub struct Verified {
    /// How many events its log has.
    pub events: usize,
    /// What is wrong with the log, or with the row or the analysis compared with it.
    pub flaws: Vec<Flaw>,
    /// Why its log, its row or its analysis cannot be read, if so.
    pub unreadable: Option<String>,
}

impl Verified {
    fn unreadable(error: &DbError) -> Self {
        Self { events: 0, flaws: vec![], unreadable: Some(reason(error)) }
    }
}

/// How often a game is read that changes while it is read.
const READS_MAX: u32 = 5;

/// Compares a game with its log, and its log with the rules. `None` if there is no such game.
pub async fn verify(pool: &PgPool, id: GameId) -> Result<Option<Verified>, DbError> {
    for _ in 0..READS_MAX {
        let stored = games::find_whole(pool, id).await;
        let log = match games::log(pool, id).await {
            Err(error) if error.is_data_error() => return Ok(Some(Verified::unreadable(&error))),
            log => log?,
        };
        let events = log.len();
        let stored = match stored {
            Ok(Some(stored)) => stored.game,
            Ok(None) => return Ok(None),
            Err(error) if error.is_data_error() => {
                let flaws = audit(id, &log, None);
                return Ok(Some(Verified { events, flaws, ..Verified::unreadable(&error) }));
            }
            Err(error) => return Err(error),
        };
        if let Some(of_columns) = of_columns(pool, &stored).await? {
            let mut flaws = audit(id, &log, Some(&stored));
            flaws.extend(of_columns);
            let (flaw, unreadable) = of_analysis(pool, &log, &stored).await?;
            flaws.extend(flaw);
            return Ok(Some(Verified { events, flaws, unreadable }));
        }
    }
    Err(DbError::locked())
}

/// The errors in derived columns, which lists and jobs use and readers of the game do not. `None` if the game has
/// changed since it was read.
async fn of_columns(pool: &PgPool, game: &Game) -> Result<Option<Vec<Flaw>>, DbError> {
    let row = sqlx::query!(
        r#"
        select turn_seat, winner_seat, finished_at, aborted_at, wake_at is not null as "wakes!"
        from game where id = $1 and version = $2
        "#,
        game.id().0,
        column(game.version()),
    )
    .fetch_optional(pool)
    .instrument(statement("select columns of game"))
    .await?;
    let Some(row) = row else { return Ok(None) };
    let fold = Fold::of(game);
    let fields = [
        ("turn_seat", row.turn_seat == fold.turn_seat),
        ("winner_seat", row.winner_seat == fold.winner_seat),
        ("finished_at", row.finished_at == fold.finished_at),
        ("aborted_at", row.aborted_at == fold.aborted_at),
        // The time itself is up to the job that wakes games.
        ("wake_at", row.wakes == game.wakes_at().is_some()),
    ];
    let wrong = fields.into_iter().filter(|(_, is_same)| !is_same);
    Ok(Some(wrong.map(|(field, _)| Flaw::Row { field }).collect()))
}

/// The number of events in a game's log, if a player may see the game, as [`Game::is_visible_to`] says. Works even if the rest
/// of the game cannot be read.
pub async fn visible_events(pool: &PgPool, id: GameId, reader: Option<PlayerId>) -> Result<Option<u32>, DbError> {
    let version = sqlx::query_scalar!(
        r#"
        select version from game
        where id = $1 and (visibility <> 'private' or $2 in (seat_0_player_id, seat_1_player_id, invited_player_id))
        "#,
        id.0,
        reader.map(|player| player.0),
    );
    let version = version.fetch_optional(pool).instrument(statement("select visibility of game")).await?;
    // A version that cannot be is a flaw of the game, which the audit finds.
    Ok(version.map(|version| u32::try_from(version).unwrap_or(0)))
}

/// Why a row cannot be read.
fn reason(error: &DbError) -> String {
    match error {
        DbError::Failed(cause) => format!("a row of it cannot be read: {cause}"),
        error => error.to_string(),
    }
}

/// What is wrong with a game's analysis, or why it cannot be read.
async fn of_analysis(pool: &PgPool, log: &[Event], game: &Game) -> Result<(Option<Flaw>, Option<String>), DbError> {
    // Very few games have one.
    if game.analysed_at().is_none() {
        return Ok((None, None));
    }
    match analyses::find(pool, game.id()).await {
        Ok(found) => Ok((audit_analysis(log, game, found.analysis.as_ref()), None)),
        Err(error) if error.is_data_error() => Ok((None, Some(reason(&error)))),
        Err(error) => Err(error),
    }
}

/// Consecutive games, and the logs among them that belong to no game.
#[derive(Debug)]
pub struct GameBatch {
    /// In the order of their ids; `limit` of them, unless there are no more.
    pub games: Vec<GameId>,
    /// Ids of logs between them without a game.
    pub orphans: Vec<Uuid>,
}

/// Up to `limit` games after one.
pub async fn list_batch(pool: &PgPool, after: GameId, limit: u32) -> Result<GameBatch, DbError> {
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
    Ok(GameBatch { games: games.into_iter().map(GameId).collect(), orphans })
}

/// About how many games there are, by the planner's statistics.
pub async fn count(pool: &PgPool) -> Result<u64, DbError> {
    let count =
        sqlx::query_scalar!(r#"select reltuples::bigint as "count!" from pg_class where oid = 'game'::regclass"#)
            .fetch_one(pool)
            .instrument(statement("select reltuples"))
            .await?;
    Ok(u64::try_from(count).unwrap_or(0))
}
