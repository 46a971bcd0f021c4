//! Changes of games: load, let the domain decide, append. The writers tell who waits.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use actix_web::{
    HttpResponse,
    http::header::{self, ContentType},
};

use super::{find::find_visible, settle::count};
use crate::{
    clock::now,
    db::{
        DbError,
        games::{self, Appended},
    },
    domain::{Action, Answer, Circumstances, Command, Event, Game, GameId, OfferKind, Ply, Refusal},
    http::{
        answer::{
            headers::{NOT_KEPT, VARIES},
            problem::{Code, Problem},
        },
        request::{conditional::IfMatch, extract::GamePath},
        state::{AppState, recent::Remembered, tokens::Caller},
        view::game::{GameView, ShownGame},
    },
    metrics::Remembrance,
};

/// How often a change is decided again after somebody else was faster, or the connection was lost. Whoever loses so
/// often in a row is better told to come back.
pub const ATTEMPTS_MAX: u32 = 8;

/// How much longer each attempt waits than the one before it, from the third on: all of them together about half a second,
/// in which a PostgreSQL that was killed is back.
const RETRY_PAUSE: Duration = Duration::from_millis(20);

/// What came of a command.
#[expect(clippy::large_enum_variant, reason = "it is taken apart at once; a box would cost each move an allocation")]
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
    carry_out_by(state, id, command, async |_, next, events| games::append(&state.writers, next, events).await).await
}

/// The same with another way to append, which is given the game before the events, the game after them, and the events.
pub async fn carry_out_by(
    state: &AppState,
    id: GameId,
    command: &Command<'_>,
    append: impl AsyncFn(&Remembered, &Game, &[Event]) -> Result<Appended, DbError>,
) -> Result<Carried, Problem> {
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
        let (before, mut plies) = loaded.ok_or_else(|| Problem::from(&Refusal::Unknown))?;
        let present = &before.seated.game;
        if stored {
            // It may be news: of another process, or of an append whose answer was lost.
            state.hub.tell(id, present.version);
        }
        let now = now();
        let due = present.due(now);
        let is_due = !due.is_empty();
        let events = match present.decide(&Command { action: with_plies(command.action, &plies), ..*command }, now) {
            _ if is_due => due,
            Ok(events) if !events.is_empty() => events,
            _ if !stored => continue,
            Ok(_) => return Ok(Carried::Already { found: before, recorded: plies.pop() }),
            Err(refusal) => return Ok(Carried::Refused { found: before, refusal }),
        };
        let mut game = present.clone();
        events.iter().try_for_each(|event| game.apply(event)).map_err(Problem::internal)?;
        let begun = Instant::now();
        let outcome = if is_due {
            games::append(&state.writers, &game, &events).await
        } else {
            append(&before, &game, &events).await
        };
        count(state, &outcome, begun);
        match outcome {
            Ok(Appended::Stored) if !is_due => return Ok(Carried::Out { before, game, events }),
            // Of a game that time or somebody else has changed, it is decided on what it is now.
            Ok(Appended::Stored | Appended::Conflict) => {}
            Ok(Appended::KeyUsed) => return Ok(Carried::Already { found: before, recorded: None }),
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

/// How many of the newest plies a turn that is to be taken back is looked for in: more than any game has that people play.
const PLIES_LOOKED_THROUGH: u32 = 1000;

/// The game, as it is remembered or else stored, and the plies that are asked for: of a move, what its log holds under the
/// number that the move is to bear; of a takeback, the newest.
async fn load(
    state: &AppState,
    id: GameId,
    remembered: Option<Arc<Remembered>>,
    command: &Command<'_>,
) -> Result<Option<(Arc<Remembered>, Vec<Ply>)>, DbError> {
    let found = match remembered {
        Some(remembered) => Some(remembered),
        None => read(state, id).await?,
    };
    let Some(found) = found else { return Ok(None) };
    let game = &found.seated.game;
    let plies = match command.action {
        Action::Play { ply, .. } if (1..=game.ply).contains(&ply) && game.seats(command.player) => {
            games::plies(&state.db, game, ply - 1, 1).await?
        }
        Action::Offer { kind: OfferKind::Takeback, .. }
        | Action::Answer { kind: OfferKind::Takeback, answer: Answer::Accept, .. }
            if game.seats(command.player) =>
        {
            let after = game.ply.saturating_sub(PLIES_LOOKED_THROUGH);
            games::plies(&state.db, game, after, PLIES_LOOKED_THROUGH).await?
        }
        _ => vec![],
    };
    Ok(Some((found, plies)))
}

/// What is to be done, with the plies that were loaded for it.
fn with_plies<'a>(action: Action<'a>, plies: &'a [Ply]) -> Action<'a> {
    let with = |circumstances: Circumstances<'a>| Circumstances { plies, ..circumstances };
    match action {
        Action::Play { ply, word, .. } => Action::Play { ply, word, recorded: plies.last() },
        Action::Offer { kind, circumstances } => Action::Offer { kind, circumstances: with(circumstances) },
        Action::Answer { kind, answer, circumstances } => {
            Action::Answer { kind, answer, circumstances: with(circumstances) }
        }
        action => action,
    }
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
    let carried = carry_out(state, path.0, &command).await?;
    Ok(answer_with(shown_after(state, caller, path.0, carried).await?))
}

/// A 200 with a game.
pub fn answer_with(game: ShownGame) -> HttpResponse {
    let ShownGame { etag, json, .. } = game;
    let mut response = HttpResponse::Ok();
    response.insert_header((header::ETAG, etag)).insert_header(NOT_KEPT).insert_header(VARIES);
    response.content_type(ContentType::json()).body(json)
}

/// The game as it is shown after a command, or why nothing changed.
pub async fn shown_after(state: &AppState, caller: Caller, id: GameId, carried: Carried) -> Result<ShownGame, Problem> {
    match carried {
        Carried::Out { .. } | Carried::Already { .. } => {
            // Read again: whoever joins brings a name along.
            Ok(find_visible(state, id, Some(caller.player)).await?.shown(Some(caller.player)))
        }
        Carried::Refused { found, refusal } => Err(match refusal {
            Refusal::SeatTaken
            | Refusal::NotStarted
            | Refusal::Over
            | Refusal::NoSuchOffer
            | Refusal::OfferPending
            | Refusal::NothingToOffer(_) => {
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
