//! Rows of `event` in the binary format of `COPY`.

use mancala_domain::{Event, Fact, Game};
use serde::Serialize;
use sqlx::{PgConnection, types::Json};
use tracing::Instrument;

use crate::{
    connection::{
        DbError,
        copy::{CopyRows, microseconds},
        statement,
    },
    games::{
        columns::column,
        event_rows::{MOVED, NewEvent},
    },
};

const COPY: &str =
    "copy event (game_id, at, seq, ply, seat, kind, move, position, detail) from stdin with (format binary)";

/// How many columns a row has.
const COLUMNS: i16 = 9;

/// The version of the binary form of `jsonb`: its text follows.
const JSONB_VERSION: u8 = 1;

/// Rows that are to be stored.
pub(super) struct EventRows(CopyRows);

impl EventRows {
    pub(super) fn new() -> Self {
        Self(CopyRows::new(COLUMNS))
    }

    /// Adds an event of a game.
    pub(super) fn add(&mut self, game: &Game, event: &Event) {
        let row = NewEvent::of(event);
        let (ply, position) = match &event.fact {
            Fact::Moved(moved) => (Some(column(moved.ply)), Some(moved.position.to_string())),
            _ => (None, None),
        };
        debug_assert_eq!(row.kind == MOVED, ply.is_some());
        let values = &mut self.0;
        values.begin_row();
        values.value(game.id().0.as_bytes());
        values.value(&microseconds(event.at).to_be_bytes());
        values.value(&row.seq.to_be_bytes());
        values.option(ply.map(i32::to_be_bytes));
        values.option(row.seat.map(i16::to_be_bytes));
        values.value(row.kind.as_bytes());
        values.option(row.mv);
        values.option(position);
        values.option(row.detail.map(|Json(detail)| jsonb(&detail)));
    }

    pub(super) async fn store(self, connection: &mut PgConnection) -> Result<(), DbError> {
        async {
            let mut copy = connection.copy_in_raw(COPY).await?;
            copy.send(self.0.end()).await?;
            copy.finish().await
        }
        .instrument(statement("copy imported events"))
        .await?;
        Ok(())
    }
}

fn jsonb(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = vec![JSONB_VERSION];
    serde_json::to_writer(&mut bytes, value).expect("the details of an event are JSON");
    bytes
}
