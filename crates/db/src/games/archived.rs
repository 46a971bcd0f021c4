//! The archived logs of finished games, as rows of `event`.
//!
//! An archive has the first events of a log; later ones stand in `event`. Both are read by one statement, so that a reader sees
//! each event once, whatever is archived meanwhile. Writing archives is in [`records::archive`](crate::records::archive).

use std::collections::HashMap;

use mancala_domain::{ArchivedLog, Event, Fact, decode, decode_unverified};
use serde_json::Value;
use sqlx::types::Json;
use time::OffsetDateTime;
use uuid::Uuid;

use super::event_rows::{Detail, EventRow, NewEvent, PlyRow};
use crate::connection::DbError;

/// A row of `event` with its detail as it is stored.
pub(crate) type WholeRow = EventRow<Value>;

/// A row of a statement that reads `event` and `archived_log`: an event, or an archive with the events before the others.
pub(crate) struct LogRow {
    pub(crate) at: OffsetDateTime,
    pub(crate) seq: i32,
    pub(crate) ply: Option<i32>,
    pub(crate) seat: Option<i16>,
    pub(crate) kind: String,
    pub(crate) mv: Option<String>,
    pub(crate) position: Option<String>,
    pub(crate) detail: Option<Json<Detail>>,
    /// Set for an archived log; the other columns are then unused.
    pub(crate) log: Option<Vec<u8>>,
}

/// The rows of an archive, oldest first.
pub(crate) fn whole_rows(id: Uuid, log: &[u8]) -> Result<Vec<WholeRow>, DbError> {
    let ArchivedLog { events, details } = decode(log).map_err(|error| inconsistent(id, error))?;
    let parsed = |(seq, text): (u32, String)| Ok((seq, serde_json::from_str(&text).map_err(|e| inconsistent(id, e))?));
    let mut details = details.into_iter().map(parsed).collect::<Result<HashMap<u32, Value>, DbError>>()?;
    let row = |event| {
        let row = NewEvent::with_position(event);
        let detail = match details.remove(&event.seq) {
            Some(detail) => Some(detail),
            None => row.detail.map(serde_json::to_value).transpose().map_err(|error| inconsistent(id, error))?,
        };
        let (seq, ply, seat, kind) = (row.seq, row.ply, row.seat, row.kind.to_owned());
        Ok(WholeRow { at: event.at, seq, ply, seat, kind, mv: row.mv, position: row.position, detail })
    };
    events.iter().map(row).collect()
}

/// The rows of an archive as a reader of events takes them.
pub(crate) fn event_rows(id: Uuid, log: &[u8]) -> Result<Vec<EventRow>, DbError> {
    whole_rows(id, log)?.into_iter().map(|row| row.into_event_row(id)).collect()
}

/// The events of a whole log, oldest first, from its rows in their order. An archive comes before the others.
pub(crate) fn joined(id: Uuid, rows: Vec<LogRow>) -> Result<Vec<EventRow>, DbError> {
    let mut all = vec![];
    for row in rows {
        match row.log {
            Some(log) => all.extend(event_rows(id, &log)?),
            None => all.push(row.into_event_row()),
        }
    }
    Ok(all)
}

/// The plies of an archive, oldest first, each with its event's `seq`.
pub(crate) fn plies(id: Uuid, log: &[u8]) -> Result<Vec<(i32, PlyRow)>, DbError> {
    let events = decode(log).map_err(|error| inconsistent(id, error))?.events;
    Ok(events.iter().filter_map(ply).collect())
}

/// The last two plies of an archive, the last one first. A list shows many games, and the checksum takes longer than the moves: so it
/// is left out, and the position must be the game's.
pub(crate) fn last_plies(id: Uuid, log: &[u8], position: &str) -> Result<[Option<PlyRow>; 2], DbError> {
    let events = decode_unverified(log).map_err(|error| inconsistent(id, error))?.events;
    let mut plies = events.iter().rev().filter_map(ply).map(|(_, ply)| ply);
    let (last, previous) = (plies.next(), plies.next());
    match &last {
        Some(last) if last.position != position => Err(inconsistent(id, "its last position is not the game's")),
        _ => Ok([last, previous]),
    }
}

/// The ply that an event is, with its `seq`.
fn ply(event: &Event) -> Option<(i32, PlyRow)> {
    if !matches!(event.fact, Fact::Moved(_)) {
        return None;
    }
    let NewEvent { seq, seat, mv, ply, position, .. } = NewEvent::with_position(event);
    Some((seq, PlyRow { at: event.at, ply: ply?, seat: seat?, mv: mv?, position: position? }))
}

impl EventRow<Value> {
    pub(crate) fn into_event_row(self, id: Uuid) -> Result<EventRow, DbError> {
        let Self { at, seq, ply, seat, kind, mv, position, detail } = self;
        let detail = detail.map(serde_json::from_value).transpose().map_err(|error| inconsistent(id, error))?;
        Ok(EventRow { at, seq, ply, seat, kind, mv, position, detail: detail.map(Json) })
    }
}

impl LogRow {
    pub(crate) fn into_event_row(self) -> EventRow {
        let Self { at, seq, ply, seat, kind, mv, position, detail, log: _ } = self;
        EventRow { at, seq, ply, seat, kind, mv, position, detail }
    }
}

fn inconsistent(id: Uuid, error: impl std::fmt::Display) -> DbError {
    DbError::inconsistent("archived_log", "log", id, error)
}
