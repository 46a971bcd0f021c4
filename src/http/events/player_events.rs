//! What has happened in all of the caller's games, page by page; `player_stream` tells the same as it happens.

use actix_web::{HttpRequest, HttpResponse, get, web::Data};
use serde::Deserialize;
use tokio::time::{Instant, timeout_at};
use utoipa::IntoParams;

use super::{
    place::{LAST_EVENT_ID, LastEventId, VARIES},
    player_reading::{Place, PlayerEventPage, Said, begin, read},
    player_stream, tickets,
};
use crate::{
    domain::PlayerId,
    http::{
        answer::{
            cursor::Cursors,
            headers::NOT_KEPT,
            page::{next_link, page_size},
            problem::{Code, Problem},
        },
        games::find::in_turn,
        layers::observe::Waited,
        request::{
            accept::takes_events,
            extract::Query,
            player,
            prefer::{self, Wait},
        },
        state::AppState,
    },
    live::Topic,
};

/// Read or follow the events of all my games
///
/// What happens in the games in which the caller sits, or to which the caller is invited: of each game in the order of `seq`,
/// without gaps, at least once. Without `after` it begins at the present moment. An event that comes again has the `game_id` and
/// `seq` that it had: drop what you have.
///
/// With `Accept: text/event-stream`, as a browser's `EventSource` sends it, the answer is a stream that tells of each event as it
/// happens: its `event` is the `type`, its `data` the event as JSON. Otherwise it is a page; with `Prefer: wait=N` one that would
/// be empty is held until something happens, or for N seconds.
#[utoipa::path(
    tag = "events",
    operation_id = "list_my_events",
    params(
        ListMyEvents,
        ("Last-Event-ID" = Option<String>, Header, description = "The `id` of the last event that the client has: takes the place \
            of `after`. An `EventSource` sends it when it comes back"),
        ("Prefer" = Option<String>, Header, description = "`wait=N` (RFC 7240): hold an empty page until something happens, \
            at most N seconds, at most 50"),
    ),
    responses(
        (status = 200, description = "A page of events, or a stream of them", content(
            (PlayerEventPage = "application/json"),
            (String = "text/event-stream", example = "id: q83v…\nevent: resigned\ndata: {\"id\":\"q83v…\",\"game_id\":\"0199…\",\
                \"seq\":3,\"at\":\"2026-11-21T20:15:00.000Z\",\"type\":\"resigned\",\"side\":\"south\"}\n\n"),
        ), headers(
            ("Link" = String, description = "Where the next page is, if there is one"),
            ("Preference-Applied" = String, description = "`wait=N`, if the server would have waited so long"))),
    ),
    security((), ("bearer" = []))
)]
#[get("/me/events")]
pub async fn list_my_events(
    state: Data<AppState>,
    request: HttpRequest,
    query: Query<ListMyEvents>,
    last: LastEventId,
    wait: Wait,
) -> Result<HttpResponse, Problem> {
    let query = query.0;
    let caller = tickets::admit(&state, &request, query.ticket.as_deref(), None).await?;
    let caller = caller.ok_or_else(|| Problem::new(Code::Unauthenticated, "this call needs an access token"))?;
    let place = query.place(&last, caller.player, &state.cursors)?;
    if takes_events(&request) {
        return player_stream::open(state, &request, caller, place).await;
    }
    player::find(&state, caller).await?;
    page(&state, caller.player, place, page_size(query.limit)?, wait).await
}

/// A page, held back until there is something on it if the client would wait.
async fn page(
    state: &AppState,
    player: PlayerId,
    place: Option<Said>,
    limit: u32,
    wait: Wait,
) -> Result<HttpResponse, Problem> {
    // Before anything is read, so that nothing that happens from then on is missed.
    let waiting = wait.0.and_then(|wait_s| Some((state.hub.enter(Topic::Player(player))?, wait_s)));
    let mut granted_s = waiting.as_ref().map(|(_, wait_s)| *wait_s);
    let mut has_waited = false;
    let mut known = waiting.as_ref().map_or(0, |(waiter, _)| waiter.heard());
    let mut place = begin(state, place).await?;
    let mut portion = in_turn(state, Box::pin(read(state, player, &place, limit))).await?;
    if let Some((mut waiter, wait_s)) = waiting {
        let until = Instant::now() + prefer::duration(wait_s);
        while portion.events.is_empty() && portion.is_all {
            has_waited = true;
            place = portion.place.clone();
            match timeout_at(until, waiter.past(known)).await {
                Ok(Ok(heard)) => known = heard,
                Ok(Err(_)) => {
                    granted_s = None;
                    break;
                }
                Err(_) => break,
            }
            portion = in_turn(state, Box::pin(read(state, player, &place, limit))).await?;
        }
    }
    let last_event_id = portion.place.seal(&state.cursors, player);
    let next_cursor = (!portion.is_all).then(|| last_event_id.clone());
    let mut response = HttpResponse::Ok();
    if let Some(cursor) = &next_cursor {
        response.insert_header(next_link("/v1/me/events", &format!("limit={limit}"), cursor));
    }
    if let Some(granted_s) = granted_s {
        response.insert_header(prefer::applied(granted_s));
    }
    let page = PlayerEventPage { items: portion.events, next_cursor, last_event_id };
    let mut answer = response.insert_header(NOT_KEPT).insert_header(VARIES).json(page);
    if has_waited {
        answer.extensions_mut().insert(Waited);
    }
    Ok(answer)
}

/// Which events to read.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListMyEvents {
    /// Only events after the one of this `id`, or after a `last_event_id`. Without it, those that happen from now on.
    #[param(min_length = 1)]
    after: Option<String>,
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

impl ListMyEvents {
    fn place(&self, last: &LastEventId, player: PlayerId, cursors: &Cursors) -> Result<Option<Said>, Problem> {
        let (text, by) = match (&last.0, &self.cursor, &self.after) {
            (_, Some(_), Some(_)) => return Err(Problem::invalid("?after", "a cursor already says where to go on")),
            (Some(last), _, _) => (last, LAST_EVENT_ID),
            (None, Some(cursor), None) => (cursor, "?cursor"),
            (None, None, Some(after)) => (after, "?after"),
            (None, None, None) => return Ok(None),
        };
        let invalid = || Problem::invalid(by, "not an id of an event of the caller's games");
        let place = Place::open(text, cursors, player).ok_or_else(invalid)?;
        Ok(Some(Said { place, by }))
    }
}
