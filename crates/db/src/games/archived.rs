//! The archived logs of finished games, as rows of `event`.

use std::collections::HashMap;

use mancala_domain::{ArchivedLog, Event, Fact, decode, decode_unverified};
use serde_json::Value;
use uuid::Uuid;

use super::event_rows::{EventRow, NewEvent, PlyRow};
use crate::connection::DbError;

/// A row of `event` with its detail as it is stored.
pub(crate) type WholeRow = EventRow<Value>;

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

fn inconsistent(id: Uuid, error: impl std::fmt::Display) -> DbError {
    DbError::inconsistent("archived_log", "log", id, error)
}
