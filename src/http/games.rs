//! Games: create, get, join, resign, abort.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use actix_web::{
    HttpResponse, get,
    http::header::{self, EntityTag, HeaderName},
    post,
    web::Data,
};
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    AppState, Remembered,
    auth::{Caller, Reader},
    error::{Code, Problem, ProblemBody},
    extract::{self, Body, GamePath, IfMatch, IfNoneMatch, NoQuery, Nothing, OptionalBody, Query, pointer_token},
    game_view::{GameView, VisibilityWord},
    headers::{KEPT_FOR_EVER, NOT_KEPT, VARIES},
    idempotency::{self, IdempotencyKey, KeyedRequest},
    me, now,
    prefer::{self, Wait},
    variants::OptionValueView,
};
use crate::{
    db::{
        DbError,
        games::{self, Appended, Inserted, SeatedGame},
        idempotency::Keyed,
        players,
    },
    domain::{
        Action, BySeat, Clock, Command, Event, Game, GameId, Opponent, Player, PlayerId, PlayerKind, Ply,
        RUNNING_GAMES_MAX, Refusal, Seat, Status, Terms, Visibility,
    },
    live::Released,
    metrics::AppendOutcome,
    rules::{AnyOptions, OptionsError, Variant},
};

/// How often a change is decided again after somebody else was faster, or the connection was lost. Whoever loses so
/// often in a row is better told to come back.
const ATTEMPTS_MAX: u32 = 8;

/// How much longer each attempt waits than the one before it, from the third on: all of them together about half a second,
/// in which a PostgreSQL that was killed is back.
const RETRY_PAUSE: Duration = Duration::from_millis(20);

/// How long one of a crowd that was woken at once waits for its turn to read the game: after that, whatever keeps the others
/// is nothing that waiting helps against.
const TURN_WAIT: Duration = Duration::from_secs(20);

/// Random bytes of a join code: 144 bits, 24 characters.
const JOIN_CODE_BYTES: usize = 18;

/// Create a game
///
/// Only `variant` is required. In a game against oneself (`opponent.type` `self`) play begins at once; otherwise it
/// begins when somebody joins: of a game for one player (`player`), that player.
#[utoipa::path(
    tag = "games",
    operation_id = "create_game",
    request_body(content = CreateGame, examples(
        ("against anyone" = (value = json!({"variant": "kalah"}))),
        ("by link, with options" = (value = json!({"variant": "kalah", "preset": "bga", "options": {"seeds": 5, "pie": true},
            "side": "south", "opponent": {"type": "link"}, "visibility": "private"}))),
        ("against oneself" = (value = json!({"variant": "kalah", "opponent": {"type": "self"}}))),
    )),
    responses(
        (status = 201, description = "The game", body = GameView,
            headers(("Location" = String, description = "Where the game is"), ("ETag" = String, description = "Its version"),
                ("Idempotent-Replayed" = Option<String>, description = "`true`: this was answered before under the same key"))),
        (status = 409, description = "`too_many_games`", body = ProblemBody, content_type = "application/problem+json"),
    ),
    params(("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 255,
        description = "With the same key and body the same game is answered again for a day, and not created twice")),
    security(("bearer" = []))
)]
#[post("/games")]
pub async fn create_game(
    state: Data<AppState>,
    caller: Caller,
    key: IdempotencyKey,
    _: Query<NoQuery>,
    body: Body<CreateGame>,
) -> Result<HttpResponse, Problem> {
    let keyed = KeyedRequest::of(key, caller.0, "/v1/games", &body.0);
    if let Some(keyed) = &keyed
        && let Some(replayed) = keyed.replay(&state).await?
    {
        return Ok(replayed);
    }
    let terms = body.0.terms()?;
    let creator = me::find(&state, caller.0).await?.player;
    let invited = find_invited(&state, caller.0, &terms.opponent).await?;
    if games::count_running(&state.db, caller.0).await? >= RUNNING_GAMES_MAX {
        return Err(Problem::from(&Refusal::TooManyGames));
    }
    let (game, created) = Game::create(GameId(Uuid::now_v7()), terms, caller.0, now());
    let seated = seated_alone(game, &creator, invited);
    let answer = GameView::of(&seated, Some(caller.0)).as_created();
    let kept = keyed.as_ref().map(|keyed| keyed.keep(&answer));
    match (store_new(&state, &seated.game, &created, kept).await?, keyed) {
        // Another request with this key was faster.
        (Inserted::KeyUsed, Some(keyed)) => {
            keyed.replay(&state).await?.ok_or_else(|| Problem::internal("a key that is used has no answer"))
        }
        _ => Ok(idempotency::created(&answer)),
    }
}

/// Get a game
///
/// Enough to draw the board and to play, without any other call. A private game is there for its players only.
///
/// With `If-None-Match` and `Prefer: wait=N` the answer comes when the game's version changes, or after N seconds: so a client
/// waits for the opponent's move. If the game is not the one that the client has, the answer comes at once.
#[utoipa::path(
    tag = "games",
    operation_id = "get_game",
    params(
        ("id" = Uuid, Path, description = "The game's id"),
        ("If-None-Match" = Option<String>, Header, description = "The `ETag` of the answer that the client has"),
        ("Prefer" = Option<String>, Header, description = "`wait=N`: how many seconds to wait for a change, at most 50. Ignored \
            without a tag in `If-None-Match`, and if it is no positive integer", example = "wait=50"),
    ),
    responses(
        (status = 200, description = "The game", body = GameView, headers(
            ("ETag" = String, description = "The game's version, and a digest of what else is shown"),
            ("Preference-Applied" = String, description = "`wait=N`, if the server would have waited so long"))),
        (status = 304, description = "The client's answer is still the present one", headers(
            ("ETag" = String, description = "As the client sent it"),
            ("Preference-Applied" = String, description = "`wait=N`, if nothing changed for so long. If it is missing, the \
                server did not wait: the client pauses before it asks again"))),
        (status = 404, description = "`not_found`", body = ProblemBody, content_type = "application/problem+json"),
    ),
    security((), ("bearer" = []))
)]
#[get("/games/{id}")]
pub async fn get_game(
    state: Data<AppState>,
    reader: Reader,
    path: GamePath,
    known: IfNoneMatch,
    wait: Wait,
    _: Query<NoQuery>,
) -> Result<HttpResponse, Problem> {
    // Before the game is read, so that nothing that happens from then on is missed.
    let wait_s = wait.0.filter(|_| matches!(known, IfNoneMatch::Tags(_)));
    let waiting = wait_s.and_then(|wait_s| Some((state.hub.enter(path.0)?, wait_s)));
    let granted_s = waiting.as_ref().map(|(_, wait_s)| *wait_s);
    let mut view = GameView::of(&find_visible(&state, path.0, reader.0).await?, reader.0);
    let mut etag = view.etag();
    if let Some((mut waiter, wait_s)) = waiting
        && known.has(&etag)
    {
        let version = view.version;
        // Who waits holds next to nothing meanwhile, and no connection to the database.
        drop(view);
        match timeout(prefer::duration(wait_s), waiter.past(version)).await {
            Ok(Ok(_)) => {}
            Ok(Err(Released)) => return Ok(answer_with(etag, None, None)),
            Err(_) => return Ok(answer_with(etag, None, granted_s)),
        }
        let _turn = timeout(TURN_WAIT, state.woken.acquire()).await;
        view = GameView::of(&find_visible(&state, path.0, reader.0).await?, reader.0);
        etag = view.etag();
    }
    let news = (!known.has(&etag)).then_some(view);
    Ok(answer_with(etag, news, granted_s))
}

/// The game if it is news to the client, and how long the server would have waited for news.
fn answer_with(etag: EntityTag, news: Option<GameView>, granted_s: Option<u32>) -> HttpResponse {
    let mut response = if news.is_some() { HttpResponse::Ok() } else { HttpResponse::NotModified() };
    response.insert_header((header::ETAG, etag)).insert_header(NOT_KEPT).insert_header(VARIES);
    if let Some(granted_s) = granted_s {
        response.insert_header(prefer::applied(granted_s));
    }
    match news {
        Some(view) => response.json(view),
        None => response.finish(),
    }
}

/// Join a game
///
/// Takes the free seat; the game becomes active. Of two who try at once one gets the seat. Joining again is 200.
#[utoipa::path(
    tag = "games",
    operation_id = "join_game",
    params(
        ("id" = Uuid, Path, description = "The game's id"),
        ("If-Match" = Option<String>, Header, description = "The version that the game must be at"),
    ),
    request_body(content = Option<JoinGame>, description = "Only needed for a game by link"),
    responses(
        (status = 200, description = "The game, in which the caller now sits", body = GameView),
        (status = 403, description = "`forbidden`: the join code is missing or wrong, or somebody else is invited",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "`not_found`", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`seat_taken`, `game_over`, `too_many_games`", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 412, description = "`precondition_failed`", body = ProblemBody,
            content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[post("/games/{id}/join")]
pub async fn join_game(
    state: Data<AppState>,
    caller: Caller,
    path: GamePath,
    if_match: IfMatch,
    _: Query<NoQuery>,
    body: OptionalBody<JoinGame>,
) -> Result<HttpResponse, Problem> {
    me::find(&state, caller.0).await?;
    let running = games::count_running(&state.db, caller.0).await?;
    let join = Action::Join { join_code: body.0.join_code.as_deref(), running };
    change(&state, caller, path, if_match, join).await
}

/// Resign a game
///
/// The opponent wins. Resigning again is 200. In a game against oneself the side to move resigns.
#[utoipa::path(
    tag = "games",
    operation_id = "resign_game",
    params(
        ("id" = Uuid, Path, description = "The game's id"),
        ("If-Match" = Option<String>, Header, description = "The version that the game must be at"),
    ),
    responses(
        (status = 200, description = "The finished game", body = GameView),
        (status = 403, description = "`not_seated`", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "`not_found`", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`game_not_started`, `game_over`", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 412, description = "`precondition_failed`", body = ProblemBody,
            content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[post("/games/{id}/resign")]
pub async fn resign_game(
    state: Data<AppState>,
    caller: Caller,
    path: GamePath,
    if_match: IfMatch,
    _: Query<NoQuery>,
    _: OptionalBody<Nothing>,
) -> Result<HttpResponse, Problem> {
    change(&state, caller, path, if_match, Action::Resign).await
}

/// Abort a game
///
/// Ends, without a result, a game that is open or in which the caller has not yet moved. Aborting again is 200.
#[utoipa::path(
    tag = "games",
    operation_id = "abort_game",
    params(
        ("id" = Uuid, Path, description = "The game's id"),
        ("If-Match" = Option<String>, Header, description = "The version that the game must be at"),
    ),
    responses(
        (status = 200, description = "The aborted game", body = GameView),
        (status = 403, description = "`not_seated`; `forbidden`: the caller has already moved", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 404, description = "`not_found`", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`game_over`", body = ProblemBody, content_type = "application/problem+json"),
        (status = 412, description = "`precondition_failed`", body = ProblemBody,
            content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[post("/games/{id}/abort")]
pub async fn abort_game(
    state: Data<AppState>,
    caller: Caller,
    path: GamePath,
    if_match: IfMatch,
    _: Query<NoQuery>,
    _: OptionalBody<Nothing>,
) -> Result<HttpResponse, Problem> {
    change(&state, caller, path, if_match, Action::Abort).await
}

/// How long the moves and positions of a game may be kept: of a finished public one for ever, by everybody.
pub(super) fn kept(game: &Game) -> (HeaderName, &'static str) {
    if game.status == Status::Finished && game.terms.visibility == Visibility::Public {
        KEPT_FOR_EVER
    } else {
        NOT_KEPT
    }
}

/// A game that the reader may see.
pub(super) async fn find_visible(
    state: &AppState,
    id: GameId,
    reader: Option<PlayerId>,
) -> Result<SeatedGame, Problem> {
    let seated = games::find(&state.db, id).await?.filter(|seated| seated.game.is_visible_to(reader));
    seated.ok_or_else(|| Problem::from(&Refusal::Unknown))
}

/// What came of a command.
pub(super) enum Carried {
    /// The game after these events, and as it was when they were decided.
    Out { before: Remembered, game: Game, events: Vec<Event> },
    /// What was asked for was already so; of a move, the ply that the log has.
    Already { seated: Arc<SeatedGame>, recorded: Option<Ply> },
    /// Nothing changed.
    Refused { seated: Arc<SeatedGame>, refusal: Refusal },
}

/// Loads the game, lets the domain decide, and appends; again from the start if somebody else was faster, or if it is
/// not known what became of an append because the connection was lost: then the log is read, not guessed at.
///
/// The first time it decides on what is remembered of the game, if anything. That may be stale, which is harmless for
/// what is accepted, because the append is guarded by the version; everything else is decided again on what is stored.
pub(super) async fn carry_out(state: &AppState, id: GameId, command: &Command<'_>) -> Result<Carried, Problem> {
    let mut failure = None;
    let mut remembered = state.recent.remove(&id).map(|(_, remembered)| remembered).filter(Remembered::is_recent);
    for attempt in 0..ATTEMPTS_MAX {
        pause_before(state, attempt).await;
        let stored = remembered.is_none();
        let loaded = match load(state, id, remembered.take(), command).await {
            Err(error @ (DbError::ConnectionLost(_) | DbError::Busy(_))) => {
                failure = Some(error);
                continue;
            }
            loaded => loaded?,
        };
        let (before, recorded) = loaded.ok_or_else(|| Problem::from(&Refusal::Unknown))?;
        let seated = before.seated.clone();
        if stored {
            // It may be news: of another process, or of an append whose answer was lost.
            state.hub.tell(id, seated.game.version);
        }
        let action = match command.action {
            Action::Play { ply, word, .. } => Action::Play { ply, word, recorded: recorded.as_ref() },
            action => action,
        };
        let events = match seated.game.decide(&Command { action, ..*command }, now()) {
            Ok(events) if !events.is_empty() => events,
            _ if !stored => continue,
            Ok(_) => return Ok(Carried::Already { seated, recorded }),
            Err(refusal) => return Ok(Carried::Refused { seated, refusal }),
        };
        let mut game = seated.game.clone();
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
    remembered: Option<Remembered>,
    command: &Command<'_>,
) -> Result<Option<(Remembered, Option<Ply>)>, DbError> {
    let read_at = now();
    let found = match remembered {
        Some(remembered) => Some(remembered),
        None => games::find(&state.db, id).await?.map(|seated| Remembered { seated: Arc::new(seated), read_at }),
    };
    let Some(found) = found else { return Ok(None) };
    let seated = &found.seated;
    let recorded = match command.action {
        Action::Play { ply, .. } if (1..=seated.game.ply).contains(&ply) && seated.game.seats(command.player) => {
            games::plies(&state.db, &seated.game, ply - 1, 1).await?.pop()
        }
        _ => None,
    };
    Ok(Some((found, recorded)))
}

/// The answer to a change that shows nothing but the game.
pub(super) async fn change(
    state: &AppState,
    caller: Caller,
    path: GamePath,
    if_match: IfMatch,
    action: Action<'_>,
) -> Result<HttpResponse, Problem> {
    let command = Command { player: caller.0, if_version: if_match.0.as_deref(), action };
    match carry_out(state, path.0, &command).await? {
        Carried::Out { .. } | Carried::Already { .. } => {
            // Read again: whoever joins brings a name along.
            let view = GameView::of(&find_visible(state, path.0, Some(caller.0)).await?, Some(caller.0));
            let mut response = HttpResponse::Ok();
            response.insert_header((header::ETAG, view.etag())).insert_header(NOT_KEPT).insert_header(VARIES);
            Ok(response.json(view))
        }
        Carried::Refused { seated, refusal } => Err(match refusal {
            Refusal::SeatTaken | Refusal::NotStarted | Refusal::Over => {
                Problem::from(&refusal).with_game(GameView::of(&seated, Some(caller.0)))
            }
            _ => Problem::from(&refusal),
        }),
    }
}

/// Whom a new game invites: somebody who is there, and somebody else.
async fn find_invited(state: &AppState, creator: PlayerId, opponent: &Opponent) -> Result<Option<Player>, Problem> {
    let Opponent::Player { player } = opponent else { return Ok(None) };
    if *player == creator {
        let detail = "nobody invites themselves: choose `self` to play both sides";
        return Err(Problem::invalid("/opponent/player_id", detail));
    }
    let found = players::find(&state.db, *player).await?.map(|own| own.player);
    let invited = found.filter(|player| player.kind != PlayerKind::Deleted);
    invited.map(Some).ok_or_else(|| Problem::invalid("/opponent/player_id", "there is no such player"))
}

/// A new game with its people: its creator, and nobody else yet.
fn seated_alone(game: Game, creator: &Player, invited: Option<Player>) -> SeatedGame {
    let player = |seat: Seat| game.players[seat].map(|_| creator.clone());
    let players = BySeat { first: player(Seat::First), second: player(Seat::Second) };
    SeatedGame { game, players, invited, last_ply: None }
}

/// Stores a new game. If the connection is lost on the way it begins again: a game that was stored already is not stored twice.
async fn store_new(state: &AppState, game: &Game, created: &Event, keyed: Option<Keyed>) -> Result<Inserted, Problem> {
    let mut failure = None;
    for attempt in 0..ATTEMPTS_MAX {
        pause_before(state, attempt).await;
        match games::insert(&state.db, game, created, keyed.as_ref()).await {
            Err(error @ (DbError::ConnectionLost(_) | DbError::Busy(_))) => failure = Some(error),
            inserted => return Ok(inserted?),
        }
    }
    Err(failure.map_or_else(|| Problem::internal("no attempt was made"), Problem::from))
}

/// Lets a database come back, or another writer finish, before the next attempt.
async fn pause_before(state: &AppState, attempt: u32) {
    if attempt > 0 {
        state.metrics.retried();
    }
    if attempt > 1 {
        tokio::time::sleep(RETRY_PAUSE * attempt).await;
    }
}

/// What a new game is to be.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateGame {
    /// The game: see `GET /v1/variants`.
    #[schema(example = "kalah")]
    variant: String,
    /// One of the variant's presets; `standard` unless given.
    #[serde(default = "standard")]
    #[schema(required = false, example = "standard")]
    preset: String,
    /// Where the rules differ from the preset.
    #[serde(default, deserialize_with = "extract::entries")]
    #[schema(required = false, value_type = BTreeMap<String, OptionValueView>)]
    options: Vec<(String, OptionValueView)>,
    /// The creator's side of the board. South opens.
    #[serde(default, deserialize_with = "extract::word")]
    #[schema(required = false)]
    side: SideChoice,
    /// Who may take the other seat: unless given, anyone; of a private game, whoever holds the join code.
    #[serde(default, deserialize_with = "extract::some_object")]
    #[schema(nullable = false)]
    opponent: Option<OpponentChoice>,
    /// Time to think.
    #[serde(default, deserialize_with = "extract::object")]
    #[schema(required = false)]
    clock: ClockChoice,
    #[serde(default, deserialize_with = "extract::word")]
    #[schema(required = false)]
    visibility: VisibilityWord,
}

fn standard() -> String {
    "standard".to_owned()
}

/// Which side to play.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum SideChoice {
    South,
    North,
    /// Drawn by lot.
    #[default]
    Random,
}

/// Who may take the other seat.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
enum OpponentChoice {
    /// Anyone who can see the game.
    Open {},
    /// Whoever holds the join code.
    Link {},
    /// This player only, who may also decline.
    Player {
        #[schema(value_type = Uuid)]
        player_id: String,
    },
    /// Nobody: one player plays both sides.
    #[serde(rename = "self")]
    Oneself {},
}

/// How much time the players have.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum ClockChoice {
    /// As much as they like.
    Unlimited {},
}

impl Default for ClockChoice {
    fn default() -> Self {
        ClockChoice::Unlimited {}
    }
}

impl CreateGame {
    fn terms(self) -> Result<Terms, Problem> {
        let variant: Variant =
            self.variant.parse().map_err(|_| Problem::invalid("/variant", "there is no such variant"))?;
        let overrides: Vec<_> = self.options.into_iter().map(|(name, value)| (name, value.into())).collect();
        let options = AnyOptions::new(variant, &self.preset, &overrides).map_err(|error| invalid_options(&error))?;
        let visibility = Visibility::from(self.visibility);
        let private = visibility == Visibility::Private;
        let by_default = if private { OpponentChoice::Link {} } else { OpponentChoice::Open {} };
        let opponent = match self.opponent.unwrap_or(by_default) {
            OpponentChoice::Open {} if private => {
                let detail = "nobody could find a private game to join it: choose `link`, or another visibility";
                return Err(Problem::invalid("/opponent/type", detail));
            }
            OpponentChoice::Open {} => Opponent::Open,
            OpponentChoice::Link {} => {
                Opponent::Link { join_code: BASE64_URL_SAFE_NO_PAD.encode(rand::random::<[u8; JOIN_CODE_BYTES]>()) }
            }
            OpponentChoice::Player { player_id } => {
                let id = Uuid::try_parse(&player_id);
                let id = id.map_err(|_| Problem::invalid("/opponent/player_id", "a player's id is a UUID"))?;
                Opponent::Player { player: PlayerId(id) }
            }
            OpponentChoice::Oneself {} => Opponent::Oneself,
        };
        let clock = match self.clock {
            ClockChoice::Unlimited {} => Clock::Unlimited,
        };
        let south = match self.side {
            SideChoice::South => true,
            SideChoice::North => false,
            SideChoice::Random => rand::random(),
        };
        let creator = if south { Seat::First } else { Seat::Second };
        Ok(Terms { options, rules_version: variant.rules_version(), opponent, clock, visibility, creator })
    }
}

fn invalid_options(error: &OptionsError) -> Problem {
    let pointer =
        error.option().map_or_else(|| "/preset".to_owned(), |option| format!("/options/{}", pointer_token(option)));
    Problem::invalid(pointer, error.to_string())
}

/// What joining may need.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct JoinGame {
    /// The code that the creator of a game by link was given.
    join_code: Option<String>,
}
