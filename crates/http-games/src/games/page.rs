//! Pages of games: reads them once for all requests of a moment, writes them, and makes their cursors. Knows no filter's parameters.

use std::{collections::BTreeSet, sync::Arc};

use actix_web::{
    HttpRequest, HttpResponse,
    http::header::{self, ContentType},
};
use mancala_db::{
    DbError, Reads,
    lists::{self, PageKey},
    players::blocks,
};
use mancala_domain::{Game, GameId, PlayerId, Status};
use mancala_http::{
    answer::{
        cursor::Cursors,
        headers::{NOT_KEPT, VARIES},
        page::{Moment, next_link, page_size},
        problem::Problem,
    },
    layers::limits,
    request::conditional::IfNoneMatch,
    state::{
        AppState,
        shared_answers::{Page, Wanted},
    },
};
use mancala_wire::view::game::GameView;
use utoipa::ToSchema;

use super::find::find_listed;

/// Games that cost as much of the rate limit as one call.
pub const GAMES_PER_CALL: u32 = 20;

/// Reads a page, or shares the read of other requests that want the same one.
pub async fn read(state: &AppState, wanted: &Wanted) -> Result<Arc<Page>, DbError> {
    let read = |db| async move {
        let listed = lists::list(&db, &wanted.filter, wanted.after, wanted.limit).await?;
        Ok(Arc::new(Page { games: find_listed(state, &db, &listed.ids()).await?, next: listed.next }))
    };
    state.pages.run(wanted.clone(), async || state.reads.run(read).await).await
}

/// The page for one reader: without open games of players if a block lies between them and the reader. The page itself is not changed,
/// because other requests may share it.
pub async fn without_blocked(
    state: &AppState,
    page: Arc<Page>,
    reader: Option<PlayerId>,
) -> Result<Arc<Page>, DbError> {
    let games = page.games.iter().map(|known| &known.seated.game);
    let blocked = blocked_in(&state.reads, games, reader).await?;
    if blocked.is_empty() {
        return Ok(page);
    }
    let shown = page.games.iter().filter(|known| !is_blocked(&known.seated.game, &blocked)).cloned();
    Ok(Arc::new(Page { games: shown.collect(), next: page.next }))
}

/// The players that wait in open games and between whom and the reader there is a block. Without open games of others it takes no query.
pub async fn blocked_in<'a>(
    reads: &Reads,
    games: impl Iterator<Item = &'a Game>,
    reader: Option<PlayerId>,
) -> Result<Vec<PlayerId>, DbError> {
    let Some(reader) = reader else { return Ok(vec![]) };
    let waiting: BTreeSet<_> = games.filter_map(waiting_in).filter(|player| *player != reader).collect();
    if waiting.is_empty() {
        return Ok(vec![]);
    }
    let waiting = &Vec::from_iter(waiting);
    reads.run(|db| async move { blocks::list_between(&db, reader, waiting).await }).await
}

/// Whether one of these players waits in the game.
pub fn is_blocked(game: &Game, blocked: &[PlayerId]) -> bool {
    waiting_in(game).is_some_and(|player| blocked.contains(&player))
}

/// The player that waits in an open game for another one.
fn waiting_in(game: &Game) -> Option<PlayerId> {
    (game.status() == Status::Open).then(|| game.players()[game.terms().creator]).flatten()
}

/// The number of games that a page may have. It is charged: a long page costs as much as several short ones.
pub fn games_of_page(request: &HttpRequest, limit: Option<u32>) -> Result<u32, Problem> {
    let limit = page_size(limit)?;
    limits::count_more(request, (limit - 1) / GAMES_PER_CALL)?;
    Ok(limit)
}

/// The response with a page, and the link to the next one; 304 if the client has the page.
pub fn answer(
    path: &str,
    request: &HttpRequest,
    known: &IfNoneMatch,
    page: &Page,
    viewer: Option<PlayerId>,
    (cursors, list): (&Cursors, &str),
) -> HttpResponse {
    let next_cursor = page.next.map(|key| cursors.seal(&cursor_text(key), list));
    let (json, etag) = page.json(viewer, next_cursor.as_deref(), cursors.scope(list));
    let is_news = !known.has(&etag);
    let mut response = if is_news { HttpResponse::Ok() } else { HttpResponse::NotModified() };
    if let Some(cursor) = &next_cursor {
        response.insert_header(next_link(path, request.query_string(), cursor));
    }
    response.insert_header((header::ETAG, etag)).insert_header(NOT_KEPT).insert_header(VARIES);
    if is_news { response.content_type(ContentType::json()).body(json) } else { response.finish() }
}

/// The key in a cursor, after which the page begins.
pub fn page_key(cursors: &Cursors, cursor: &str, list: &str) -> Result<PageKey, Problem> {
    let key = cursors.open(cursor, list).and_then(|text| text.parse().ok());
    let key = key.map(|Moment { at, id }| PageKey { at, id: GameId(id) });
    key.ok_or_else(|| Problem::invalid("?cursor", "not a cursor of this list with these filters"))
}

/// A key as a cursor holds it.
pub fn cursor_text(key: PageKey) -> String {
    Moment { at: key.at, id: key.id.0 }.to_string()
}

/// A page of games.
// Only the schema: `answer` joins the JSON of cached games.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes the answer")]
pub struct GamePage {
    items: Vec<GameView>,
    /// What `cursor` must be to get the next page; null on the last.
    #[schema(required = true)]
    next_cursor: Option<String>,
}
