//! Hints during practice: the value of each move in the current position. Knows no engine: `hints` searches.

use std::sync::Arc;

use actix_web::{HttpResponse, get, web::Data};
use mancala_db::games;
use mancala_domain::{Game, GameId, Refusal};
use mancala_http::{
    answer::{
        code::Code,
        failures::{Failures, Forbidden, GameOver, NotFound, NotSeated, NotYourTurn},
        headers::{NOT_KEPT, VARIES},
        problem::Problem,
    },
    layers::limits::HeavyBudget,
    request::extract::{GamePath, NoQuery, Query},
    state::{AppState, heavy::HeavyClass, tokens::Caller},
};
use mancala_process::metrics::{HintOutcome, Metrics};
use mancala_wire::view::{game::GameView, wire::SideWord};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::analyses::{ValueView, seeds};
use crate::{
    games::{contested::is_contested, find::find_visible},
    hints::{self, Hint, HintError, HintedMove},
};

/// What a hint costs of the budget for heavy work, in plies: twenty hints at once, and then two a second. Each takes the engine about a
/// third of a second.
const PLIES_CHARGED: u32 = 5_000;

/// Get a hint
///
/// The value of every legal move, best first. Only for the player of practice against the computer, when that player is to move. It takes
/// the server about a third of a second. Closing the connection cancels it. The same position has the same hint.
///
/// - `forbidden`: the game is no practice
#[utoipa::path(
    tag = "moves",
    operation_id = "get_hint",
    params(("id" = Uuid, Path, description = "The game's id")),
    responses(
        (status = 200, description = "The moves with their values", body = HintView),
        Failures<(Forbidden, NotSeated, NotFound, GameOver, NotYourTurn)>,
    ),
    security(("bearer" = []))
)]
#[get("/games/{id}/hint")]
pub async fn get_hint(
    state: Data<AppState>,
    caller: Caller,
    path: GamePath,
    _: Query<NoQuery>,
    budget: HeavyBudget,
) -> Result<HttpResponse, Problem> {
    let found = find_visible(&state, path.0, Some(caller.player)).await?;
    let game = &found.seated.game;
    game.check_hint(caller.player).map_err(|refusal| {
        let problem = Problem::from(&refusal);
        let is_stale = matches!(refusal, Refusal::Over | Refusal::NotYourTurn);
        if is_stale { problem.with_game(GameView::of(&found.seated, Some(caller.player))) } else { problem }
    })?;
    // A practice game that continues a running game between two players would give help in that one.
    if is_contested(&state, game).await? {
        return Err(Problem::new(Code::Forbidden, "the game goes on from one that two players play"));
    }
    budget.charge(PLIES_CHARGED)?;
    let game = if found.has_history { game.clone() } else { with_history(&state, path.0, game.version()).await? };
    let (position, writers) = (game.position().clone(), state.writers.clone());
    let counted = HintOutcomeGuard { metrics: state.metrics.clone(), outcome: HintOutcome::Cancelled };
    let search = move |_| async move { hints::find(position, &writers).await.map_err(|error| problem(&error)) };
    let hint = state.heavy.run(HeavyClass::Hint, budget.turns(), search).await;
    counted.end(&hint);
    let view = HintView::of(&game, &hint?);
    Ok(HttpResponse::Ok().insert_header(NOT_KEPT).insert_header(VARIES).json(view))
}

/// Reads the game with the history of its position, if it is still at this version.
async fn with_history(state: &AppState, id: GameId, version: u32) -> Result<Game, Problem> {
    let found = games::find_whole(&state.db, id).await?.map(|seated| seated.game);
    let same = found.filter(|game| game.version() == version);
    same.ok_or_else(|| Problem::busy("the game has changed meanwhile; try again"))
}

fn problem(error: &HintError) -> Problem {
    match error {
        HintError::TooSlow => Problem::busy("the engine is busy; try again"),
        HintError::Failed(_) => Problem::internal(error),
    }
}

/// Counts the outcome of a hint. If the request is dropped, the outcome is that the hint was cancelled.
struct HintOutcomeGuard {
    metrics: Arc<Metrics>,
    outcome: HintOutcome,
}

impl HintOutcomeGuard {
    fn end(mut self, hint: &Result<Hint, Problem>) {
        self.outcome = if hint.is_ok() { HintOutcome::Done } else { HintOutcome::Failed };
    }
}

impl Drop for HintOutcomeGuard {
    fn drop(&mut self) {
        self.metrics.hint_ended(self.outcome);
    }
}

/// What each move of a position is worth.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Hint)]
struct HintView {
    game_id: Uuid,
    /// The version of the game that it is about.
    #[schema(minimum = 1, example = 7)]
    version: u32,
    /// The ply after which the position stands.
    #[schema(minimum = 0, example = 6)]
    ply: u32,
    /// The side to move.
    side: SideWord,
    /// How many plies ahead all moves were compared; 0 if they are only estimated.
    #[schema(minimum = 0, example = 12)]
    depth: u8,
    /// Every legal move, best first.
    moves: Vec<HintedMoveView>,
}

/// What a move is worth.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = HintedMove)]
struct HintedMoveView {
    #[serde(rename = "move")]
    #[schema(example = "C")]
    mv: String,
    /// The value of the position after it.
    value: ValueView,
    /// The seeds that it loses for the side to move, compared with the best move.
    #[schema(minimum = 0, example = 2.5)]
    loss: f64,
    /// The move, and the best play after it, as far as it is known.
    #[schema(example = json!(["C", "A", "f"]))]
    line: Vec<String>,
}

impl HintView {
    fn of(game: &Game, hint: &Hint) -> Self {
        Self {
            game_id: game.id().0,
            version: game.version(),
            ply: game.ply(),
            side: game.position().turn().into(),
            depth: hint.depth,
            moves: hint.moves.iter().filter_map(HintedMoveView::of).collect(),
        }
    }
}

impl HintedMoveView {
    fn of(hinted: &HintedMove) -> Option<Self> {
        let mv = hinted.line.first()?.to_string();
        let line = hinted.line.iter().map(ToString::to_string).collect();
        Some(Self { mv, value: ValueView::of(hinted.value), loss: seeds(hinted.loss), line })
    }
}
