//! Pairing: a player joins a game that fits, or opens one.

use std::time::Duration;

use actix_web::{HttpRequest, HttpResponse, post, web::Data};
use mancala_db::{
    DbError,
    games::{
        self,
        seek::{Seek, Sought, creator_seats, seek},
    },
};
use mancala_domain::{Action, Command, Event, Game, GameId, JoinContext, Player, RUNNING_GAMES_MAX, Refusal, Terms};
use mancala_http::{
    answer::{
        failures::{Failures, TooManyGames, TooManyOpenGames},
        problem::Problem,
    },
    layers::{
        limits::{self, GAME_BYTES},
        observe::LedTo,
    },
    request::{
        extract::{Body, NoQuery, Query},
        idempotency::{self, Answer, IdempotencyKey, KeyedRequest},
        player,
    },
    state::{AppState, tokens::Caller},
};
use mancala_process::clock::now;
use mancala_wire::view::{game::GameView, shown_game::ShownGame};
use time::OffsetDateTime;
use tokio::time::timeout;
use uuid::Uuid;

use super::{
    change::{ATTEMPTS_MAX, answer_with, pause_before},
    create::{begun, seated_alone, too_many_open},
    find::find_visible,
    new_game::CreateGame,
};

/// How many calls a seek costs besides the first: it is a transaction of several statements, and seeks of a kind wait for each other.
const MORE_CALLS: u32 = 4;

/// How long a seek waits for the one before it. Each takes a few milliseconds.
const TURN_TIMEOUT: Duration = Duration::from_secs(3);

/// Seek a game
///
/// Takes the body of a new game. Joins the oldest open public game of another player with the same variant, preset, options and clock,
/// in which the wanted `side` is free. The other player has a device with push notifications, or got a token in the last 20 minutes
/// (24 hours in slow games). If there is none, opens such a game. If the caller already waits in one, answers with that.
/// All of it is one step: of any number of players that seek at the same moment, no two are left waiting for each other.
///
/// - `too_many_open_games`: no game fits, and the caller may open none
#[utoipa::path(
    tag = "games",
    operation_id = "seek_game",
    request_body(content = CreateGame, description = "`opponent` and `visibility` are `open` and `public`, `from` is left out",
        examples(
            ("any side" = (value = json!({"variant": "kalah"}))),
            ("with a clock" = (value = json!({"variant": "oware", "clock": {"type": "per_move", "move_s": 86400}}))),
        )),
    responses(
        (status = 200, description = "The game that the caller has joined, or in which the caller already waits", body = GameView),
        (status = 201, description = "The game that the caller has opened; or, under a key, the game of the first answer as it is now",
            body = GameView,
            headers(("Location" = String, description = "Where the game is"), ("ETag" = String, description = "Its version"),
                ("Idempotent-Replayed" = Option<String>, description = "`true`: this was answered before under the same key"))),
        Failures<(TooManyGames, TooManyOpenGames)>,
    ),
    params(("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 255,
        description = "For a day, the same key and body get the same game again, as it is by then")),
    security(("bearer" = []))
)]
#[post("/games/seek")]
pub async fn seek_game(
    state: Data<AppState>,
    caller: Caller,
    key: IdempotencyKey,
    _: Query<NoQuery>,
    body: Body<CreateGame>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    limits::count_more(&request, MORE_CALLS)?;
    limits::count_stored(&request, GAME_BYTES)?;
    let keyed = KeyedRequest::of(key, caller, "/v1/games/seek", &body.0);
    if let Some(replayed) = replay(&state, caller, keyed.as_ref()).await? {
        return Ok(replayed);
    }
    let wants_side = body.0.wants_side();
    let terms = body.0.sought_terms()?;
    let player = player::find(&state, caller).await?.player;
    let running_games = games::count_running(&state.db, caller.player).await?;
    if running_games >= RUNNING_GAMES_MAX {
        return Err(Problem::from(&Refusal::TooManyGames));
    }
    let Ok(Ok(_turn)) = timeout(TURN_TIMEOUT, state.seeks.acquire()).await else {
        return Err(Problem::busy("too many players seek a game at once; try again"));
    };
    let pairing = Pairing { player, terms, wants_side, running_games, keyed: keyed.as_ref() };
    match pairing.run(&state).await? {
        Paired::Found(id) => {
            let found = find_visible(&state, id, Some(caller.player)).await?;
            let mut response = answer_with(found.shown(Some(caller.player)));
            response.extensions_mut().insert(LedTo(id));
            Ok(response)
        }
        Paired::Opened(answer) => Ok(idempotency::created(&answer)),
        Paired::KeyUsed => {
            let replayed = replay(&state, caller, keyed.as_ref()).await?;
            replayed.ok_or_else(|| Problem::internal("a key that is used has no answer"))
        }
    }
}

/// The answer to a seek that was already answered under the same key: the current state of the game. The first answer is not stored,
/// because it has names that may be erased later.
async fn replay(
    state: &AppState,
    caller: Caller,
    keyed: Option<&KeyedRequest>,
) -> Result<Option<HttpResponse>, Problem> {
    let Some(keyed) = keyed else { return Ok(None) };
    let Some(Answer { location, .. }) = keyed.stored_answer(state).await? else { return Ok(None) };
    let id = location.rsplit('/').next().and_then(|id| Uuid::try_parse(id).ok());
    let id = GameId(id.ok_or_else(|| Problem::internal("the stored answer names no game"))?);
    let found = find_visible(state, id, Some(caller.player)).await?;
    Ok(Some(idempotency::replayed(&found.shown(Some(caller.player)).as_created(id))))
}

/// A seek, and the data on which it depends.
struct Pairing<'a> {
    player: Player,
    terms: Terms,
    wants_side: bool,
    running_games: u32,
    keyed: Option<&'a KeyedRequest>,
}

/// The result of a seek.
enum Paired {
    /// The caller sits in this game, which was open before.
    Found(GameId),
    Opened(Answer),
    KeyUsed,
}

impl Pairing<'_> {
    /// Repeats the step until it succeeds. After a version conflict or a lost connection, either nothing was stored, or the key finds what
    /// was stored.
    async fn run(&self, state: &AppState) -> Result<Paired, Problem> {
        let mut failure = None;
        for attempt in 0..ATTEMPTS_MAX {
            pause_before(state, attempt).await;
            let now = now();
            let id = GameId(Uuid::now_v7()).in_slot(self.terms.slot(self.player.id));
            let (game, created) = Game::create(id, self.terms.clone(), self.player.id, state.settings.open_for, now);
            let created = begun(state, created).await?;
            let wanted = Seek {
                player: self.player.id,
                game: &game,
                created: &created,
                creator_seats: &creator_seats(&self.terms, self.wants_side),
                is_counted: state.networks.is_counted(),
                now,
            };
            let keep = |id: GameId| self.keyed.map(|keyed| keyed.keep(&kept(id)));
            match seek(&state.db, state.writers.announcer(), &wanted, |fit| self.join(state, fit, now), keep).await {
                Ok(Sought::Joined(joined)) => return Ok(Paired::Found(joined.id())),
                Ok(Sought::Opened) => {
                    let seated = seated_alone(game, &self.player);
                    let id = seated.game.id();
                    return Ok(Paired::Opened(ShownGame::of(&seated, Some(self.player.id)).as_created(id)));
                }
                Ok(Sought::Waiting(id)) => return Ok(Paired::Found(id)),
                Ok(Sought::KeyUsed) => return Ok(Paired::KeyUsed),
                Ok(Sought::TooManyOpen(limit)) => return Err(too_many_open(limit)),
                Ok(Sought::Conflict) => failure = None,
                Err(error @ (DbError::ConnectionLost(_) | DbError::Busy(_))) => failure = Some(error),
                Err(error) => return Err(error.into()),
            }
        }
        Err(failure.map_or_else(|| Problem::busy("too many changes to open games at once; try again"), Problem::from))
    }

    /// The game after the player has joined it, unless the domain refuses it or its creator is suspended.
    fn join(&self, state: &AppState, fit: &Game, now: OffsetDateTime) -> Option<(Game, Vec<Event>)> {
        let revocations = state.hub.audience().revocations();
        if fit.players()[fit.terms().creator].is_some_and(|creator| revocations.suspension(creator, now).is_some()) {
            return None;
        }
        // The query has left out the games of players between whom and this one there is a block.
        let context = JoinContext { running_games: self.running_games, is_blocked: false };
        let action = Action::Join { join_code: None, context };
        let command = Command { player: self.player.id, if_version: None, action };
        let events = fit.decide(&command, now).ok().filter(|decision| !decision.events.is_empty())?.events;
        let mut game = fit.clone();
        events.iter().try_for_each(|event| game.apply(event)).ok()?;
        Some((game, events))
    }
}

/// The answer that is stored under a request's key: the address of the game.
fn kept(id: GameId) -> Answer {
    Answer { location: format!("/v1/games/{}", id.0), etag: String::new(), body: String::new() }
}
