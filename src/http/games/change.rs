//! Changes of games: load, let the domain decide, append. The writers tell who waits.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use actix_web::{
    HttpResponse,
    http::header::{self, ContentType},
};
use time::OffsetDateTime;
use uuid::Uuid;

use super::{find::find_visible, settle::count};
use crate::{
    clock::now,
    db::{
        DbError,
        games::{self, Appended},
    },
    domain::{
        Action, Command, Context, Decision, Event, Game, GameId, OfferAnswer, OfferKind, PlayerKind, Ply, Refusal, Seat,
    },
    http::{
        answer::{
            headers::{NOT_KEPT, VARIES},
            problem::{Code, Problem},
        },
        request::{conditional::IfMatch, extract::GamePath},
        state::{AppState, recent::Remembered, tokens::Caller},
        view::game::{GameView, ShownGame},
    },
    metrics::CacheLookup,
    rules::Effect,
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
    /// The game after these events, and as it was when they were decided; `effects` are those of the move among them.
    Out { before: Arc<Remembered>, game: Game, events: Vec<Event>, effects: Vec<Effect> },
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
    // A remembered game does not show whether its players are still there.
    let mut remembered = state.recent.get(id).filter(|_| !begins_rematch(command.action)).filter(is_of_use);
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
        state.metrics.game_looked_up(if stored { CacheLookup::Miss } else { CacheLookup::Hit });
        let mut loaded = loaded.ok_or_else(|| Problem::from(&Refusal::Unknown))?;
        let present = &loaded.found.seated.game;
        if stored {
            // It may be news: of another process, or of an append whose answer was lost.
            state.hub.notify(id, present.version());
        }
        let now = now();
        let due = present.due(now);
        let is_due = !due.is_empty();
        let Decision { events, effects } = match present.decide(command, &loaded.context(command.action, now)) {
            _ if is_due => Decision { events: due, effects: vec![] },
            Ok(decision) if !decision.events.is_empty() => decision,
            _ if !stored => continue,
            Ok(_) => return Ok(Carried::Already { found: loaded.found, recorded: loaded.plies.pop() }),
            Err(refusal) => return Ok(Carried::Refused { found: loaded.found, refusal }),
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
            Ok(Appended::Stored) if !is_due => return Ok(Carried::Out { before: loaded.found, game, events, effects }),
            // Of a game that time or somebody else has changed, it is decided on what it is now.
            Ok(Appended::Stored | Appended::Conflict) => {}
            Ok(Appended::KeyUsed) => return Ok(Carried::Already { found: loaded.found, recorded: None }),
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

/// A game, with what else a decision on it depends on.
struct Loaded {
    /// The game, as it is remembered or else stored.
    found: Arc<Remembered>,
    /// Of a move, the ply that the log has under the move's number; of a takeback, the newest plies.
    plies: Vec<Ply>,
    /// Games that are not over, of the player that joins; of a rematch, of the player that has most of them.
    running_games: u32,
}

impl Loaded {
    fn context(&self, action: Action<'_>, now: OffsetDateTime) -> Context<'_> {
        let seated = &self.found.seated;
        let is_erased = |seat| seated.players[seat].as_ref().is_some_and(|player| player.kind == PlayerKind::Deleted);
        Context {
            recorded: self.plies.last().filter(|_| matches!(action, Action::Play { .. })),
            newest_plies: &self.plies,
            running_games: self.running_games,
            is_opponent_erased: begins_rematch(action) && Seat::ALL.into_iter().any(is_erased),
            ..Context::new(now, || GameId(Uuid::now_v7()))
        }
    }
}

/// Loads the game, and what else a decision on the command depends on.
async fn load(
    state: &AppState,
    id: GameId,
    remembered: Option<Arc<Remembered>>,
    command: &Command<'_>,
) -> Result<Option<Loaded>, DbError> {
    let found = match remembered {
        Some(remembered) => Some(remembered),
        None => read(state, id).await?,
    };
    let Some(found) = found else { return Ok(None) };
    let game = &found.seated.game;
    let is_seated = game.seats(command.player);
    let (mut plies, mut running_games) = (vec![], 0);
    match command.action {
        Action::Play { ply, .. } if is_seated && (1..=game.ply()).contains(&ply) => {
            plies = games::plies(&state.db, game, ply - 1, 1).await?;
        }
        Action::Offer { kind: OfferKind::Takeback }
        | Action::Answer { kind: OfferKind::Takeback, answer: OfferAnswer::Accept }
            if is_seated =>
        {
            let after = game.ply().saturating_sub(PLIES_LOOKED_THROUGH);
            plies = games::plies(&state.db, game, after, PLIES_LOOKED_THROUGH).await?;
        }
        Action::Join { .. } if !is_seated => running_games = games::count_running(&state.db, command.player).await?,
        action if begins_rematch(action) && is_seated && game.rematch().is_none() => {
            for player in Seat::ALL.into_iter().filter_map(|seat| game.players()[seat]) {
                running_games = running_games.max(games::count_running(&state.db, player).await?);
            }
        }
        _ => {}
    }
    Ok(Some(Loaded { found, plies, running_games }))
}

/// Whether a rematch may begin with an action.
const fn begins_rematch(action: Action<'_>) -> bool {
    matches!(
        action,
        Action::Offer { kind: OfferKind::Rematch }
            | Action::Answer { kind: OfferKind::Rematch, answer: OfferAnswer::Accept }
    )
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
