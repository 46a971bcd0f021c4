//! A game's events, page by page. `game_stream` sends the same events as a stream.

use actix_web::{HttpRequest, HttpResponse, get, web::Data};
use mancala_db::events::game_log;
use mancala_domain::{GameId, PlayerId};
use mancala_http::{
    answer::{
        cursor::Cursors,
        failures::{Failures, NotFound},
        headers::NOT_KEPT,
        page::{next_link, page_size},
        problem::Problem,
    },
    layers::{limits::RequestClient, observe::Waited},
    request::{
        accept::takes_events,
        extract::{GamePath, Query},
        prefer::{self, Wait},
    },
    state::AppState,
};
use mancala_process::clock::now;
use mancala_wire::{
    live::{Client, Topic},
    view::event::{EventView, Follows, views, what_follows},
};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;
use utoipa::{IntoParams, ToSchema};

use super::{
    game_stream,
    resume::{LAST_EVENT_ID, LastEventId, LogPosition, VARIES},
    tickets,
};
use crate::games::find::{find_visible, with_read_permit};

/// Read or follow a game's events
///
/// Everything that happened to the game, in the order of `seq`, without gaps. Players and spectators who may see the game may read
/// its events.
///
/// With `Accept: text/event-stream`, as a browser's `EventSource` sends it, the answer is a stream of server-sent events. Each has the
/// `seq` as its `id`, the `type` as its `event`, and the event as JSON in `data`. The stream ends some minutes after the game is over,
/// or with its rematch.
///
/// Otherwise the answer is a page. With `Prefer: wait=N` the server holds an empty page until the next event, at most N seconds.
#[utoipa::path(
    tag = "events",
    operation_id = "list_events",
    params(
        ("id" = Uuid, Path, description = "The game's id"),
        ("Last-Event-ID" = Option<String>, Header, description = "The `seq` of the last event that the client has; the \
            answer begins after it. Overrides `after`, which an `EventSource` repeats"),
        ("Prefer" = Option<String>, Header, description = "`wait=N`: how many seconds to wait for an event, at most 50. Ignored \
            unless N is a positive integer, and by streams"),
        ListEvents,
    ),
    responses(
        (status = 200, description = "The events", content(
            (EventPage = "application/json"),
            (String = "text/event-stream", example = "id: 3\nevent: resigned\ndata: \
                {\"game_id\":\"0199…\",\"seq\":3,\"at\":\"2026-11-21T20:15:00.000Z\",\"type\":\"resigned\",\"side\":\"south\"}\n\n"),
        ), headers(
            ("Link" = String, description = "The address of the next page, if there is one"),
            ("Preference-Applied" = String, description = "`wait=N`, if the server was ready to wait that long"))),
        (status = 204, description = "To a client that resumes a stream: the game is over, and no event will follow"),
        Failures<NotFound>,
    ),
    security((), ("bearer" = []))
)]
#[get("/games/{id}/events")]
pub async fn list_events(
    state: Data<AppState>,
    request: HttpRequest,
    path: GamePath,
    query: Query<ListEvents>,
    last: LastEventId,
    wait: Wait,
    client: RequestClient,
) -> Result<HttpResponse, Problem> {
    let (game, query) = (path.0, query.0);
    let caller = tickets::admit(&state, &request, query.ticket.as_deref(), &[Some(game)]).await?;
    let position = query.position(last, game, &state.cursors)?;
    if takes_events(&request) {
        return game_stream::open(state, &request, caller, game, position).await;
    }
    let limit = page_size(query.limit)?;
    page(&state, caller.map(|caller| caller.player), game, position, limit, wait, client.0).await
}

/// A page. If it is empty and the client waits, it is held until the next event.
async fn page(
    state: &AppState,
    reader: Option<PlayerId>,
    id: GameId,
    position: LogPosition,
    limit: u32,
    wait: Wait,
    client: Client,
) -> Result<HttpResponse, Problem> {
    // Subscribe before the game is read, so that no later event is missed.
    let waiting = wait.0.and_then(|wait_s| Some((state.hub.enter(Topic::Game(id), client)?, wait_s)));
    let mut granted_s = waiting.as_ref().map(|(_, wait_s)| *wait_s);
    let mut has_waited = false;
    let mut found = Box::pin(find_visible(state, id, reader)).await?;
    position.check(&found.seated.game)?;
    if let Some((mut waiter, wait_s)) = waiting
        && found.seated.game.version() == position.after
        && what_follows(&found.seated.game, now()) != Follows::Nothing
    {
        drop(found);
        has_waited = true;
        if let Ok(Err(_)) = timeout(prefer::duration(wait_s), waiter.past(position.after)).await {
            granted_s = None;
        }
        found = with_read_permit(state, Box::pin(find_visible(state, id, reader))).await?;
    }
    let game = &found.seated.game;
    let slice = state.reads.run(|db| async move { game_log::read(&db, game, position.after, limit).await }).await?;
    let items = views(&found.seated, &slice)?;
    let last = items.last().map_or(position.after, |event| event.seq);
    let next_cursor = (last < game.version()).then(|| state.cursors.seal(&last.to_string(), &cursor_scope(id)));
    let mut response = HttpResponse::Ok();
    if let Some(cursor) = &next_cursor {
        let path = format!("/v1/games/{}/events", id.0);
        response.insert_header(next_link(&path, &format!("limit={limit}"), cursor));
    }
    if let Some(granted_s) = granted_s {
        response.insert_header(prefer::applied(granted_s));
    }
    let mut answer = response.insert_header(NOT_KEPT).insert_header(VARIES).json(EventPage { items, next_cursor });
    if has_waited {
        answer.extensions_mut().insert(Waited);
    }
    Ok(answer)
}

/// Which events to read.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListEvents {
    /// Only events with a greater `seq`.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 4_294_967_295_i64, default = 0)]
    after: Option<u32>,
    /// The maximum number of events on a page. Streams ignore it.
    #[param(minimum = 1, maximum = 100, default = 20)]
    limit: Option<u32>,
    /// `next_cursor` of the previous page. Excludes `after`.
    #[param(min_length = 1)]
    cursor: Option<String>,
    /// Identifies the caller in place of a token: see `POST /v1/me/stream-tickets`.
    #[param(min_length = 1)]
    ticket: Option<String>,
}

impl ListEvents {
    fn position(&self, last: LastEventId, game: GameId, cursors: &Cursors) -> Result<LogPosition, Problem> {
        let of_query = match (&self.cursor, self.after) {
            (None, after) => LogPosition { after: after.unwrap_or(0), source: "?after" },
            (Some(_), Some(_)) => return Err(Problem::invalid("?after", "a cursor already says where to go on")),
            (Some(cursor), None) => {
                let after = cursors.open(cursor, &cursor_scope(game)).and_then(|seq| seq.parse().ok());
                let invalid = || Problem::invalid("?cursor", "not a cursor of this game's events");
                LogPosition { after: after.ok_or_else(invalid)?, source: "?cursor" }
            }
        };
        let Some(last) = last.0 else { return Ok(of_query) };
        let digits = Some(&last).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        let after = digits.and_then(|digits| digits.parse().ok()).ok_or_else(|| {
            Problem::invalid(LAST_EVENT_ID, "the id of an event of this game is an integer from 0 to 4294967295")
        })?;
        Ok(LogPosition { after, source: LAST_EVENT_ID })
    }
}

/// The list to which a cursor of these pages is bound.
fn cursor_scope(game: GameId) -> String {
    format!("events {}", game.0)
}

/// A page of a game's events.
#[derive(Debug, Serialize, ToSchema)]
struct EventPage {
    items: Vec<EventView>,
    /// The `cursor` of the next page; null if there are no more events so far.
    #[schema(required = true)]
    next_cursor: Option<String>,
}
