//! Moves: play one, read the history.

use std::sync::Arc;

use actix_web::{
    HttpResponse, HttpResponseBuilder, get,
    http::header::{self, ContentType},
    post,
    web::Data,
};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::{
    change::{Carried, carry_out},
    find::{find_past, kept},
};
use crate::{
    db::games::{self, SeatedGame},
    domain::{Action, Command, Event, Fact, Game, Ply, Previous, Refusal},
    http::{
        answer::{
            cursor::Cursors,
            headers::{NOT_KEPT, VARIES},
            page::{PAGE_SIZE_MAX, next_link, page_size},
            problem::Problem,
        },
        request::{
            auth::Reader,
            conditional::IfMatch,
            extract::{Body, GamePath, NoQuery, Query},
        },
        state::{
            AppState,
            history::{History, PLIES_CACHED_MAX},
            recent::Remembered,
            tokens::Caller,
        },
        view::{
            board::legal_moves,
            game::{GameView, ShownGame},
            moves::{MoveJson, MovePage, MoveView},
        },
    },
    rules::Effect,
};

/// Play a move
///
/// `ply` is the number that the move will bear: one more than the game's. So a move is safe to send again: the second
/// time it is found in the log and answered with 200, and nothing is played twice.
#[utoipa::path(
    tag = "moves",
    operation_id = "play_move",
    params(
        ("id" = Uuid, Path, description = "The game's id"),
        ("If-Match" = Option<String>, Header, description = "The version that the game must be at"),
    ),
    request_body(content = PlayMove, example = json!({"ply": 1, "move": "C"})),
    responses(
        (status = 201, description = "The move was played", body = PlayedMove),
        (status = 200, description = "The same player had already played the same move under this number", body = PlayedMove),
        (status = 403, description = "`not_seated`"),
        (status = 404, description = "`not_found`"),
        (status = 409, description = "`game_not_started`, `game_over`, `stale_ply`, `not_your_turn`: with `game` and `moves`"),
        (status = 412, description = "`precondition_failed`"),
    ),
    security(("bearer" = []))
)]
#[post("/games/{id}/moves")]
pub async fn play_move(
    state: Data<AppState>,
    caller: Caller,
    path: GamePath,
    if_match: IfMatch,
    _: Query<NoQuery>,
    body: Body<PlayMove>,
) -> Result<HttpResponse, Problem> {
    let PlayMove { ply, word } = &body.0;
    let ply = *ply;
    if !(1..=PLY_MAX).contains(&ply) {
        return Err(Problem::invalid("/ply", format!("plies are numbered from 1 to {PLY_MAX}")));
    }
    let command =
        Command { player: caller.player, if_version: if_match.0.as_deref(), action: Action::Play { ply, word } };
    match carry_out(&state, path.0, &command).await? {
        Carried::Out { before, game, events, effects } => {
            let seated = after_move(&before.seated, game, &events, effects)?;
            let played = seated.last_ply.as_ref().map(MoveJson::of);
            let played = played.ok_or_else(|| Problem::internal("a move was stored but is not there"))?;
            let after = Remembered::after_move(seated, before.read_at, played.clone());
            state.recent.keep(&after);
            state.metrics.move_played(after.seated.game.terms().options.variant().word());
            Ok(answer(HttpResponse::Created(), &played, after.shown(Some(caller.player))))
        }
        Carried::Already { found, recorded } => {
            let recorded = recorded.ok_or_else(|| Problem::internal("a move that the log has is not there"))?;
            Ok(answer(HttpResponse::Ok(), &MoveJson::of(&recorded), found.shown(Some(caller.player))))
        }
        Carried::Refused { found, refusal } => {
            let seated = &found.seated;
            let problem = Problem::from(&refusal);
            Err(match refusal {
                Refusal::Illegal(illegal) => {
                    problem.with_legal_moves(illegal.reason(), legal_moves(seated.game.position()))
                }
                Refusal::NotAMove => problem.with_legal_moves("not_a_move", legal_moves(seated.game.position())),
                Refusal::NotStarted | Refusal::Over | Refusal::StalePly { .. } | Refusal::NotYourTurn => {
                    let unseen = games::plies(&state.db, &seated.game, ply - 1, PAGE_SIZE_MAX).await?;
                    problem
                        .with_game(GameView::of(seated, Some(caller.player)))
                        .with_moves(unseen.iter().map(MoveView::of).collect())
                }
                _ => problem,
            })
        }
    }
}

/// Read the history
///
/// Every ply that was ever played, oldest first, with what happened frame by frame.
#[utoipa::path(
    tag = "moves",
    operation_id = "list_moves",
    params(("id" = Uuid, Path, description = "The game's id"), ListMoves),
    responses(
        (status = 200, description = "A page of the history", body = MovePage,
            headers(("Link" = String, description = "Where the next page is, if there is one"))),
        (status = 404, description = "`not_found`"),
    ),
    security((), ("bearer" = []))
)]
#[get("/games/{id}/moves")]
pub async fn list_moves(
    state: Data<AppState>,
    reader: Reader,
    path: GamePath,
    query: Query<ListMoves>,
) -> Result<HttpResponse, Problem> {
    let found = find_past(&state, path.0, reader.0).await?;
    let game = &found.seated.game;
    let limit = page_size(query.0.limit)?;
    let after = query.0.after(game, &state.cursors)?;
    let (history, skipped) = match remembered_history(&state, &found).await? {
        Some(whole) => (whole, after),
        None => (Arc::new(History::of(&games::plies(&state.db, game, after, limit + 1).await?)), 0),
    };
    let page = history.page(skipped, limit);
    let next_cursor = page.more.then(|| cursor_after(&state.cursors, game, after + limit));
    let mut response = HttpResponse::Ok();
    if let Some(cursor) = &next_cursor {
        let path = format!("/v1/games/{}/moves", game.id().0);
        response.insert_header(next_link(&path, &format!("limit={limit}"), cursor));
    }
    response.insert_header(kept(game)).insert_header(VARIES).content_type(ContentType::json());
    Ok(response.body(page.json(next_cursor.as_deref())))
}

/// The whole history of a game that is over, which never changes again; read once, and remembered with the game.
async fn remembered_history(state: &AppState, found: &Arc<Remembered>) -> Result<Option<Arc<History>>, Problem> {
    let game = &found.seated.game;
    if !game.status().is_over() || game.ply() > PLIES_CACHED_MAX {
        return Ok(None);
    }
    if let Some(history) = &found.history {
        return Ok(Some(history.clone()));
    }
    let history = Arc::new(History::of(&games::plies(&state.db, game, 0, game.ply()).await?));
    state.recent.keep(&found.with_history(history.clone()));
    Ok(Some(history))
}

/// A [`PlayedMove`] of which the game is already JSON.
fn answer(mut response: HttpResponseBuilder, played: &MoveJson, game: ShownGame) -> HttpResponse {
    let body = [br#"{"move":"#, played.0.get().as_bytes(), br#","game":"#, &game.json, b"}"].concat();
    response.insert_header((header::ETAG, game.etag)).insert_header(NOT_KEPT).insert_header(VARIES);
    response.content_type(ContentType::json()).body(body)
}

/// The game after a move that was just stored, with the people who were there before it.
fn after_move(before: &SeatedGame, game: Game, events: &[Event], effects: Vec<Effect>) -> Result<SeatedGame, Problem> {
    let moved = events.iter().find_map(|event| match &event.fact {
        Fact::Moved(moved) => Some((moved, event.at)),
        _ => None,
    });
    let (moved, at) = moved.ok_or_else(|| Problem::internal("a move was stored as something else"))?;
    let since = before.last_ply.as_ref().map_or_else(|| Previous::opening(&before.game).at, |last| last.at);
    let last_ply = Some(Ply::played(&before.game, since, moved, at, effects).map_err(Problem::internal)?);
    Ok(SeatedGame { game, players: before.players.clone(), invited: before.invited.clone(), last_ply })
}

/// The largest number of a ply: what the database's integers hold.
const PLY_MAX: u32 = i32::MAX as u32;

/// A move to play.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PlayMove {
    /// The number that the move will bear: the game's `ply` plus one.
    #[schema(minimum = 1, maximum = 2_147_483_647, example = 6)]
    ply: u32,
    /// One of the game's `legal_moves`: a pit's letter (capital for South, small for North), `pass` or `swap`.
    #[serde(rename = "move")]
    #[schema(example = "D")]
    word: String,
}

/// The move, and the game after it.
// Only described here: `answer` writes it.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes the answer")]
pub struct PlayedMove {
    #[schema(rename = "move")]
    mv: MoveView,
    game: GameView,
}

/// Which part of the history to read.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListMoves {
    /// Only plies after this one.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 4_294_967_295_i64, default = 0)]
    after: Option<u32>,
    /// How many at most.
    #[param(minimum = 1, maximum = 100, default = 20)]
    limit: Option<u32>,
    /// Where to go on: `next_cursor` of the page before. Not together with `after`.
    #[param(min_length = 1)]
    cursor: Option<String>,
}

impl ListMoves {
    fn after(&self, game: &Game, cursors: &Cursors) -> Result<u32, Problem> {
        match (&self.cursor, self.after) {
            (None, after) => Ok(after.unwrap_or(0)),
            (Some(_), Some(_)) => Err(Problem::invalid("?after", "a cursor already says where to go on")),
            (Some(cursor), None) => {
                let ply = cursors.open(cursor, &list_of(game)).and_then(|ply| ply.parse().ok());
                ply.ok_or_else(|| Problem::invalid("?cursor", "not a cursor of this game's history"))
            }
        }
    }
}

/// A cursor is a ply's number, bound to its game.
fn cursor_after(cursors: &Cursors, game: &Game, ply: u32) -> String {
    cursors.seal(&ply.to_string(), &list_of(game))
}

fn list_of(game: &Game) -> String {
    format!("moves {}", game.id().0)
}
