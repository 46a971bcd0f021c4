//! The players of an app: created and renamed by the app's own ids, read, listed and erased.

use std::future::{Ready, ready};

use actix_web::{FromRequest, HttpRequest, HttpResponse, delete, dev::Payload, get, http::header, put, web::Data};
use mancala_db::{
    apps::players::{self, AppPlayer, Inserted},
    operators::acts,
};
use mancala_domain::{ExternalId, Player, PlayerId, PlayerKind, PlayerName};
use mancala_http::app_caller::AppCaller;
use mancala_http::{
    answer::{
        failures::{Failures, NotFound},
        headers::{NOT_KEPT, VARIES},
        page::{next_link, page_size, place_after, take_page},
        problem::Problem,
    },
    layers::limits,
    request::{
        extract::{Body, NoQuery, Query},
        names::parse_name,
    },
    state::AppState,
};
use mancala_process::clock::now;
use mancala_wire::view::wire::{PlayerView, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::players::me::{NAME_KEPT, erase};

/// How many times a player is looked up and stored, if other calls create and erase it at the same time.
const ATTEMPTS_MAX: u32 = 4;

/// Write a player of the app
///
/// Creates the player with this id of the app, or gives it another name. The same request again changes nothing, so send it at every sign-in.
/// The player is a guest to others: several may have the same name. For 7 days after an operator of the server has given a name, the player keeps it.
#[utoipa::path(
    tag = "apps",
    operation_id = "write_app_player",
    params(ExternalIdParam),
    request_body(content = WriteAppPlayer, example = json!({"name": "Ana"})),
    responses(
        (status = 200, description = "The player, which the app had before", body = AppPlayerView),
        (status = 201, description = "The new player", body = AppPlayerView,
            headers(("Location" = String, description = "The player's address for the app"))),
    ),
    security(("app_key" = []))
)]
#[put("/apps/me/players/{external_id}")]
pub async fn write_app_player(
    state: Data<AppState>,
    caller: AppCaller,
    path: ExternalIdPath,
    _: Query<NoQuery>,
    body: Body<WriteAppPlayer>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let (id, name) = (path.0, body.0.name);
    for _ in 0..ATTEMPTS_MAX {
        if let Some(found) = players::find(&state.db, caller.app.id, &id).await? {
            // A player keeps a name that was reserved later.
            if found.player.name.as_str() == name {
                return Ok(shown(&found));
            }
            let name = parse_name(&name, &state.reserved_names)?;
            // The app may send the former name at each sign-in.
            if acts::renamed_since(&state.db, found.player.id, now() - NAME_KEPT).await?.is_some() {
                return Ok(shown(&found));
            }
            if players::rename(&state.db, &found.player, &name).await? {
                state.recent.forget(found.player.id);
                return Ok(shown(&AppPlayer { player: Player { name, ..found.player }, ..found }));
            }
            continue;
        }
        let new = new_player(&id, parse_name(&name, &state.reserved_names)?);
        limits::count_app_player(&request, caller.app.id, caller.app.quotas.players_per_day)?;
        match players::insert(&state.db, caller.app.id, &caller.key, &new).await? {
            Inserted::Stored => {
                let address = format!("/v1/apps/me/players/{}", in_path(&id));
                let mut response = HttpResponse::Created();
                response.insert_header((header::LOCATION, address)).insert_header(NOT_KEPT).insert_header(VARIES);
                return Ok(response.json(AppPlayerView::of(&new)));
            }
            // A concurrent call was first.
            Inserted::Exists => {}
            // Unless the key is void, the app was enabled again meanwhile.
            Inserted::NoApp => caller.confirm(&state).await?,
        }
    }
    Err(Problem::busy("too many changes of this player at once; try again"))
}

/// An external id as a segment of a path. Among its characters, only `|` must be escaped there.
fn in_path(id: &ExternalId) -> String {
    id.as_str().replace('|', "%7C")
}

pub(super) fn new_player(id: &ExternalId, name: PlayerName) -> AppPlayer {
    let player = Player { id: PlayerId(Uuid::now_v7()), kind: PlayerKind::Guest, name, created_at: now() };
    AppPlayer { external_id: id.clone(), player }
}

fn shown(player: &AppPlayer) -> HttpResponse {
    HttpResponse::Ok().insert_header(NOT_KEPT).insert_header(VARIES).json(AppPlayerView::of(player))
}

/// Get a player of the app
#[utoipa::path(
    tag = "apps",
    operation_id = "get_app_player",
    params(ExternalIdParam),
    responses(
        (status = 200, description = "The player", body = AppPlayerView),
        Failures<NotFound>,
    ),
    security(("app_key" = []))
)]
#[get("/apps/me/players/{external_id}")]
pub async fn get_app_player(
    state: Data<AppState>,
    caller: AppCaller,
    path: ExternalIdPath,
    _: Query<NoQuery>,
) -> Result<HttpResponse, Problem> {
    let found = players::find(&state.db, caller.app.id, &path.0).await?;
    Ok(shown(&found.ok_or_else(no_app_player)?))
}

/// List the players of the app
///
/// Ordered by their external ids, as ASCII.
#[utoipa::path(
    tag = "apps",
    operation_id = "list_app_players",
    params(ListAppPlayers),
    responses((status = 200, description = "A page of players", body = AppPlayerPage,
        headers(("Link" = String, description = "The address of the next page, if there is one")))),
    security(("app_key" = []))
)]
#[get("/apps/me/players")]
pub async fn list_app_players(
    state: Data<AppState>,
    caller: AppCaller,
    query: Query<ListAppPlayers>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let limit = page_size(query.0.limit)?;
    let list = format!("app players {}", caller.app.id.0);
    let after = place_after::<ExternalId>(&state.cursors, query.0.cursor.as_deref(), &list)?;
    let mut found = players::list(&state.db, caller.app.id, after.as_ref(), limit + 1).await?;
    let last = take_page(&mut found, limit);
    let next_cursor = last.map(|player| state.cursors.seal(player.external_id.as_str(), &list));
    let mut response = HttpResponse::Ok();
    if let Some(cursor) = &next_cursor {
        response.insert_header(next_link("/v1/apps/me/players", request.query_string(), cursor));
    }
    let items = found.iter().map(AppPlayerView::of).collect();
    Ok(response.insert_header(NOT_KEPT).insert_header(VARIES).json(AppPlayerPage { items, next_cursor }))
}

/// Erase a player of the app
///
/// As the player itself would by `DELETE /v1/me`: the name and what is the player's alone are gone, and the games stay with a deleted player.
/// The app's id of the player is deleted, so a later player with this id is another one. The request is idempotent: a retry is 204.
#[utoipa::path(
    tag = "apps",
    operation_id = "delete_app_player",
    params(ExternalIdParam),
    responses((status = 204, description = "The app has no player with this id")),
    security(("app_key" = []))
)]
#[delete("/apps/me/players/{external_id}")]
pub async fn delete_app_player(
    state: Data<AppState>,
    caller: AppCaller,
    path: ExternalIdPath,
    _: Query<NoQuery>,
) -> Result<HttpResponse, Problem> {
    if let Some(found) = players::find(&state.db, caller.app.id, &path.0).await? {
        erase(&state, found.player.id).await?;
    }
    Ok(HttpResponse::NoContent().finish())
}

pub fn no_app_player() -> Problem {
    Problem::not_found("the app has no player with this id")
}

/// The external id that the path names.
#[derive(Clone, Debug)]
pub struct ExternalIdPath(pub ExternalId);

impl FromRequest for ExternalIdPath {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let id = request.match_info().get("external_id").unwrap_or_default().parse();
        ready(id.map(Self).map_err(|error| Problem::invalid("external_id", format!("{error}"))))
    }
}

/// Which player.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "it describes the parameter; ExternalIdPath reads it")]
pub struct ExternalIdParam {
    /// The app's own id of the player: ASCII letters, digits and `._~:@|=-`; not `.` or `..`.
    #[param(min_length = 1, max_length = 128, pattern = "^[A-Za-z0-9._~:@|=-]+$", example = "user-4711")]
    external_id: String,
}

/// The player to create or to change.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteAppPlayer {
    /// What others see.
    #[schema(min_length = 1, max_length = 32, example = "Ana")]
    name: String,
}

/// Which page.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListAppPlayers {
    /// How many at most.
    #[param(minimum = 1, maximum = 100, default = 20)]
    limit: Option<u32>,
    /// Where to go on: `next_cursor` of the page before.
    #[param(min_length = 1)]
    cursor: Option<String>,
}

/// A player of an app.
#[derive(Serialize, ToSchema)]
#[schema(as = AppPlayer)]
struct AppPlayerView {
    #[schema(example = "user-4711")]
    external_id: String,
    player: PlayerView,
    /// When the player was created.
    since: Timestamp,
}

impl AppPlayerView {
    fn of(found: &AppPlayer) -> Self {
        let AppPlayer { external_id, player } = found;
        Self {
            external_id: external_id.to_string(),
            player: PlayerView::from(player),
            since: Timestamp(player.created_at),
        }
    }
}

/// A page of players of an app.
#[derive(Serialize, ToSchema)]
struct AppPlayerPage {
    items: Vec<AppPlayerView>,
    /// The `cursor` of the next page; null on the last page.
    #[schema(required = true)]
    next_cursor: Option<String>,
}
