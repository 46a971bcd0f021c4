//! Changes of games: load, decide, append. The domain decides; the writers append, and notify the subscribers.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use actix_web::{
    HttpResponse,
    http::header::{self, ContentType},
};
use mancala_db::{
    DbError,
    games::{self, Appended},
};
use mancala_domain::{Command, Decision, Event, Game, GameId, Ply, Refusal};
use mancala_http::{
    answer::{
        code::Code,
        headers::{NOT_KEPT, VARIES},
        problem::Problem,
    },
    request::{conditional::IfMatch, extract::GamePath},
    state::{AppState, recent::Remembered, tokens::Caller},
};
use mancala_process::{clock::now, metrics::CacheLookup};
use mancala_rules::Effect;
use mancala_wire::view::{game::GameView, shown_game::ShownGame};

use super::{
    asked::{Asked, Request, load},
    find::find_visible,
    settle::count,
};

/// How many times a change is decided after version conflicts and lost connections. The last one is answered with 503, and the client
/// retries.
pub const ATTEMPTS_MAX: u32 = 8;

/// The step by which the wait grows with each attempt from the third on: about half a second in total. By then a killed PostgreSQL has
/// restarted.
const RETRY_BACKOFF: Duration = Duration::from_millis(20);

/// The result of a command.
#[expect(clippy::large_enum_variant, reason = "it is taken apart at once; a box would cost each move an allocation")]
pub enum Executed {
    /// The game before and after these events, which are stored. `effects` are those of the move among them.
    Changed { before: Arc<Remembered>, game: Game, events: Vec<Event>, effects: Vec<Effect> },
    /// The game is already in the wanted state. `recorded` are, for moves, the plies that the log has.
    Unchanged { found: Arc<Remembered>, recorded: Vec<Ply> },
    /// The domain refused the command.
    Refused { found: Arc<Remembered>, refusal: Refusal },
}

/// Loads the game, lets the domain decide, and appends. On a version conflict or a lost connection it reloads the game and
/// decides again, at most [`ATTEMPTS_MAX`] times. After a lost connection the log shows whether the append was stored.
///
/// The first attempt decides on the cached game, if there is one. It may be stale. An append is still safe, because the
/// version guards it (optimistic locking). Any other decision is made again on the stored game.
pub async fn execute(state: &AppState, id: GameId, request: &Request<'_>) -> Result<Executed, Problem> {
    execute_with(state, id, request, async |_, next, events| games::append(&state.writers, next, events).await).await
}

/// [`execute`] with another append function. It gets the game before the events, the game after them, and the events.
pub async fn execute_with(
    state: &AppState,
    id: GameId,
    request: &Request<'_>,
    append: impl AsyncFn(&Remembered, &Game, &[Event]) -> Result<Appended, DbError>,
) -> Result<Executed, Problem> {
    let mut failure = None;
    let is_usable = |cached: &Arc<Remembered>| cached.is_recent() && cached.has_history;
    // A cached game does not show whether its players have been erased since.
    let mut cached = state.recent.get(id).filter(|_| !request.asked.begins_rematch()).filter(is_usable);
    let mut attempt = 0;
    while attempt < ATTEMPTS_MAX {
        pause_before(state, attempt).await;
        let is_stored = cached.is_none();
        let loaded = match load(state, id, cached.take(), request).await {
            Err(error @ (DbError::ConnectionLost(_) | DbError::Busy(_))) => {
                failure = Some(error);
                attempt += 1;
                continue;
            }
            loaded => loaded?,
        };
        state.metrics.game_looked_up(if is_stored { CacheLookup::Miss } else { CacheLookup::Hit });
        let loaded = loaded.ok_or_else(|| Problem::from(&Refusal::Unknown))?;
        let present = &loaded.found.seated.game;
        if is_stored {
            // The version may be new here: from another process, or from an append whose answer was lost.
            state.hub.notify(id, present.version());
        }
        let now = now();
        let due = present.due(now);
        let is_due = !due.is_empty();
        let Request { player, if_version, .. } = *request;
        let command = Command { player, if_version, action: loaded.action() };
        let Decision { events, effects } = match present.decide(&command, now) {
            _ if is_due => Decision { events: due, effects: vec![] },
            Ok(decision) if !decision.events.is_empty() => decision,
            _ if !is_stored => continue,
            Ok(_) => {
                let (found, recorded) = loaded.into_recorded();
                return Ok(Executed::Unchanged { found, recorded });
            }
            Err(refusal) => return Ok(Executed::Refused { found: loaded.found, refusal }),
        };
        let mut game = present.clone();
        events.iter().try_for_each(|event| game.apply(event)).map_err(Problem::internal)?;
        let begun = Instant::now();
        let outcome = if is_due {
            games::append(&state.writers, &game, &events).await
        } else {
            append(&loaded.found, &game, &events).await
        };
        count(state, &outcome, begun);
        match outcome {
            Ok(Appended::Stored) if !is_due => {
                return Ok(Executed::Changed { before: loaded.found, game, events, effects });
            }
            // A deadline or a concurrent request has changed the game: the next attempt decides on its new state.
            Ok(Appended::Stored | Appended::Conflict) => {}
            Ok(Appended::KeyUsed) => return Ok(Executed::Unchanged { found: loaded.found, recorded: vec![] }),
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

/// Executes the requested action, and answers with the game.
pub async fn change(
    state: &AppState,
    caller: Caller,
    path: GamePath,
    if_match: IfMatch,
    asked: Asked<'_>,
) -> Result<HttpResponse, Problem> {
    let request = Request { player: caller.player, if_version: if_match.0.as_deref(), asked };
    let executed = execute(state, path.0, &request).await?;
    Ok(answer_with(shown_after(state, caller, path.0, executed).await?))
}

/// A 200 with a game.
pub fn answer_with(game: ShownGame) -> HttpResponse {
    let ShownGame { etag, json, .. } = game;
    let mut response = HttpResponse::Ok();
    response.insert_header((header::ETAG, etag)).insert_header(NOT_KEPT).insert_header(VARIES);
    response.content_type(ContentType::json()).body(json)
}

/// The game as a command's answer shows it, or why the command was refused.
pub async fn shown_after(
    state: &AppState,
    caller: Caller,
    id: GameId,
    executed: Executed,
) -> Result<ShownGame, Problem> {
    match executed {
        Executed::Changed { .. } | Executed::Unchanged { .. } => {
            // Read again, because a player that joins adds a name.
            Ok(find_visible(state, id, Some(caller.player)).await?.shown(Some(caller.player)))
        }
        Executed::Refused { found, refusal } => Err(match refusal {
            Refusal::SeatTaken
            | Refusal::OwnGame
            | Refusal::NotStarted
            | Refusal::Over
            | Refusal::NoSuchOffer
            | Refusal::OfferPending
            | Refusal::NothingToOffer(_)
                // A player with a used link learns nothing more about a private game.
                if found.seated.game.is_visible_to(Some(caller.player)) =>
            {
                Problem::from(&refusal).with_game(GameView::of(&found.seated, Some(caller.player)))
            }
            _ => Problem::from(&refusal),
        }),
    }
}

/// The backoff before an attempt: it lets the database come back, or a concurrent append finish.
pub async fn pause_before(state: &AppState, attempt: u32) {
    if attempt > 0 {
        state.metrics.retried();
    }
    if attempt > 1 {
        tokio::time::sleep(RETRY_BACKOFF * attempt).await;
    }
}
