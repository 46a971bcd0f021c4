//! Changes of games: load, decide, append. The domain decides; the writers append, and notify the subscribers.

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
        events::game_log,
        games::{self, Appended},
        players::blocks,
    },
    domain::{
        Action, Clock, Command, Context, Decision, Event, Game, GameId, Level, OfferAnswer, OfferKind, PlayerId,
        PlayerKind, Ply, Refusal, Seat,
    },
    http::{
        answer::{
            code::Code,
            headers::{NOT_KEPT, VARIES},
            problem::Problem,
        },
        request::{conditional::IfMatch, extract::GamePath},
        state::{AppState, recent::Remembered, tokens::Caller},
        view::{game::GameView, shown_game::ShownGame},
    },
    metrics::CacheLookup,
    rules::Effect,
};

/// How many times a change is decided, on version conflicts and lost connections. After so many in a row the answer is 503,
/// and the client retries.
pub const ATTEMPTS_MAX: u32 = 8;

/// How much longer each attempt waits than the one before it, from the third on: about half a second in total. A PostgreSQL
/// that was killed is back by then.
const RETRY_BACKOFF: Duration = Duration::from_millis(20);

/// What a command has led to.
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
pub async fn execute(state: &AppState, id: GameId, command: &Command<'_>) -> Result<Executed, Problem> {
    execute_with(state, id, command, async |_, next, events| games::append(&state.writers, next, events).await).await
}

/// [`execute`] with another append function. It gets the game before the events, the game after them, and the events.
pub async fn execute_with(
    state: &AppState,
    id: GameId,
    command: &Command<'_>,
    append: impl AsyncFn(&Remembered, &Game, &[Event]) -> Result<Appended, DbError>,
) -> Result<Executed, Problem> {
    let mut failure = None;
    let is_usable = |cached: &Arc<Remembered>| cached.is_recent() && cached.has_history;
    // A cached game does not show whether its players have been erased since.
    let mut cached = state.recent.get(id).filter(|_| !begins_rematch(command.action)).filter(is_usable);
    let mut attempt = 0;
    while attempt < ATTEMPTS_MAX {
        pause_before(state, attempt).await;
        let is_stored = cached.is_none();
        let loaded = match load(state, id, cached.take(), command).await {
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
        let Decision { events, effects } = match present.decide(command, &loaded.context(command.action, now)) {
            _ if is_due => Decision { events: due, effects: vec![] },
            Ok(decision) if !decision.events.is_empty() => decision,
            _ if !is_stored => continue,
            Ok(_) => return Ok(Executed::Unchanged { found: loaded.found, recorded: loaded.plies }),
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

/// How many of the newest plies are searched for the turn that is taken back: more than any game between people has.
const TAKEBACK_PLIES_MAX: u32 = 1000;

/// A game, and what else the decision on a command depends on.
struct Loaded {
    /// The game, from the cache or from the database.
    found: Arc<Remembered>,
    /// For moves, the plies that the log has under their numbers. For a takeback, the newest plies.
    plies: Vec<Ply>,
    /// For an accepted takeback with a clock that has increments, the whole log.
    log: Vec<Event>,
    /// Unfinished games of the player that joins; for a rematch, of the player that has more of them.
    running_games: u32,
    /// Whether a block or a suspension keeps the player from what the command asks for.
    is_blocked: bool,
    /// For the end of a pause: whether a player of the game is suspended and does not move.
    is_stopped: bool,
    /// For an offer to a person: how many such offers the player has made since the last ply.
    offers_made: u32,
}

impl Loaded {
    fn context(&self, action: Action<'_>, now: OffsetDateTime) -> Context<'_> {
        let seated = &self.found.seated;
        let is_erased = |seat| seated.players[seat].as_ref().is_some_and(|player| player.kind == PlayerKind::Deleted);
        Context {
            recorded: match action {
                Action::Play { .. } | Action::PlayTurn { .. } => &self.plies,
                _ => &[],
            },
            newest_plies: &self.plies,
            log: &self.log,
            running_games: self.running_games,
            is_opponent_erased: begins_rematch(action) && Seat::ALL.into_iter().any(is_erased),
            is_blocked: self.is_blocked,
            is_stopped: self.is_stopped,
            offers_made: self.offers_made,
            ..Context::new(now, || GameId(Uuid::now_v7()))
        }
    }
}

/// Loads the game, and what else the decision on the command depends on.
async fn load(
    state: &AppState,
    id: GameId,
    cached: Option<Arc<Remembered>>,
    command: &Command<'_>,
) -> Result<Option<Loaded>, DbError> {
    let found = match cached {
        Some(cached) => Some(cached),
        None => read(state, id).await?,
    };
    let Some(found) = found else { return Ok(None) };
    let game = &found.seated.game;
    let is_seated = game.seats(command.player);
    let (mut plies, mut log, mut running_games) = (vec![], vec![], 0);
    match command.action {
        Action::Play { ply, .. } if is_seated && (1..=game.ply()).contains(&ply) => {
            plies = games::plies(&state.db, game, ply - 1, 1).await?;
        }
        Action::PlayTurn { ply, words } if is_seated && (1..=game.ply()).contains(&ply) => {
            let count = u32::try_from(words.len()).unwrap_or(u32::MAX);
            plies = games::plies(&state.db, game, ply - 1, count).await?;
        }
        Action::Offer { kind: OfferKind::Takeback }
        | Action::Answer { kind: OfferKind::Takeback, answer: OfferAnswer::Accept }
            if is_seated =>
        {
            let after = game.ply().saturating_sub(TAKEBACK_PLIES_MAX);
            plies = games::plies(&state.db, game, after, TAKEBACK_PLIES_MAX).await?;
            if matches!(game.terms().clock, Clock::Bank { increment, .. } if increment.is_positive()) {
                log = game_log::read(&state.db, game, 0, game.version()).await?.events;
            }
        }
        Action::Join { .. } if !is_seated => running_games = games::count_running(&state.db, command.player).await?,
        action if begins_rematch(action) && is_seated && game.rematch().is_none() => {
            // The computer plays as many games as there are.
            let is_person = |player: &PlayerId| Level::of_player(*player).is_none();
            for player in Seat::ALL.into_iter().filter_map(|seat| game.players()[seat]).filter(is_person) {
                running_games = running_games.max(games::count_running(&state.db, player).await?);
            }
        }
        _ => {}
    }
    let suspension_of = |player| state.hub.audience().revocations().suspension(player, now());
    // The clock would run against a player who does not move.
    let is_stopped = is_pause_ended(command.action)
        && Seat::ALL
            .into_iter()
            .filter_map(|seat| game.players()[seat])
            .filter_map(suspension_of)
            .any(|it| !it.plays_on);
    let (mut is_blocked, mut offers_made) = (false, 0);
    if let Some(other) = game.approached_by(command) {
        // A game that begins with a suspended player would stand still, or be over at once.
        let begins = begins_rematch(command.action) || matches!(command.action, Action::Join { .. });
        let is_suspended = begins && suspension_of(other).is_some();
        is_blocked = is_suspended || blocks::is_between(&state.db, command.player, other).await?;
        if let Action::Offer { kind } = command.action
            && let Some(seat) = Seat::ALL.into_iter().find(|seat| game.players()[*seat] == Some(command.player))
        {
            offers_made = games::count_offers(&state.db, game.id(), seat, kind).await?;
        }
    }
    Ok(Some(Loaded { found, plies, log, running_games, is_blocked, is_stopped, offers_made }))
}

/// Whether an action may end a pause.
const fn is_pause_ended(action: Action<'_>) -> bool {
    matches!(action, Action::Answer { kind: OfferKind::Pause, answer: OfferAnswer::Withdraw })
}

/// Whether an action may begin a rematch.
pub(super) const fn begins_rematch(action: Action<'_>) -> bool {
    matches!(
        action,
        Action::Offer { kind: OfferKind::Rematch }
            | Action::Answer { kind: OfferKind::Rematch, answer: OfferAnswer::Accept }
    )
}

async fn read(state: &AppState, id: GameId) -> Result<Option<Arc<Remembered>>, DbError> {
    let read = state.recent.begin_read();
    Ok(games::find_whole(&state.db, id).await?.map(|seated| Remembered::whole(seated, read)))
}

/// Executes an action and answers with the game.
pub async fn change(
    state: &AppState,
    caller: Caller,
    path: GamePath,
    if_match: IfMatch,
    action: Action<'_>,
) -> Result<HttpResponse, Problem> {
    let command = Command { player: caller.player, if_version: if_match.0.as_deref(), action };
    let executed = execute(state, path.0, &command).await?;
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
                // The holder of a used link learns no more of a private game.
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
