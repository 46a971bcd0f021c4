//! Whole logs, as archives are made of them, and the rows of `event` that are stored again.

use std::collections::BTreeMap;

use serde_json::Value;
use sqlx::{PgConnection, types::Json};
use time::OffsetDateTime;
use tracing::Instrument;
use uuid::Uuid;

use crate::{
    connection::{DbError, columns, statement},
    games::archived::{WholeRow, whole_rows},
};

/// The log of a game: its archive, if it has one, and the events behind it.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) archive: Option<Vec<u8>>,
    pub(super) later: Vec<WholeRow>,
}

impl Log {
    /// All events, oldest first.
    pub(super) fn rows(&self, id: Uuid) -> Result<Vec<WholeRow>, DbError> {
        let mut rows = match &self.archive {
            Some(archive) => whole_rows(id, archive)?,
            None => vec![],
        };
        rows.extend(self.later.iter().cloned());
        Ok(rows)
    }
}

/// The logs of games whose rows the caller has locked.
pub(super) async fn read(connection: &mut PgConnection, ids: &[Uuid]) -> Result<BTreeMap<Uuid, Log>, DbError> {
    let rows = sqlx::query!(
        r#"
        select game_id as "game_id!", at as "at!", seq as "seq!", ply, seat, kind as "kind!", move as mv, position,
            detail as "detail: Json<Value>", null::bytea as log
        from event where game_id = any($1)
        union all
        select game_id, last_at, 0, null, null, '', null, null, null, log from archived_log where game_id = any($1)
        order by "game_id!", "seq!"
        "#,
        ids,
    )
    .fetch_all(connection)
    .instrument(statement("select event archived_log"))
    .await?;
    let mut logs = BTreeMap::<Uuid, Log>::new();
    for row in rows {
        let log = logs.entry(row.game_id).or_default();
        if row.log.is_some() {
            log.archive = row.log;
            continue;
        }
        log.later.push(WholeRow {
            at: row.at,
            seq: row.seq,
            ply: row.ply,
            seat: row.seat,
            kind: row.kind,
            mv: row.mv,
            position: row.position,
            detail: row.detail.map(|Json(detail)| detail),
        });
    }
    Ok(logs)
}

columns! {
    /// A row of `event`.
    struct EventValues => EventColumns {
        game_id: Uuid,
        at: OffsetDateTime,
        seq: i32,
        ply: Option<i32>,
        seat: Option<i16>,
        kind: String,
        mv: Option<String>,
        position: Option<String>,
        detail: Option<Json<Value>>,
    }
}

/// Stores rows of `event` that were archived.
pub(super) async fn store(
    connection: &mut PgConnection,
    logs: impl IntoIterator<Item = (Uuid, Vec<WholeRow>)>,
) -> Result<(), DbError> {
    let values = |game_id: Uuid, row: WholeRow| {
        let WholeRow { at, seq, ply, seat, kind, mv, position, detail } = row;
        EventValues { game_id, at, seq, ply, seat, kind, mv, position, detail: detail.map(Json) }
    };
    let rows = logs.into_iter().flat_map(|(game, rows)| rows.into_iter().map(move |row| values(game, row)));
    let given = EventColumns::of(rows);
    sqlx::query!(
        r#"
        insert into event (game_id, at, seq, ply, seat, kind, move, position, detail)
        select unnest($1::uuid[]), unnest($2::timestamptz[]), unnest($3::integer[]), unnest($4::integer[]),
            unnest($5::smallint[]), unnest($6::text[]), unnest($7::text[]), unnest($8::text[]), unnest($9::jsonb[])
        "#,
        &given.game_id,
        &given.at,
        &given.seq,
        &given.ply as &[Option<i32>],
        &given.seat as &[Option<i16>],
        &given.kind,
        &given.mv as &[Option<String>],
        &given.position as &[Option<String>],
        &given.detail as &[Option<Json<Value>>],
    )
    .execute(connection)
    .instrument(statement("insert event"))
    .await?;
    Ok(())
}
