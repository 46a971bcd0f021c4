//! The logs of games as they are stored: rows of `event`, a row of `archived_log`, or both.
//!
//! An archive has the first events of a log; later ones are rows of `event`. Both are read by one statement, so that a reader sees each
//! event once, even if the log is archived meanwhile. Writing archives is in [`records::archive`](crate::records::archive).
//!
//! Queries are checked at compile time, so their text must be literals: macros join the shared parts to each of them.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::{
    archived::{self, WholeRow},
    event_rows::{EventRow, MOVED, PlyRow},
};
use crate::connection::DbError;

/// A statement that reads [`LogRow`]s. Its rows are those of `$events`, with the columns of `event`, and the archives of the games that
/// `$games` names. An archive comes before the other rows of its game. The statement leaves out values that its caller knows: the id of a
/// single game, and the kind and the detail of plies. Each column less saves a tenth of its time.
macro_rules! query_logs {
    (events of games, $($rest:tt)+) => {
        $crate::games::logs::query_logs!(
            @ row [r#"game_id as "game_id!", "#, "game_id, ", r#""game_id!", "#, row.game_id]
            [r#"kind as "kind!", detail, "#, "'', null, ", row.kind, row.detail] $($rest)+
        )
    };
    (events of a game, $($rest:tt)+) => {
        $crate::games::logs::query_logs!(
            @ row ["", "", "", uuid::Uuid::nil()] [r#"kind as "kind!", detail, "#, "'', null, ", row.kind, row.detail] $($rest)+
        )
    };
    (plies of games, $($rest:tt)+) => {
        $crate::games::logs::query_logs!(
            @ row [r#"game_id as "game_id!", "#, "game_id, ", r#""game_id!", "#, row.game_id]
            ["", "", $crate::games::event_rows::MOVED.to_owned(), None] $($rest)+
        )
    };
    (plies of a game, $($rest:tt)+) => {
        $crate::games::logs::query_logs!(
            @ row ["", "", "", uuid::Uuid::nil()] ["", "", $crate::games::event_rows::MOVED.to_owned(), None] $($rest)+
        )
    };
    (
        @ $row:ident [$game:literal, $archive_game:literal, $game_order:literal, $game_id:expr]
        [$event:literal, $archive_event:literal, $kind:expr, $detail:expr]
        $events:literal, $games:literal, $($argument:expr),+ $(,)?
    ) => {
        sqlx::query!(
            "(select " + $game + $event
                + r#"at as "at!", seq as "seq!", ply, seat, move as mv, position, null::bytea as log from "#
                + $events
                + ") union all select " + $archive_game + $archive_event
                + "last_at, 0, null, null, null, null, log from archived_log where "
                + $games
                + " order by " + $game_order + r#""seq!""#,
            $($argument),+
        )
        .map(|$row| $crate::games::logs::LogRow {
            game_id: $game_id,
            archive: $row.log,
            event: $crate::games::archived::WholeRow {
                at: $row.at,
                seq: $row.seq,
                ply: $row.ply,
                seat: $row.seat,
                kind: $kind,
                mv: $row.mv,
                position: $row.position,
                detail: $detail,
            },
        })
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
    /// Nil for statements on one game.
    pub(crate) game_id: Uuid,
    pub(crate) archive: Option<Vec<u8>>,
    /// Unused beside an archive.
    pub(crate) event: WholeRow,
}

/// The log of a game, or a part of it: its archive, if it has one, and the events after it. Both are decoded lazily, so that a damaged log
/// fails alone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    pub(crate) archive: Option<Vec<u8>>,
    pub(crate) later: Vec<WholeRow>,
}

impl Log {
    pub(crate) fn by_game(rows: Vec<LogRow>) -> BTreeMap<Uuid, Self> {
        let mut logs = BTreeMap::<Uuid, Self>::new();
        for LogRow { game_id, archive, event } in rows {
            let log = logs.entry(game_id).or_default();
            match archive {
                Some(archive) => log.archive = Some(archive),
                None => log.later.push(event),
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
