//! Changing the first event of archived imports: who imported a game may change, and be erased.

use mancala_domain::PlayerId;
use serde_json::Value;
use sqlx::PgConnection;
use tracing::Instrument;
use uuid::Uuid;

use super::{folding::fold, logs};
use crate::connection::{DbError, statement};

/// The key of the importer in the detail of the first event.
const IMPORTER: &str = "invited_player_id";

/// How many archives are held in memory at once.
const GAMES_AT_ONCE: usize = 200;

/// Names another importer, or none, in the archived logs of games whose rows the caller has locked. The rows of `event` and `game`
/// are left to the caller.
pub(crate) async fn amend_imports(
    connection: &mut PgConnection,
    games: &[Uuid],
    importer: Option<PlayerId>,
) -> Result<(), DbError> {
    for ids in games.chunks(GAMES_AT_ONCE) {
        let (mut amended, mut archives) = (vec![], vec![]);
        for (id, log) in logs::read(connection, ids).await? {
            let Some(archive) = &log.archive else { continue };
            let mut rows = crate::games::archived::whole_rows(id, archive)?;
            if let Some(Value::Object(detail)) = rows.first_mut().and_then(|row| row.detail.as_mut()) {
                match importer {
                    Some(importer) => drop(detail.insert(IMPORTER.to_owned(), importer.0.to_string().into())),
                    None => drop(detail.remove(IMPORTER)),
                }
            }
            let archive = fold(id, &rows).map_err(|error| DbError::inconsistent("archived_log", "log", id, error))?;
            amended.push(id);
            archives.push(archive);
        }
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
