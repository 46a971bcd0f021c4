//! Rows of `event` in the binary format of `COPY`. PostgreSQL stores them in two thirds of the time of an `insert`.
//!
//! The format: <https://www.postgresql.org/docs/current/sql-copy.html>, "Binary Format". Each type is as its `recv` function reads
//! it.

use mancala_domain::{Event, Fact, Game};
use serde::Serialize;
use sqlx::{PgConnection, types::Json};
use time::{OffsetDateTime, macros::datetime};
use tracing::Instrument;

use crate::{
    connection::{DbError, statement},
    games::{
        columns::column,
        event_rows::{MOVED, NewEvent},
    },
};

const COPY: &str =
    "copy event (game_id, at, seq, ply, seat, kind, move, position, detail) from stdin with (format binary)";

/// The signature, no flags, and no extension.
const HEAD: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

/// How many columns a row has.
const COLUMNS: i16 = 9;

/// In the place of the number of columns: there are no more rows.
const END: i16 = -1;

/// In the place of a length: the value is null.
const NULL: i32 = -1;

/// The version of the binary form of `jsonb`: its text follows.
const JSONB_VERSION: u8 = 1;

/// PostgreSQL counts microseconds from here.
const EPOCH: OffsetDateTime = datetime!(2000-01-01 00:00 UTC);

/// Rows that are to be stored.
pub(super) struct EventRows(Vec<u8>);

impl EventRows {
    pub(super) fn new() -> Self {
        Self(HEAD.to_vec())
    }

    /// Adds an event of a game.
    pub(super) fn add(&mut self, game: &Game, event: &Event) {
        let row = NewEvent::of(event);
        let (ply, position) = match &event.fact {
            Fact::Moved(moved) => (Some(column(moved.ply)), Some(moved.position.to_string())),
            _ => (None, None),
        };
        debug_assert_eq!(row.kind == MOVED, ply.is_some());
        self.0.extend(COLUMNS.to_be_bytes());
        self.value(game.id().0.as_bytes());
        self.value(&microseconds(event.at).to_be_bytes());
        self.value(&row.seq.to_be_bytes());
        self.option(ply.map(i32::to_be_bytes));
        self.option(row.seat.map(i16::to_be_bytes));
        self.value(row.kind.as_bytes());
        self.option(row.mv);
        self.option(position);
        self.option(row.detail.map(|Json(detail)| jsonb(&detail)));
    }

    pub(super) async fn store(mut self, connection: &mut PgConnection) -> Result<(), DbError> {
        self.0.extend(END.to_be_bytes());
        async {
            let mut copy = connection.copy_in_raw(COPY).await?;
            copy.send(self.0).await?;
            copy.finish().await
        }
        .instrument(statement("copy imported events"))
        .await?;
        Ok(())
    }

    fn value(&mut self, bytes: &[u8]) {
        let length = i32::try_from(bytes.len()).expect("a value of a row is short");
        self.0.extend(length.to_be_bytes());
        self.0.extend(bytes);
    }

    fn option(&mut self, bytes: Option<impl AsRef<[u8]>>) {
        match bytes {
            Some(bytes) => self.value(bytes.as_ref()),
            None => self.0.extend(NULL.to_be_bytes()),
        }
    }
}

/// Whole microseconds, as an `insert` stores a time.
fn microseconds(at: OffsetDateTime) -> i64 {
    i64::try_from((at - EPOCH).whole_microseconds()).expect("the time of an event is near")
}

fn jsonb(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = vec![JSONB_VERSION];
    serde_json::to_writer(&mut bytes, value).expect("the details of an event are JSON");
    bytes
}
