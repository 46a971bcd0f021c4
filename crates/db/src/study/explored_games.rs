//! Games as the explorer reads them: when it counts them, and when it takes deleted ones out of its counts.

use std::fmt::Display;

use mancala_domain::{Event, Exploration, GameId, GameResult, Visibility};
use mancala_rules::{AnyOptions, AnyPosition};
use sqlx::{PgConnection, types::Json};
use time::OffsetDateTime;
use tracing::Instrument;
use uuid::Uuid;

use super::{chunk::Entry, position_column::position_column};
use crate::{
    connection::{DbError, statement},
    games::{
        columns::{number, word},
        event_rows::MOVED,
        logs::{Log, query_logs},
        term_rows::{ResultText, StartText},
    },
    kinds::OpponentKind,
};

/// A game's columns, and the plies of its log. They are parsed when it is counted.
pub(super) struct StoredGame {
    id: Uuid,
    variant: String,
    preset: String,
    options: String,
    visibility: String,
    opponent: String,
    is_practice: bool,
    ply: i32,
    start: Option<StartText>,
    /// Set for a finished game.
    result: Option<(ResultText, OffsetDateTime)>,
    log: Log,
}

/// Whether a game counts, by its visibility, whether it was played alone, its plies, and its result.
type Counts = fn(Visibility, bool, u32, Option<&GameResult>) -> bool;

/// The games with these ids that exist, with their plies, in the order of their ids.
pub(super) async fn read(connection: &mut PgConnection, ids: &[Uuid]) -> Result<Vec<StoredGame>, DbError> {
    let rows =
        query_logs!(plies of games, "event where game_id = any($1) and kind = 'moved'", "game_id = any($1)", ids)
            .fetch_all(&mut *connection)
            .instrument(statement("select moves of games"))
            .await?;
    let mut logs = Log::by_game(rows);
    let rows = sqlx::query!(
        r#"
        select id, ply, variant, preset, options, opponent, practice, start as "start: Json<StartText>", finished_at, result_winner,
            result_reason, result_score_south, result_score_north, visibility
        from game where id = any($1) order by id
        "#,
        ids,
    )
    .fetch_all(connection)
    .instrument(statement("select games to explore"))
    .await?;
    let games = rows.into_iter().map(|row| {
        let (south, north) = (row.result_score_south, row.result_score_north);
        let result = ResultText::of_columns(row.result_winner, row.result_reason, south, north);
        StoredGame {
            id: row.id,
            variant: row.variant,
            preset: row.preset,
            options: row.options,
            visibility: row.visibility,
            opponent: row.opponent,
            is_practice: row.practice.unwrap_or_default(),
            ply: row.ply,
            start: row.start.map(|Json(start)| start),
            result: result.zip(row.finished_at),
            log: logs.remove(&row.id).unwrap_or_default(),
        }
    });
    Ok(games.collect())
}

impl StoredGame {
    pub(super) const fn id(&self) -> Uuid {
        self.id
    }

    /// Whether the game was played elsewhere.
    pub(super) fn is_imported(&self) -> bool {
        self.opponent == OpponentKind::Imported.as_str()
    }

    /// The counts of the game for the explorer; `None` if `counts` says that it does not count. The plies are not replayed, because the
    /// verification checks the log.
    fn exploration(self, counts: Counts) -> Result<Option<Exploration>, DbError> {
        let Self { id, variant, preset, options, visibility, opponent, is_practice, ply, start, result, log } = self;
        let inconsistent = |column, detail: &dyn Display| DbError::inconsistent("game", column, id, detail.to_string());
        let visibility = word("game", "visibility", id, &Visibility::ALL, Visibility::as_str, &visibility)?;
        let is_alone = opponent == OpponentKind::Oneself.as_str() || is_practice;
        let result: Option<(GameResult, OffsetDateTime)> =
            result.map(|(result, ended_at)| Ok::<_, DbError>((result.parse("game", id)?, ended_at))).transpose()?;
        let plies = number("game", "ply", id, ply)?;
        let counted = counts(visibility, is_alone, plies, result.as_ref().map(|(result, _)| result));
        let Some((result, ended_at)) = result.filter(|_| counted) else { return Ok(None) };
        let variant = variant.parse().map_err(|error| inconsistent("variant", &error))?;
        let options =
            AnyOptions::parse_recorded(variant, &preset, &options).map_err(|error| inconsistent("options", &error))?;
        let opening = match start {
            Some(start) => start.parse("game", id, &options)?.position,
            None => AnyPosition::opening(&options),
        };
        let plies = log.event_rows(id)?.into_iter().filter(|row| row.kind == MOVED);
        let log: Vec<Event> = plies.map(|row| row.into_event(GameId(id), Some(&options))).collect::<Result<_, _>>()?;
        Ok(Some(Exploration::of(&opening, &log, &result, ended_at)))
    }
}

/// A game that counts.
#[derive(Debug)]
pub(super) struct CountedGame {
    pub(super) id: Uuid,
    pub(super) is_imported: bool,
    pub(super) exploration: Exploration,
}

impl CountedGame {
    /// `None` if the game does not count.
    pub(super) fn of(game: StoredGame) -> Result<Option<Self>, DbError> {
        Self::by(game, Exploration::counts)
    }

    /// Counts a game that an earlier release may have counted.
    pub(super) fn of_earlier(game: StoredGame) -> Result<Option<Self>, DbError> {
        Self::by(game, Exploration::may_be_counted)
    }

    fn by(game: StoredGame, counts: Counts) -> Result<Option<Self>, DbError> {
        let (id, is_imported) = (game.id(), game.is_imported());
        Ok(game.exploration(counts)?.map(|exploration| Self { id, is_imported, exploration }))
    }

    /// Each position that the game came to, once, with the game.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry> {
        let first_visits = self.exploration.visits.iter().filter(|visit| visit.is_first);
        first_visits.map(|visit| (position_column(visit.position), self.id))
    }
}
