//! A single game: get it, wait for its change, join, resign, abort.

use actix_web::{
    HttpResponse, get,
    http::header::{self, ContentType, EntityTag},
    post,
    web::{Bytes, Data},
};
use mancala_http::{
    answer::{
        failures::{
            Failures, Forbidden, GameNotStarted, GameOver, NotFound, NotSeated, OwnGame, PreconditionFailed, SeatTaken,
            TooManyGames,
        },
        headers::{NOT_KEPT, VARIES},
        problem::Problem,
    },
    layers::{limits::RequestClient, observe::Waited},
    request::{
        auth::Reader,
        conditional::{IfMatch, IfNoneMatch},
        extract::{GamePath, NoQuery, Nothing, OptionalBody, Query},
        player,
        prefer::{self, Wait},
    },
    state::{AppState, tokens::Caller},
};
use mancala_wire::{
    live::{Released, Topic},
    view::{game::GameView, shown_game::ShownGame},
};
use serde::Deserialize;
use tokio::time::timeout;
use utoipa::{IntoParams, ToSchema};

use super::{
    asked::Asked,
    change::change,
    find::{find_with_code, with_read_permit},
};

/// Get a game
///
/// The answer is enough to draw the board and to play, without any other call. Only its players see a private game, and with
/// `join_code` a client that holds the link, as long as a seat is free.
///
/// With `If-None-Match` and `Prefer: wait=N` the call is a long poll: the answer comes when the game's version changes, or after
/// N seconds. So a client waits for the opponent's move. If the client's tag is not the current one, the answer comes at once.
///
/// - `seat_taken`, `game_over`: with `join_code`, for a private game
#[utoipa::path(
    tag = "games",
    operation_id = "get_game",
    params(
        ("id" = Uuid, Path, description = "The game's id"),
        ("If-None-Match" = Option<String>, Header, description = "The `ETag` of the answer that the client has"),
        ("Prefer" = Option<String>, Header, description = "`wait=N`: how many seconds to wait for a change, at most 50. Ignored \
            without a tag in `If-None-Match`, and if N is not a positive integer"),
        GetGame,
    ),
    responses(
        (status = 200, description = "The game", body = GameView, headers(
            ("ETag" = String, description = "The game's version, and a digest of what else is shown"),
            ("Preference-Applied" = String, description = "`wait=N`: how long the server was ready to wait"))),
        (status = 304, description = "The client's answer is still current", headers(
            ("ETag" = String, description = "As the client sent it"),
            ("Preference-Applied" = String, description = "`wait=N`: nothing changed for N seconds. If it is missing, the \
                server did not wait: the client pauses before it polls again"))),
        Failures<(NotFound, SeatTaken, GameOver)>,
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
    client: RequestClient,
    query: Query<GetGame>,
) -> Result<HttpResponse, Problem> {
    // Subscribes before it reads the game, so that it misses no later change.
    let wait_s = wait.0.filter(|_| matches!(known, IfNoneMatch::Tags(_)));
    let waiting = wait_s.and_then(|wait_s| Some((state.hub.enter(Topic::Game(path.0), client.0)?, wait_s)));
    let granted_s = waiting.as_ref().map(|(_, wait_s)| *wait_s);
    let join_code = query.0.join_code.as_deref();
    let read = async || {
        let found = find_with_code(&state, path.0, reader.0, join_code).await;
        found.map(|found| found.shown(reader.0))
    };
    // The future is boxed: otherwise each waiting request would keep the memory of a read.
    let read_with_permit = async || with_read_permit(&state, Box::pin(read())).await;
    let mut game = if waiting.is_some() { read_with_permit().await? } else { Box::pin(read()).await? };
    let waits = waiting.is_some() && known.has(&game.etag);
    if let Some((mut waiter, wait_s)) = waiting
        && known.has(&game.etag)
    {
        let ShownGame { version, etag, json, .. } = game;
        // A waiting request holds little memory, and no database connection.
        drop(json);
        match timeout(prefer::duration(wait_s), waiter.past(version)).await {
            Ok(Ok(_)) => {}
            Ok(Err(Released)) => return Ok(waited(answer_with(etag, None, None))),
            Err(_) => return Ok(waited(answer_with(etag, None, granted_s))),
        }
        game = read_with_permit().await?;
    }
    let ShownGame { etag, json, .. } = game;
    let news = (!known.has(&etag)).then_some(json);
    let answer = answer_with(etag, news, granted_s);
    Ok(if waits { waited(answer) } else { answer })
}

/// Marks an answer that has waited: the metrics count its duration apart from the others.
fn waited(mut answer: HttpResponse) -> HttpResponse {
    answer.extensions_mut().insert(Waited);
    answer
}

/// 200 with the game if the client has an older one, or else 304. `granted_s` is how long the server was ready to wait.
fn answer_with(etag: EntityTag, news: Option<Bytes>, granted_s: Option<u32>) -> HttpResponse {
    let mut response = if news.is_some() { HttpResponse::Ok() } else { HttpResponse::NotModified() };
    response.insert_header((header::ETAG, etag)).insert_header(NOT_KEPT).insert_header(VARIES);
    if let Some(granted_s) = granted_s {
        response.insert_header(prefer::applied(granted_s));
    }
    match news {
        Some(json) => response.content_type(ContentType::json()).body(json),
        None => response.finish(),
    }
}

/// Join a game
///
/// Takes the free seat; the game becomes active. If two call at the same time, one gets the seat. Joining again is 200. The
/// creator cannot join.
///
/// - `forbidden`: the join code is missing or wrong, or another player is invited
#[utoipa::path(
    tag = "games",
    operation_id = "join_game",
    params(
        ("id" = Uuid, Path, description = "The game's id"),
        ("If-Match" = Option<String>, Header, description = "The version that the game must be at"),
    ),
    request_body(content = Option<JoinGame>, description = "Only needed for a game by link: its `join_code`", example = json!({})),
    responses(
        (status = 200, description = "The game, in which the caller now sits", body = GameView),
        Failures<(Forbidden, NotFound, SeatTaken, OwnGame, GameOver, TooManyGames, PreconditionFailed)>,
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
    player::find(&state, caller).await?;
    let join = Asked::Join { join_code: body.0.join_code.as_deref() };
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
        Failures<(NotSeated, NotFound, GameNotStarted, GameOver, PreconditionFailed)>,
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
    change(&state, caller, path, if_match, Asked::Resign).await
}

/// Abort a game
///
/// Ends, without a result, a game that is open or in which the caller has not yet moved. Without a clock, it also ends a game in which the
/// other player has not moved at all, 24 hours after the game has begun. Aborting again is 200.
///
/// - `forbidden`: the caller has already moved
#[utoipa::path(
    tag = "games",
    operation_id = "abort_game",
    params(
        ("id" = Uuid, Path, description = "The game's id"),
        ("If-Match" = Option<String>, Header, description = "The version that the game must be at"),
    ),
    responses(
        (status = 200, description = "The aborted game", body = GameView),
        Failures<(Forbidden, NotSeated, NotFound, GameOver, PreconditionFailed)>,
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
    change(&state, caller, path, if_match, Asked::Abort).await
}

/// How a game is read.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct GetGame {
    /// The join code of a game by link. It shows a private game before the seat is taken.
    join_code: Option<String>,
}

/// What a game by link needs.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct JoinGame {
    /// The join code, which the game shows to its creator.
    join_code: Option<String>,
}
