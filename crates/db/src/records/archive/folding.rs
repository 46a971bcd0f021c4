//! Folding the rows of a log into an archive, and the proof that they come back.

use mancala_domain::{ArchivedLog, GameId, encode};
use uuid::Uuid;

use crate::{
    connection::DbError,
    games::{
        archived::{WholeRow, whole_rows},
        event_rows::{EventRow, NewEvent},
        plies,
    },
};

/// Makes the archive of a whole log. The function checks that every row can be restored from it, column by column. If one cannot, the error
/// says why.
pub(super) fn fold(id: Uuid, rows: &[WholeRow]) -> Result<Vec<u8>, String> {
    let readable = |row: WholeRow| row.into_event_row(id);
    let event_rows: Vec<EventRow> =
        rows.iter().cloned().map(readable).collect::<Result<_, DbError>>().map_err(|error| error.to_string())?;
    let events = plies::events(GameId(id), event_rows).map_err(|error| error.to_string())?;
    let mut details = vec![];
    for (event, row) in events.iter().zip(rows) {
        // A log of an older release has details in another form. They are kept as they are.
        let usual = NewEvent::of(event).detail.and_then(|detail| serde_json::to_value(detail).ok());
        if let Some(detail) = row.detail.as_ref().filter(|detail| usual.as_ref() != Some(*detail)) {
            details.push((event.seq, detail.to_string()));
        }
    }
    let archive = encode(&ArchivedLog { events, details }).map_err(|error| error.to_string())?;
    let back = whole_rows(id, &archive).map_err(|error| error.to_string())?;
    match rows.iter().zip(&back).find(|(row, back)| row != back) {
        Some((row, _)) => Err(format!("event {} does not come back from its archive as it is stored", row.seq)),
        None if rows.len() != back.len() => Err("not all events come back from its archive".to_owned()),
        None => Ok(archive),
    }
}
