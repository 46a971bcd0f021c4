//! The columns of archives, compared with the logs that they are of, and logs without a game. Readers of feeds rely on the columns.

use std::collections::HashMap;

use mancala_domain::{Event, Flaw};
use sqlx::PgPool;
use time::OffsetDateTime;
use tracing::Instrument;
use uuid::Uuid;

use crate::connection::{DbError, statement};

/// The columns that are stored beside an archive.
pub(in crate::records) struct ArchiveColumns {
    events: i32,
    last_at: OffsetDateTime,
    /// The first event behind the archive.
    first_behind: Option<i32>,
}

impl ArchiveColumns {
    /// Reads the columns of the games that have archives.
    pub(in crate::records) async fn read(pool: &PgPool, ids: &[Uuid]) -> Result<HashMap<Uuid, Self>, DbError> {
        let rows = sqlx::query!(
            r#"
            select game_id, events, last_at,
                (select min(seq) from event where event.game_id = archived_log.game_id) as first_behind
            from archived_log where game_id = any($1)
            "#,
            ids,
        )
        .fetch_all(pool)
        .instrument(statement("select columns of archived_log"))
        .await?;
        let columns = rows.into_iter().map(|row| {
            let (events, last_at, first_behind) = (row.events, row.last_at, row.first_behind);
            (row.game_id, Self { events, last_at, first_behind })
        });
        Ok(columns.collect())
    }

    /// Returns a flaw for each column that the game's whole log contradicts.
    pub(in crate::records) fn flaws(&self, log: &[Event]) -> impl Iterator<Item = Flaw> + use<> {
        let archived = self.first_behind.map_or(log.len(), |seq| usize::try_from(seq - 1).unwrap_or_default());
        let last_at = archived.checked_sub(1).and_then(|last| log.get(last)).map(|last| last.at);
        let fields = [
            ("archived_log.events", usize::try_from(self.events) == Ok(archived)),
            ("archived_log.last_at", Some(self.last_at) == last_at),
        ];
        fields.into_iter().filter(|(_, is_same)| !is_same).map(|(field, _)| Flaw::Row { field })
    }
}

/// The logs after a game, until another one, that have no game.
pub(in crate::records) async fn list_orphans(pool: &PgPool, after: Uuid, until: Uuid) -> Result<Vec<Uuid>, DbError> {
    let found = sqlx::query_scalar!(
        r#"
        select distinct game_id as "game_id!" from (
            select game_id from event where game_id > $1 and game_id <= $2
            union all
            select game_id from archived_log where game_id > $1 and game_id <= $2
        ) logged
        where not exists (select from game where game.id = game_id)
        "#,
        after,
        until,
    );
    let mut found = found.fetch_all(pool).instrument(statement("select event of no game")).await?;
    found.sort_unstable();
    Ok(found)
}
