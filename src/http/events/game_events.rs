//! Events: what has happened to a game, page by page; `event_stream` tells the same as it happens.

use actix_web::{HttpRequest, HttpResponse, get, web::Data};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;
use utoipa::{IntoParams, ToSchema};

use super::{
    game_stream,
    place::{LAST_EVENT_ID, LastEventId, Place, VARIES},
    tickets,
};
use crate::{
    clock::now,
    db::events::game_log,
    domain::{GameId, PlayerId},
    http::{
        answer::{
            cursor::Cursors,
            headers::NOT_KEPT,
            page::{next_link, page_size},
            problem::Problem,
        },
        games::find::{find_visible, in_turn},
        layers::observe::Waited,
        request::{
            accept::takes_events,
            extract::{GamePath, Query},
            prefer::{self, Wait},
        },
        state::AppState,
        view::event::{EventView, Follows, views, what_follows},
    },
    live::Topic,
};

/// Read or follow a game's events
///
/// Everything that happened to the game, in the order of `seq`, without gaps: to those who see the game, as an opponent or as a
/// spectator.
///
/// With `Accept: text/event-stream`, as a browser's `EventSource` sends it, the answer is a stream that tells of each event as it
/// happens: its `id` is the `seq`, its `event` the `type`, its `data` the event as JSON. It ends some minutes after a game that
/// is over, or with its rematch. Otherwise it is a page; with `Prefer: wait=N` one that would be empty is held until something happens, or for N
/// seconds.
#[utoipa::path(
    tag = "events",
    operation_id = "list_events",
    params(
        ("id" = Uuid, Path, description = "The game's id"),
        ("Last-Event-ID" = Option<String>, Header, description = "The `seq` of the last event that the client has: it goes on after \
            that. It counts more than `after`, which an `EventSource` repeats"),
        ("Prefer" = Option<String>, Header, description = "`wait=N`: how many seconds to wait for an event, at most 50. Ignored if it \
            is no positive integer, and by a stream", example = "wait=50"),
        ListEvents,
    ),
    responses(
        (status = 200, description = "The events", content(
            (EventPage = "application/json"),
            (String = "text/event-stream", example = "id: 3\nevent: resigned\ndata: \
                {\"game_id\":\"0199…\",\"seq\":3,\"at\":\"2026-11-21T20:15:00.000Z\",\"type\":\"resigned\",\"side\":\"south\"}\n\n"),
        ), headers(
            ("Link" = String, description = "Where the next page is, if there is one"),
            ("Preference-Applied" = String, description = "`wait=N`, if the server would have waited so long"))),
        (status = 204, description = "To who would go on with a stream: the game is over, and nothing is expected after that event"),
        (status = 404, description = "`not_found`"),
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
) -> Result<HttpResponse, Problem> {
    let (game, query) = (path.0, query.0);
    let caller = tickets::admit(&state, &request, query.ticket.as_deref(), Some(game)).await?;
    let place = query.place(last, game, &state.cursors)?;
    if takes_events(&request) {
        return game_stream::open(state, &request, caller, game, place).await;
    }
    let limit = page_size(query.limit)?;
    page(&state, caller.map(|caller| caller.player), game, place, limit, wait).await
}

/// A page, held back until there is something on it if the client would wait.
async fn page(
    state: &AppState,
    reader: Option<PlayerId>,
    id: GameId,
    place: Place,
    limit: u32,
    wait: Wait,
) -> Result<HttpResponse, Problem> {
    // Before the game is read, so that nothing that happens from then on is missed.
    let waiting = wait.0.and_then(|wait_s| Some((state.hub.enter(Topic::Game(id))?, wait_s)));
    let mut granted_s = waiting.as_ref().map(|(_, wait_s)| *wait_s);
    let mut has_waited = false;
    let mut found = Box::pin(find_visible(state, id, reader)).await?;
    place.check(&found.seated.game)?;
    if let Some((mut waiter, wait_s)) = waiting
        && found.seated.game.version() == place.after
        && what_follows(&found.seated.game, now()) != Follows::Nothing
    {
        drop(found);
        has_waited = true;
        if let Ok(Err(_)) = timeout(prefer::duration(wait_s), waiter.past(place.after)).await {
            granted_s = None;
        }
        found = in_turn(state, Box::pin(find_visible(state, id, reader))).await?;
    }
    let game = &found.seated.game;
    let part = game_log::read(&state.db, game, place.after, limit).await?;
    let items = views(&found.seated, &part)?;
    let last = items.last().map_or(place.after, |event| event.seq);
    let next_cursor = (last < game.version()).then(|| state.cursors.seal(&last.to_string(), &list_of(id)));
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
    /// Only events after the one of this `seq`.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 4_294_967_295_i64, default = 0)]
    after: Option<u32>,
    /// How many at most on a page. A stream has no end.
    #[param(minimum = 1, maximum = 100, default = 20)]
    limit: Option<u32>,
    /// Where to go on: `next_cursor` of the page before. Not together with `after`.
    #[param(min_length = 1)]
    cursor: Option<String>,
    /// Says who calls, in place of a token: see `POST /v1/me/stream-tickets`.
    #[param(min_length = 1)]
    ticket: Option<String>,
}

impl ListEvents {
    fn place(&self, last: LastEventId, game: GameId, cursors: &Cursors) -> Result<Place, Problem> {
        let of_query = match (&self.cursor, self.after) {
            (None, after) => Place { after: after.unwrap_or(0), said_by: "?after" },
            (Some(_), Some(_)) => return Err(Problem::invalid("?after", "a cursor already says where to go on")),
            (Some(cursor), None) => {
                let after = cursors.open(cursor, &list_of(game)).and_then(|seq| seq.parse().ok());
                let invalid = || Problem::invalid("?cursor", "not a cursor of this game's events");
                Place { after: after.ok_or_else(invalid)?, said_by: "?cursor" }
            }
        };
        let Some(last) = last.0 else { return Ok(of_query) };
        let digits = Some(&last).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        let after = digits.and_then(|digits| digits.parse().ok()).ok_or_else(|| {
            Problem::invalid(LAST_EVENT_ID, "the id of an event of this game is an integer from 0 to 4294967295")
        })?;
        Ok(Place { after, said_by: LAST_EVENT_ID })
    }
}

fn list_of(game: GameId) -> String {
    format!("events {}", game.0)
}

/// A page of a game's events.
#[derive(Debug, Serialize, ToSchema)]
struct EventPage {
    items: Vec<EventView>,
    /// What `cursor` must be to get the next page; null if there are no more events by now.
    #[schema(required = true)]
    next_cursor: Option<String>,
}
