//! The columns of archives, compared with the logs that they are of. Readers of lists and feeds rely on them.

use std::collections::HashMap;

use mancala_domain::{Event, Fact, Flaw};
use sqlx::PgPool;
use time::OffsetDateTime;
use tracing::Instrument;
use uuid::Uuid;

use crate::{
    connection::{DbError, statement},
    games::event_rows::NewEvent,
};

/// What is stored beside an archive.
pub(super) struct ArchiveColumns {
    events: i32,
    last_at: OffsetDateTime,
    ply_at: Option<OffsetDateTime>,
    ply_seat: Option<i16>,
    ply_move: Option<String>,
    previous_at: Option<OffsetDateTime>,
    previous_position: Option<String>,
    /// The first event behind the archive.
    first_behind: Option<i32>,
}

impl ArchiveColumns {
    /// Those of the games that have archives.
    pub(super) async fn read(pool: &PgPool, ids: &[Uuid]) -> Result<HashMap<Uuid, Self>, DbError> {
        let rows = sqlx::query!(
            r#"
            select game_id, events, last_at, ply_at, ply_seat, ply_move, previous_at, previous_position,
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
            let (ply_at, ply_seat, ply_move) = (row.ply_at, row.ply_seat, row.ply_move);
            let (previous_at, previous_position) = (row.previous_at, row.previous_position);
            let of_plies =
                Self { events, last_at, ply_at, ply_seat, ply_move, previous_at, previous_position, first_behind };
            (row.game_id, of_plies)
        });
        Ok(columns.collect())
    }

    /// Those that the game's whole log contradicts. All plies are in the archive.
    pub(super) fn flaws(&self, log: &[Event]) -> impl Iterator<Item = Flaw> + use<> {
        let archived = self.first_behind.map_or(log.len(), |seq| usize::try_from(seq - 1).unwrap_or_default());
        let last_at = archived.checked_sub(1).and_then(|last| log.get(last)).map(|last| last.at);
        let mut plies = log.iter().rev().filter(|event| matches!(event.fact, Fact::Moved(_)));
        let of = |event: &Event| (event.at, NewEvent::with_position(event));
        let (ply, previous) = (plies.next().map(of), plies.next().map(of));
        // Archives of before migration 36 have none.
        let has_plies = self.ply_at.is_some() || ply.is_none();
        let (ply_at, ply) = ply.unzip();
        let (previous_at, previous) = previous.unzip();
        let fields = [
            ("archived_log.events", usize::try_from(self.events) == Ok(archived)),
            ("archived_log.last_at", Some(self.last_at) == last_at),
            ("archived_log.ply_at", !has_plies || self.ply_at == ply_at),
            ("archived_log.ply_seat", !has_plies || self.ply_seat == ply.as_ref().and_then(|ply| ply.seat)),
            ("archived_log.ply_move", !has_plies || self.ply_move == ply.and_then(|ply| ply.mv)),
            ("archived_log.previous_at", !has_plies || self.previous_at == previous_at),
            (
                "archived_log.previous_position",
                !has_plies || self.previous_position == previous.and_then(|previous| previous.position),
            ),
        ];
        fields.into_iter().filter(|(_, is_same)| !is_same).map(|(field, _)| Flaw::Row { field })
    }
}
