//! The games that the caller imported: listing them with the rest of the quota, and deleting them.

use actix_web::{HttpRequest, HttpResponse, delete, get, web::Data};
use mancala_db::{
    lists::{self, Filter, GameScope, Order, Statuses},
    records::{deletion, usage},
};
use mancala_domain::{Change, GameId, Opponent, PlayerId, Refusal};
use mancala_http::{
    answer::{
        code::Code,
        failures::{Failures, Forbidden, NotFound},
        headers::{NOT_KEPT, VARIES},
        page::next_link,
        problem::Problem,
    },
    request::{
        extract::{GamePath, NoQuery, Query},
        player,
    },
    state::{AppState, tokens::Caller},
};
use mancala_wire::view::game::GameView;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::cost::Cost;
use crate::games::{
    find::find_visible,
    page::{cursor_text, games_of_page, page_key},
};

/// Plies whose deletion costs as much of the rate limit as one call.
const PLIES_PER_CALL: usize = 500;

/// What a batch of deleted games costs, in calls: as many as its plies would one by one.
const CALLS_A_BATCH: usize = 10;

/// How many batches one request deletes: some seconds' work.
const BATCHES_MAX: usize = 10;

/// List the caller's imported games
///
/// Newest first, whatever their visibility, with what the caller has stored by imports and may store.
#[utoipa::path(
    tag = "records",
    operation_id = "list_imports",
    params(ListImports),
    responses((status = 200, description = "A page of games", body = ImportPage,
        headers(("Link" = String, description = "Where the next page is, if there is one")))),
    security(("bearer" = []))
)]
#[get("/me/imports")]
pub async fn list_imports(
    state: Data<AppState>,
    caller: Caller,
    query: Query<ListImports>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let query = query.0;
    let limit = games_of_page(&request, query.limit)?;
    let own = player::find(&state, caller).await?.player;
    let list = format!("imports {}", caller.player.0);
    let after = query.cursor.as_deref().map(|cursor| page_key(&state.cursors, cursor, &list)).transpose()?;
    let imports = &all_imports(caller.player);
    let page =
        state.reads.run(|db| async move { lists::list(&db, imports, after, limit).await?.load(&db).await }).await?;
    let next_cursor = page.next.map(|key| state.cursors.seal(&cursor_text(key), &list));
    let mut response = HttpResponse::Ok();
    if let Some(cursor) = &next_cursor {
        response.insert_header(next_link("/v1/me/imports", request.query_string(), cursor));
    }
    let (used, quota) = (usage::find(&state.db, caller.player).await?, state.settings.import_quotas.of(own.kind));
    Ok(response.insert_header(NOT_KEPT).insert_header(VARIES).json(ImportPage {
        items: page.games.iter().map(|seated| GameView::of(seated, Some(caller.player))).collect(),
        next_cursor,
        usage: ImportUsage { games: used.games, games_max: quota.games, plies: used.plies, plies_max: quota.plies },
    }))
}

/// All games that a player imported, newest first.
const fn all_imports(importer: PlayerId) -> Filter {
    Filter {
        whose: GameScope::ImportedBy(importer),
        status: Statuses::Any,
        variant: None,
        preset: None,
        clock: None,
        open_to: None,
        ended: None,
        reason: None,
        plies: (0, i32::MAX),
        imported: None,
        analysed: None,
        practice: None,
        since: None,
        until: None,
        order: Order::Created,
        viewer: Some(importer),
    }
}

/// Delete the caller's imported games
///
/// Deletes the newest ones, a bounded number with each request. Repeat the request until `remaining` is 0. Everything
/// of each game goes: its events, all notes on it, its analysis, and its part in the explorer. So do players that are
/// left without a game. Ten calls of the rate limit delete up to 50 games.
#[utoipa::path(
    tag = "records",
    operation_id = "delete_imports",
    responses((status = 200, description = "How many games were deleted, and how many are left", body = DeletedImports)),
    security(("bearer" = []))
)]
#[delete("/me/imports")]
pub async fn delete_imports(
    state: Data<AppState>,
    caller: Caller,
    _: Query<NoQuery>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    player::find(&state, caller).await?;
    let (mut cost, mut deleted) = (Cost::of_one_call(), 0);
    for batch in 1..=BATCHES_MAX {
        match cost.raise(&request, batch * CALLS_A_BATCH) {
            Ok(()) => {}
            Err(refused) if deleted == 0 => return Err(refused),
            // The answer tells the client how many are left, and the client continues later.
            Err(_) => break,
        }
        let games = deletion::delete_some(&state.db, caller.player).await?;
        for game in &games {
            forget(&state, *game);
        }
        if games.is_empty() {
            break;
        }
        deleted += games.len();
    }
    let remaining = usage::find(&state.db, caller.player).await?.games;
    let answer = DeletedImports { deleted, remaining };
    Ok(HttpResponse::Ok().insert_header(NOT_KEPT).insert_header(VARIES).json(answer))
}

/// Delete an imported game
///
/// Only a game that the caller imported: one that was played here is never deleted. Everything of it goes, as with `DELETE /v1/me/imports`.
/// A game that goes on from it keeps its start.
///
/// - `forbidden`: the caller did not import the game
/// - `not_found`: no such game, or no longer
#[utoipa::path(
    tag = "records",
    operation_id = "delete_game",
    params(("id" = Uuid, Path, description = "The game's id")),
    responses(
        (status = 204, description = "The game is deleted"),
        Failures<(Forbidden, NotFound)>,
    ),
    security(("bearer" = []))
)]
#[delete("/games/{id}")]
pub async fn delete_game(
    state: Data<AppState>,
    // The path comes first: a path such as `/v1/games/export` names no game, also for a caller without a token.
    path: GamePath,
    caller: Caller,
    _: Query<NoQuery>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    player::find(&state, caller).await?;
    let found = find_visible(&state, path.0, Some(caller.player)).await?;
    let game = &found.seated.game;
    if game.terms().opponent != (Opponent::Imported { by: Some(caller.player) }) {
        return Err(Problem::new(Code::Forbidden, "only a game that the caller imported can be deleted"));
    }
    let plies = usize::try_from(game.ply()).unwrap_or(usize::MAX);
    Cost::of_one_call().raise(&request, plies.div_ceil(PLIES_PER_CALL))?;
    let deleted = deletion::delete(&state.db, caller.player, path.0).await?;
    forget(&state, path.0);
    if deleted { Ok(HttpResponse::NoContent().finish()) } else { Err(Problem::from(&Refusal::Unknown)) }
}

/// Evicts a deleted game, and wakes the requests that wait for it, here and in the other processes. They find no game.
fn forget(state: &AppState, game: GameId) {
    state.recent.remove(game);
    state.hub.stored(Change { game, version: u32::MAX, people: [None; 2] });
}

/// Which page.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListImports {
    /// How many at most.
    #[param(minimum = 1, maximum = 100, default = 20)]
    limit: Option<u32>,
    /// Where to go on: `next_cursor` of the page before.
    #[param(min_length = 1)]
    cursor: Option<String>,
}

/// A page of imported games.
#[derive(Debug, Serialize, ToSchema)]
struct ImportPage {
    items: Vec<GameView>,
    /// The `cursor` of the next page; null on the last one.
    #[schema(required = true)]
    next_cursor: Option<String>,
    usage: ImportUsage,
}

/// What the caller has stored by imports, and may store.
#[derive(Debug, Serialize, ToSchema)]
struct ImportUsage {
    #[schema(minimum = 0, example = 42)]
    games: u32,
    #[schema(minimum = 0, example = 5000)]
    games_max: u32,
    /// The plies of all these games, including those that were taken back.
    #[schema(minimum = 0, example = 1800)]
    plies: u32,
    #[schema(minimum = 0, example = 250_000)]
    plies_max: u32,
}

/// The outcome of a deletion.
#[derive(Debug, Serialize, ToSchema)]
struct DeletedImports {
    /// The games that this request deleted.
    #[schema(minimum = 0, example = 42)]
    deleted: usize,
    /// The imported games that are left.
    #[schema(minimum = 0, example = 0)]
    remaining: u32,
}
