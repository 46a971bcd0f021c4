//! Positions: the board after any ply of a game.

use std::sync::Arc;

use actix_web::{HttpRequest, HttpResponse, get, web::Data};
use mancala_db::games;
use mancala_domain::Game;
use mancala_http::{
    answer::{
        failures::{Failures, NotFound},
        headers::VARIES,
        problem::Problem,
    },
    request::{
        auth::Reader,
        extract::{GamePath, NoQuery, Query, ply_of},
    },
    state::{AppState, recent::Remembered},
};
use mancala_rules::AnyPosition;
use mancala_wire::view::{
    board::{BoardView, legal_moves},
    game::ResultView,
    wire::SideWord,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    find::{cache_control, find_past},
    moves::remembered_history,
};

/// Get the position after a ply
///
/// Ply 0 is the opening.
///
/// - `not_found`: no such game, or no such ply yet
#[utoipa::path(
    tag = "moves",
    operation_id = "get_position",
    params(
        ("id" = Uuid, Path, description = "The game's id"),
        ("ply" = u32, Path, description = "The ply's number; 0 for the opening", minimum = 0, example = 0),
    ),
    responses(
        (status = 200, description = "The position", body = PositionView),
        Failures<NotFound>,
    ),
    security((), ("bearer" = []))
)]
#[get("/games/{id}/positions/{ply}")]
pub async fn get_position(
    state: Data<AppState>,
    reader: Reader,
    path: GamePath,
    _: Query<NoQuery>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let found = find_past(&state, path.0, reader.0).await?;
    let game = &found.seated.game;
    let unknown = || Problem::not_found("the game has no such ply");
    let ply: u32 = ply_of(&request).ok_or_else(unknown)?;
    let position = match ply.checked_sub(1) {
        None => game.terms().opening(),
        Some(before) if ply <= game.ply() => position_after(&state, &found, before).await?.ok_or_else(unknown)?,
        Some(_) => return Err(unknown()),
    };
    let mut response = HttpResponse::Ok();
    response.insert_header(cache_control(game)).insert_header(VARIES);
    Ok(response.json(PositionView::of(ply, &position, game)))
}

/// The position after a ply, counted from 0. If the game is over, all plies are cached at the first request: others are wanted
/// soon.
async fn position_after(state: &AppState, found: &Arc<Remembered>, ply: u32) -> Result<Option<AnyPosition>, Problem> {
    let game = &found.seated.game;
    // The text of the last position does not tell an end by repetition.
    // One ply may be read where the log cannot be read as a whole.
    let history = if ply + 1 < game.ply() { remembered_history(state, found).await.unwrap_or(None) } else { None };
    let text = history.as_ref().and_then(|history| history.position(ply));
    if let Some(position) = text.and_then(|text| AnyPosition::parse(&game.terms().options, text).ok()) {
        return Ok(Some(position));
    }
    let plies = state.reads.run(|db| async move { games::plies(&db, game, ply, 1).await }).await?;
    Ok(plies.into_iter().next().map(|ply| ply.position))
}

/// The board after a ply.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Position)]
pub struct PositionView {
    #[schema(minimum = 0, example = 1)]
    ply: u32,
    board: BoardView,
    /// The position in text notation.
    #[schema(example = "4,4,0,5,5,5/4,4,4,4,4,4 1-0 S e 1 1S")]
    position: String,
    /// The side to move; null where the rules end the game.
    #[schema(required = true)]
    turn: Option<SideWord>,
    /// What the side to move may play.
    #[schema(example = json!(["A", "B", "D", "E", "F"]))]
    legal_moves: Vec<String>,
    /// Present where the rules end the game. A resignation is not part of the position.
    #[schema(required = true)]
    result: Option<ResultView>,
}

impl PositionView {
    fn of(ply: u32, position: &AnyPosition, game: &Game) -> Self {
        let outcome = position.outcome();
        Self {
            ply,
            board: BoardView::of(position),
            position: position.to_string(),
            turn: outcome.is_none().then(|| position.turn().into()),
            legal_moves: legal_moves(position),
            result: outcome.map(|outcome| {
                let reason = outcome.reason.map(|reason| reason.to_string());
                ResultView::new(outcome.winner, reason, outcome.score, game)
            }),
        }
    }
}
