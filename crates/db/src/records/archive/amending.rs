//! Changing the first event of archived imports: who imported a game may change, and be erased.

use mancala_domain::PlayerId;
use serde_json::Value;
use sqlx::PgConnection;
use tokio::task::spawn_blocking;
use tracing::Instrument;
use uuid::Uuid;

use super::folding::fold;
use crate::{
    connection::{DbError, statement},
    games::archived::whole_rows,
};

/// The key of the importer in the detail of the first event.
const IMPORTER: &str = "invited_player_id";

/// How many events are held in memory at once: some megabytes, and a hundred milliseconds' work.
const EVENTS_AT_ONCE: i32 = 10_000;

/// Names another importer, or none, in the archived logs of games whose rows the caller has locked. The rows of `event` and `game`
/// are left to the caller.
pub(crate) async fn amend_imports(
    connection: &mut PgConnection,
    games: &[Uuid],
    importer: Option<PlayerId>,
) -> Result<(), DbError> {
    for ids in in_batches(connection, games).await? {
        let archives = sqlx::query!("select game_id, log from archived_log where game_id = any($1)", &ids)
            .fetch_all(&mut *connection)
            .instrument(statement("select archived_log"))
            .await?;
        let archives: Vec<_> = archives.into_iter().map(|row| (row.game_id, row.log)).collect();
        // Other tasks share the caller's thread.
        let amended = spawn_blocking(move || amend_all(archives, importer)).await.map_err(|_| DbError::silent())?;
        let (amended, archives): (Vec<_>, Vec<_>) = amended.into_iter().unzip();
        sqlx::query!(
            r#"
            update archived_log set log = given.log
            from (select unnest($1::uuid[]) as game_id, unnest($2::bytea[]) as log) given
            where archived_log.game_id = given.game_id
            "#,
            &amended,
            &archives,
        )
        .execute(&mut *connection)
        .instrument(statement("update archived_log"))
        .await?;
    }
    Ok(())
}

/// Returns the games that have archives, in batches.
async fn in_batches(connection: &mut PgConnection, games: &[Uuid]) -> Result<Vec<Vec<Uuid>>, DbError> {
    let rows = sqlx::query!("select game_id, events from archived_log where game_id = any($1) order by game_id", games)
        .fetch_all(connection)
        .instrument(statement("select archived_log"))
        .await?;
    Ok(batches(rows.into_iter().map(|row| (row.game_id, row.events))))
}

/// Games with their numbers of events, as many at once as have `EVENTS_AT_ONCE`, or one.
fn batches(games: impl Iterator<Item = (Uuid, i32)>) -> Vec<Vec<Uuid>> {
    let (mut batches, mut events) = (Vec::<Vec<Uuid>>::new(), 0_i32);
    for (game, of_game) in games {
        events = events.saturating_add(of_game);
        match batches.last_mut() {
            Some(batch) if events <= EVENTS_AT_ONCE => batch.push(game),
            _ => {
                events = of_game;
                batches.push(vec![game]);
            }
        }
    }
    batches
}

/// Replaces the importer in archives. An archive that cannot be read is logged and stays: the game's row no longer names the importer.
fn amend_all(archives: Vec<(Uuid, Vec<u8>)>, importer: Option<PlayerId>) -> Vec<(Uuid, Vec<u8>)> {
    let amended = archives.into_iter().filter_map(|(id, archive)| match amend(id, &archive, importer) {
        Ok(amended) => Some((id, amended)),
        Err(error) => {
            tracing::error!(game.id = %id, "an archived log still names its importer: {error}");
            None
        }
    });
    amended.collect()
}

fn amend(id: Uuid, archive: &[u8], importer: Option<PlayerId>) -> Result<Vec<u8>, DbError> {
    let mut rows = whole_rows(id, archive)?;
    if let Some(Value::Object(detail)) = rows.first_mut().and_then(|row| row.detail.as_mut()) {
        match importer {
            Some(importer) => drop(detail.insert(IMPORTER.to_owned(), importer.0.to_string().into())),
            None => drop(detail.remove(IMPORTER)),
        }
    }
    fold(id, &rows).map_err(|error| DbError::inconsistent("archived_log", "log", id, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_has_few_long_games_or_many_short_ones() {
        let lengths = |games: &[i32]| {
            let games = games.iter().map(|events| (Uuid::nil(), *events));
            batches(games).iter().map(Vec::len).collect::<Vec<_>>()
        };
        assert_eq!(lengths(&[50; 300]), [200, 100]);
        assert_eq!(lengths(&[6_000, 4_000, 1, 30_000, i32::MAX, 2]), [2, 1, 1, 1, 1]);
        assert_eq!(lengths(&[]), [0; 0]);
    }
}
