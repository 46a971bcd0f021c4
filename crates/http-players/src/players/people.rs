//! Finding people: accounts by the beginning of their names, and recent opponents.

use actix_web::{HttpRequest, HttpResponse, get, web::Data};
use mancala_db::players::people::{self, RecentOpponent};
use mancala_domain::PlayerName;
use mancala_http::{
    answer::{
        headers::{NOT_KEPT, VARIES},
        problem::Problem,
    },
    layers::limits,
    request::{
        extract::{NoQuery, Query},
        player,
    },
    state::{AppState, tokens::Caller},
};
use mancala_wire::view::wire::PlayerView;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

/// The most players that are found at once. More of the name finds the others.
const FOUND_MAX: u32 = 20;

/// The most opponents that are listed.
const OPPONENTS_MAX: u32 = 50;

/// The shortest beginning of a name: there are names of two characters.
const PREFIX_CHARS_MIN: usize = 2;

/// How many calls each of these costs besides the first: they read a hundred rows, and are no calls of a game.
const MORE_CALLS: u32 = 4;

/// Find players by name
///
/// Accounts whose names begin so and that want to be found (`PATCH /v1/me` with `is_findable`), in the order of their names, at most 20. Capitals and
/// how an accent is written make no difference. The caller and players with a block between are left out.
#[utoipa::path(
    tag = "players",
    operation_id = "list_players",
    params(ListPlayers),
    responses((status = 200, description = "The players", body = FoundPlayers)),
    security(("bearer" = []))
)]
#[get("/players")]
pub async fn list_players(
    state: Data<AppState>,
    caller: Caller,
    query: Query<ListPlayers>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let prefix = PlayerName::for_sign_in(&query.0.name_prefix);
    let prefix =
        prefix.filter(|prefix| (PREFIX_CHARS_MIN..=PlayerName::CHARS_MAX).contains(&prefix.key().chars().count()));
    let prefix = prefix.ok_or_else(|| {
        Problem::invalid_as("out_of_range", "?name_prefix", "the beginning of a name has 2 to 32 characters here")
    })?;
    limits::count_more(&request, MORE_CALLS)?;
    player::find(&state, caller).await?;
    let found = people::find_by_prefix(&state.db, &prefix, caller.player, FOUND_MAX).await?;
    let items = found.iter().map(PlayerView::from).collect();
    Ok(HttpResponse::Ok().insert_header(NOT_KEPT).insert_header(VARIES).json(FoundPlayers { items, next_cursor: None }))
}

/// List the caller's recent opponents
///
/// The people of the caller's newest games, active or finished, each once, that of the newest game first; at most 50. The computer and players with a
/// block between are left out.
#[utoipa::path(
    tag = "players",
    operation_id = "list_opponents",
    responses((status = 200, description = "The opponents", body = OpponentList)),
    security(("bearer" = []))
)]
#[get("/me/opponents")]
pub async fn list_opponents(
    state: Data<AppState>,
    caller: Caller,
    _: Query<NoQuery>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    limits::count_more(&request, MORE_CALLS)?;
    player::find(&state, caller).await?;
    let found = people::list_opponents(&state.db, caller.player, OPPONENTS_MAX).await?;
    let items = found.iter().map(OpponentView::of).collect();
    Ok(HttpResponse::Ok().insert_header(NOT_KEPT).insert_header(VARIES).json(OpponentList { items, next_cursor: None }))
}

/// Which players.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListPlayers {
    /// The beginning of their names.
    #[param(min_length = 2, max_length = 32, example = "an")]
    name_prefix: String,
}

/// Players that were found.
#[derive(Serialize, ToSchema)]
struct FoundPlayers {
    items: Vec<PlayerView>,
    /// Always null: more of the name finds the others.
    #[schema(required = true)]
    next_cursor: Option<String>,
}

/// Recent opponents.
#[derive(Serialize, ToSchema)]
struct OpponentList {
    items: Vec<OpponentView>,
    /// Always null: all fit on one page.
    #[schema(required = true)]
    next_cursor: Option<String>,
}

/// A recent opponent.
#[derive(Serialize, ToSchema)]
#[schema(as = RecentOpponent)]
struct OpponentView {
    player: PlayerView,
    /// The newest game of the two.
    game_id: Uuid,
}

impl OpponentView {
    fn of(opponent: &RecentOpponent) -> Self {
        Self { player: PlayerView::from(&opponent.player), game_id: opponent.game.0 }
    }
}
