//! The logs of games as they are stored: rows of `event`, a row of `archived_log`, or both.
//!
//! An archive has the first events of a log; later ones stand in `event`. Both are read by one statement, so that a reader sees
//! each event once, whatever is archived meanwhile. Writing archives is in [`records::archive`](crate::records::archive).
//!
//! Queries are checked at compile time, so their text must be literals: macros join the shared parts to each of them.

use std::collections::BTreeMap;

use serde_json::Value;
use sqlx::types::Json;
use time::OffsetDateTime;
use uuid::Uuid;

use super::{
    archived::{self, WholeRow},
    event_rows::{EventRow, MOVED, PlyRow},
};
use crate::connection::DbError;

/// A statement that reads [`LogRow`]s: those of `$events`, with the columns of `event`, and the archives of the games that `$games` names.
/// The rows of a game come together, the archive before the others.
macro_rules! query_logs {
    ($events:literal, $games:literal, $($argument:expr),+ $(,)?) => {
        sqlx::query_as!(
            $crate::games::logs::LogRow,
            r#"
            (select game_id as "game_id!", at as "at!", seq as "seq!", ply, seat, kind as "kind!", move as mv, position,
                detail as "detail: _", null::bytea as log
             from "#
                + $events
                + r#")
            union all
            select game_id, last_at, 0, null, null, '', null, null, null, log from archived_log where "#
                + $games
                + r#"
            order by "game_id!", "seq!"
            "#,
            $($argument),+
        )
    };
}

/// A statement that reads something of a game's archive beside other rows: `$before`, the join of `$columns` as `archived`, `$after`.
/// `$condition` names the game.
macro_rules! query_with_archive {
    ($query:ident($($row:ty)?), $before:literal, $columns:literal, $condition:literal, $after:literal, $($argument:expr),+ $(,)?) => {
        sqlx::$query!(
            $($row,)?
            $before
                + " left join lateral (select "
                + $columns
                + " from archived_log archive where "
                + $condition
                + ") archived on true "
                + $after,
            $($argument),+
        )
    };
}

pub(crate) use {query_logs, query_with_archive};

/// A row of a statement that reads logs: an event, or an archive with the events before the others.
pub(crate) struct LogRow {
    pub(crate) game_id: Uuid,
    pub(crate) at: OffsetDateTime,
    pub(crate) seq: i32,
    pub(crate) ply: Option<i32>,
    pub(crate) seat: Option<i16>,
    pub(crate) kind: String,
    pub(crate) mv: Option<String>,
    pub(crate) position: Option<String>,
    pub(crate) detail: Option<Json<Value>>,
    /// Set for an archived log; the other columns are then unused.
    pub(crate) log: Option<Vec<u8>>,
}

/// The log of a game, or a part of it: its archive, if it has one, and the events behind it. They are decoded when they are asked for, so that
/// a log that cannot be read fails alone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    pub(crate) archive: Option<Vec<u8>>,
    pub(crate) later: Vec<WholeRow>,
}

impl Log {
    pub(crate) fn by_game(rows: Vec<LogRow>) -> BTreeMap<Uuid, Self> {
        let mut logs = BTreeMap::<Uuid, Self>::new();
        for LogRow { game_id, at, seq, ply, seat, kind, mv, position, detail, log: archive } in rows {
            let log = logs.entry(game_id).or_default();
            if archive.is_some() {
                log.archive = archive;
            } else {
                let detail = detail.map(|Json(detail)| detail);
                log.later.push(WholeRow { at, seq, ply, seat, kind, mv, position, detail });
            }
        }
        logs
    }

    /// The log that rows of one game are of.
    pub(crate) fn of_one(rows: Vec<LogRow>) -> Self {
        Self::by_game(rows).into_values().next().unwrap_or_default()
    }

    /// The events as they are stored, oldest first.
    pub(crate) fn whole_rows(self, id: Uuid) -> Result<Vec<WholeRow>, DbError> {
        let mut rows = self.archive.map_or(Ok(vec![]), |archive| archived::whole_rows(id, &archive))?;
        rows.extend(self.later);
        Ok(rows)
    }

    /// The events, oldest first.
    pub(crate) fn event_rows(self, id: Uuid) -> Result<Vec<EventRow>, DbError> {
        self.whole_rows(id)?.into_iter().map(|row| row.into_event_row(id)).collect()
    }

    /// The plies, oldest first, each with its event's `seq`.
    pub(crate) fn plies(self, id: Uuid) -> Result<Vec<(i32, PlyRow)>, DbError> {
        let mut plies = self.archive.map_or(Ok(vec![]), |archive| archived::plies(id, &archive))?;
        for row in self.later.into_iter().filter(|row| row.kind == MOVED) {
            plies.push((row.seq, row.into_ply_row(id)?));
        }
        Ok(plies)
    }
}
