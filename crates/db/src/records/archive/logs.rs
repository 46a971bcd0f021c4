//! Whole logs, as archives are made of them, and the rows of `event` that are stored again.

use std::collections::BTreeMap;

use serde_json::Value;
use sqlx::{PgConnection, types::Json};
use time::OffsetDateTime;
use tracing::Instrument;
use uuid::Uuid;

use crate::{
    connection::{DbError, columns, statement},
    games::{
        archived::WholeRow,
        logs::{Log, query_logs},
    },
};

/// The logs of games whose rows the caller has locked.
pub(super) async fn read(connection: &mut PgConnection, ids: &[Uuid]) -> Result<BTreeMap<Uuid, Log>, DbError> {
    let rows = query_logs!(events of games, "event where game_id = any($1)", "game_id = any($1)", ids)
        .fetch_all(connection)
        .instrument(statement("select event archived_log"))
        .await?;
    Ok(Log::by_game(rows))
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
