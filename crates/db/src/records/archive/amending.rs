//! Changing the first event of archived imports: who imported a game may change, and be erased.

use mancala_domain::PlayerId;
use serde_json::Value;
use sqlx::PgConnection;
use tokio::task::spawn_blocking;
use tracing::Instrument;
use uuid::Uuid;

use super::{folding::fold, logs};
use crate::{
    connection::{DbError, statement},
    games::archived::whole_rows,
};

/// The key of the importer in the detail of the first event.
const IMPORTER: &str = "invited_player_id";

/// How many archives are held in memory at once.
const GAMES_AT_ONCE: usize = 50;

/// Names another importer, or none, in the archived logs of games whose rows the caller has locked. The rows of `event` and `game`
/// are left to the caller.
pub(crate) async fn amend_imports(
    connection: &mut PgConnection,
    games: &[Uuid],
    importer: Option<PlayerId>,
) -> Result<(), DbError> {
    for ids in games.chunks(GAMES_AT_ONCE) {
        let logs = logs::read(connection, ids).await?;
        let archives = logs.into_iter().filter_map(|(id, log)| Some((id, log.archive?)));
        let archives: Vec<_> = archives.collect();
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

/// The archives with another importer. One that cannot be read is logged and stays: its game's row names the importer no more.
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
