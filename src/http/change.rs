//! Changes of games: load, let the domain decide, append, tell who waits.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use actix_web::{
    HttpResponse,
    http::header::{self, ContentType},
};

use super::{
    AppState,
    auth::Caller,
    error::{Code, Problem},
    extract::{GamePath, IfMatch},
    game_view::{GameView, ShownGame},
    games::find_visible,
    headers::{NOT_KEPT, VARIES},
    now,
    recent::Remembered,
};
use crate::{
    db::{
        DbError,
        games::{self, Appended},
    },
    domain::{Action, Command, Event, Game, GameId, Ply, Refusal},
    metrics::{AppendOutcome, Remembrance},
};

/// How often a change is decided again after somebody else was faster, or the connection was lost. Whoever loses so
/// often in a row is better told to come back.
pub const ATTEMPTS_MAX: u32 = 8;

/// How much longer each attempt waits than the one before it, from the third on: all of them together about half a second,
/// in which a PostgreSQL that was killed is back.
const RETRY_PAUSE: Duration = Duration::from_millis(20);

/// What came of a command.
pub enum Carried {
    /// The game after these events, and as it was when they were decided.
    Out { before: Arc<Remembered>, game: Game, events: Vec<Event> },
    /// What was asked for was already so; of a move, the ply that the log has.
    Already { found: Arc<Remembered>, recorded: Option<Ply> },
    /// Nothing changed.
    Refused { found: Arc<Remembered>, refusal: Refusal },
}

/// Loads the game, lets the domain decide, and appends; again from the start if somebody else was faster, or if it is
/// not known what became of an append because the connection was lost: then the log is read, not guessed at.
///
/// The first time it decides on what is remembered of the game, if anything. That may be stale, which is harmless for
/// what is accepted, because the append is guarded by the version; everything else is decided again on what is stored.
pub async fn carry_out(state: &AppState, id: GameId, command: &Command<'_>) -> Result<Carried, Problem> {
    let mut failure = None;
    let is_of_use = |known: &Arc<Remembered>| known.is_recent() && known.has_history;
    let mut remembered = state.recent.get(id).filter(is_of_use);
    let mut attempt = 0;
    while attempt < ATTEMPTS_MAX {
        pause_before(state, attempt).await;
        let stored = remembered.is_none();
        let loaded = match load(state, id, remembered.take(), command).await {
            Err(error @ (DbError::ConnectionLost(_) | DbError::Busy(_))) => {
                failure = Some(error);
                attempt += 1;
                continue;
            }
            loaded => loaded?,
        };
        state.metrics.game_asked_for(if stored { Remembrance::Miss } else { Remembrance::Hit });
        let (before, recorded) = loaded.ok_or_else(|| Problem::from(&Refusal::Unknown))?;
        let present = &before.seated.game;
        if stored {
            // It may be news: of another process, or of an append whose answer was lost.
            state.hub.tell(id, present.version);
        }
        let action = match command.action {
            Action::Play { ply, word, .. } => Action::Play { ply, word, recorded: recorded.as_ref() },
            action => action,
        };
        let events = match present.decide(&Command { action, ..*command }, now()) {
            Ok(events) if !events.is_empty() => events,
            _ if !stored => continue,
            Ok(_) => return Ok(Carried::Already { found: before, recorded }),
            Err(refusal) => return Ok(Carried::Refused { found: before, refusal }),
        };
        let mut game = present.clone();
        events.iter().try_for_each(|event| game.apply(event)).map_err(Problem::internal)?;
        match append(state, &game, &events).await {
            Ok(Appended::Stored) => {
                state.hub.tell(id, game.version);
                return Ok(Carried::Out { before, game, events });
            }
            Ok(Appended::Conflict) => {}
            Err(error @ (DbError::ConnectionLost(_) | DbError::Busy(_))) => failure = Some(error),
            Err(error) => return Err(error.into()),
        }
        attempt += 1;
    }
    Err(failure.map_or_else(
        || Problem::new(Code::Unavailable, "too many changes to this game at once; try again"),
        Problem::from,
    ))
}

/// Appends, and counts what became of it.
async fn append(state: &AppState, next: &Game, events: &[Event]) -> Result<Appended, DbError> {
    let begun = Instant::now();
    let outcome = games::append(&state.writers, next, events).await;
    let counted = match &outcome {
        Ok(Appended::Stored) => AppendOutcome::Stored,
        Ok(Appended::Conflict) => AppendOutcome::Conflict,
        Err(_) => AppendOutcome::Failed,
    };
    state.metrics.append_ended(counted, begun.elapsed());
    outcome
}

/// The game, as it is remembered or else stored, and what its log holds under the ply number that a command wants to use.
async fn load(
    state: &AppState,
    id: GameId,
    remembered: Option<Arc<Remembered>>,
    command: &Command<'_>,
) -> Result<Option<(Arc<Remembered>, Option<Ply>)>, DbError> {
    let found = match remembered {
        Some(remembered) => Some(remembered),
        None => read(state, id).await?,
    };
    let Some(found) = found else { return Ok(None) };
    let game = &found.seated.game;
    let recorded = match command.action {
        Action::Play { ply, .. } if (1..=game.ply).contains(&ply) && game.seats(command.player) => {
            games::plies(&state.db, game, ply - 1, 1).await?.pop()
        }
        _ => None,
    };
    Ok(Some((found, recorded)))
}

async fn read(state: &AppState, id: GameId) -> Result<Option<Arc<Remembered>>, DbError> {
    let read_at = now();
    Ok(games::find_whole(&state.db, id).await?.map(|seated| Remembered::whole(seated, read_at)))
}

/// The answer to a change that shows nothing but the game.
pub async fn change(
    state: &AppState,
    caller: Caller,
    path: GamePath,
    if_match: IfMatch,
    action: Action<'_>,
) -> Result<HttpResponse, Problem> {
    let command = Command { player: caller.player, if_version: if_match.0.as_deref(), action };
    match carry_out(state, path.0, &command).await? {
        Carried::Out { .. } | Carried::Already { .. } => {
            // Read again: whoever joins brings a name along.
            let found = find_visible(state, path.0, Some(caller.player)).await?;
            let ShownGame { etag, json, .. } = found.shown(Some(caller.player));
            let mut response = HttpResponse::Ok();
            response.insert_header((header::ETAG, etag)).insert_header(NOT_KEPT).insert_header(VARIES);
            Ok(response.content_type(ContentType::json()).body(json))
        }
        Carried::Refused { found, refusal } => Err(match refusal {
            Refusal::SeatTaken | Refusal::NotStarted | Refusal::Over => {
                Problem::from(&refusal).with_game(GameView::of(&found.seated, Some(caller.player)))
            }
            _ => Problem::from(&refusal),
        }),
    }
}

/// Lets a database come back, or another writer finish, before the next attempt.
pub async fn pause_before(state: &AppState, attempt: u32) {
    if attempt > 0 {
        state.metrics.retried();
    }
    if attempt > 1 {
        tokio::time::sleep(RETRY_PAUSE * attempt).await;
    }
}
