//! The verification of stored games against their logs.

use std::collections::HashMap;

use mancala_domain::{Event, Flaw, Game, GameId, PlayerId, audit, audit_analysis};
use sqlx::PgPool;
use time::OffsetDateTime;
use tracing::Instrument;
use uuid::Uuid;

use super::archive::ArchiveColumns;
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
    /// The flaws of the log, or of the row or the analysis compared with it.
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
        let archive = ArchiveColumns::read(pool, &[id.0]).await?.remove(&id.0);
        if let Some(of_columns) = of_columns(pool, &stored).await? {
            let mut flaws = audit(id, &log, Some(&stored));
            flaws.extend(of_columns);
            flaws.extend(archive.into_iter().flat_map(|archive| archive.flaws(&log)));
            let (flaw, unreadable) = of_analysis(pool, &log, &stored).await?;
            flaws.extend(flaw);
            return Ok(Some(Verified { events, flaws, unreadable }));
        }
    }
    Err(DbError::locked())
}

/// The errors in derived columns. `None` if the game has changed since it was read.
async fn of_columns(pool: &PgPool, game: &Game) -> Result<Option<Vec<Flaw>>, DbError> {
    let found = DerivedColumns::read(pool, &[game.id().0]).await?.remove(&game.id().0);
    Ok(found
        .filter(|(version, _)| *version == column(game.version()))
        .map(|(_, columns)| columns.flaws(game).collect()))
}

/// The columns that lists and jobs use, and readers of the game do not.
pub(super) struct DerivedColumns {
    turn_seat: Option<i16>,
    winner_seat: Option<i16>,
    finished_at: Option<OffsetDateTime>,
    aborted_at: Option<OffsetDateTime>,
    wakes: bool,
}

impl DerivedColumns {
    /// Reads the columns of some games, with the games' versions.
    pub(super) async fn read(pool: &PgPool, ids: &[Uuid]) -> Result<HashMap<Uuid, (i32, Self)>, DbError> {
        let rows = sqlx::query!(
            r#"
            select id, version, turn_seat, winner_seat, finished_at, aborted_at, wake_at is not null as "wakes!"
            from game where id = any($1)
            "#,
            ids,
        )
        .fetch_all(pool)
        .instrument(statement("select columns of game"))
        .await?;
        let columns = rows.into_iter().map(|row| {
            let (turn_seat, winner_seat, wakes) = (row.turn_seat, row.winner_seat, row.wakes);
            let (finished_at, aborted_at) = (row.finished_at, row.aborted_at);
            (row.id, (row.version, Self { turn_seat, winner_seat, finished_at, aborted_at, wakes }))
        });
        Ok(columns.collect())
    }

    /// Returns a flaw for each column that the game's state contradicts.
    pub(super) fn flaws(&self, game: &Game) -> impl Iterator<Item = Flaw> + use<> {
        let fold = Fold::of(game);
        let fields = [
            ("turn_seat", self.turn_seat == fold.turn_seat),
            ("winner_seat", self.winner_seat == fold.winner_seat),
            ("finished_at", self.finished_at == fold.finished_at),
            ("aborted_at", self.aborted_at == fold.aborted_at),
            // The time itself is up to the job that wakes games.
            ("wake_at", self.wakes == game.wakes_at().is_some()),
        ];
        fields.into_iter().filter(|(_, is_same)| !is_same).map(|(field, _)| Flaw::Row { field })
    }
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

/// The flaws of a game's analysis, or the reason why it cannot be read.
pub(super) async fn of_analysis(
    pool: &PgPool,
    log: &[Event],
    game: &Game,
) -> Result<(Option<Flaw>, Option<String>), DbError> {
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

/// About how many games there are, by the planner's statistics.
pub async fn count(pool: &PgPool) -> Result<u64, DbError> {
    let count =
        sqlx::query_scalar!(r#"select reltuples::bigint as "count!" from pg_class where oid = 'game'::regclass"#)
            .fetch_one(pool)
            .instrument(statement("select reltuples"))
            .await?;
    Ok(u64::try_from(count).unwrap_or(0))
}
