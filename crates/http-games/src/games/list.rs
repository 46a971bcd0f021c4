//! Lists of games, in pages: binds cursors to the filters of a query, and reads games together by their ids.

use actix_web::{HttpRequest, HttpResponse, get, web::Data};
use mancala_domain::{GameId, PlayerId};
use mancala_http::{
    answer::problem::Problem,
    layers::limits,
    request::{auth::Reader, conditional::IfNoneMatch, extract::read_query},
    state::{
        AppState,
        shared_answers::{Page, Wanted},
    },
};
use serde::Deserialize;
use utoipa::IntoParams;
use uuid::Uuid;

use super::{
    find::find_listed,
    list_query::ListGames,
    page::{self, GAMES_PER_CALL, GamePage, answer, games_of_page, page_key},
};

/// List games
///
/// Newest first: all public games, or those of one player. A caller's own games are listed to the caller, whatever their
/// visibility. A page before the last may be shorter than `limit`, or empty: only `next_cursor` says whether there are more.
///
/// With `ids` and nothing else: these games, in one page.
#[utoipa::path(
    tag = "games",
    operation_id = "list_games",
    params(
        GamesByIds,
        ListGames,
        ("If-None-Match" = Option<String>, Header, description = "The `ETag` of the page that the client has"),
    ),
    responses((status = 200, description = "A page of games", body = GamePage,
        headers(
            ("Link" = String, description = "Where the next page is, if there is one"),
            ("ETag" = String, description = "A digest of the page"),
        )),
        (status = 304, description = "The client's page is current",
            headers(("ETag" = String, description = "The tag that the client has")))),
    security((), ("bearer" = []))
)]
#[get("/games")]
pub async fn list_games(
    state: Data<AppState>,
    reader: Reader,
    known: IfNoneMatch,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    if form_urlencoded::parse(request.query_string().as_bytes()).any(|(name, _)| name == "ids") {
        return list_by_ids(&state, &request, &known, reader.0).await;
    }
    let query: ListGames = read_query(request.query_string())?;
    let limit = games_of_page(&request, query.limit)?;
    let filter = query.filter(reader.0)?;
    // A cursor is bound to the order, the filters and the caller.
    let list = format!("games {} {}", query.sort.cursor_word(), filter.scope());
    let after = query.cursor.as_deref().map(|cursor| page_key(&state.cursors, cursor, &list)).transpose()?;
    let page = page::read(&state, &Wanted { filter: filter.of_any_viewer(), after, limit }).await?;
    let page = page::without_blocked(&state, page, reader.0).await?;
    Ok(answer("/v1/games", &request, &known, &page, reader.0, (&state.cursors, &list)))
}

/// The games with these ids that the caller may see, newest first, as one page.
async fn list_by_ids(
    state: &AppState,
    request: &HttpRequest,
    known: &IfNoneMatch,
    viewer: Option<PlayerId>,
) -> Result<HttpResponse, Problem> {
    let query: GamesByIds = read_query(request.query_string())?;
    let texts: Vec<_> = query.ids.iter().flat_map(|ids| ids.split(',')).collect();
    if texts.len() > IDS_MAX {
        return Err(Problem::invalid_as("wrong_length", "?ids", format!("at most {IDS_MAX} ids")));
    }
    let ids: Result<Vec<_>, _> = texts.iter().map(|id| Uuid::try_parse(id).map(GameId)).collect();
    let mut ids = ids.map_err(|_| Problem::invalid_as("wrong_format", "?ids", "ids are UUIDs, separated by commas"))?;
    limits::count_more(request, u32::try_from(ids.len().saturating_sub(1)).unwrap_or(u32::MAX) / GAMES_PER_CALL)?;
    ids.sort_unstable_by(|one, other| other.cmp(one));
    ids.dedup();
    let ids = &ids;
    let mut games = state.reads.run(|db| async move { find_listed(state, &db, ids).await }).await?;
    games.retain(|known| known.seated.game.is_visible_to(viewer));
    Ok(answer("/v1/games", request, known, &Page { games, next: None }, viewer, (&state.cursors, "ids")))
}

/// The most ids in one request: the games of a page.
const IDS_MAX: usize = 100;

/// Which games to read together.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct GamesByIds {
    /// The games with these ids, at most 100, separated by commas, newest first. Games that do not exist, or that the caller may not
    /// see, are left out. Excludes all other parameters.
    #[param(value_type = Option<Vec<Uuid>>, style = Form, explode = false, min_items = 1, max_items = 100)]
    ids: Option<String>,
}
