//! The events of all the caller's games, page by page. `player_stream` sends the same events as a stream.

use actix_web::{HttpRequest, HttpResponse, get, web::Data};
use mancala_domain::PlayerId;
use mancala_http::{
    answer::{
        code::Code,
        cursor::Cursors,
        headers::NOT_KEPT,
        page::{next_link, page_size},
        problem::Problem,
    },
    layers::{limits::RequestClient, observe::Waited},
    request::{
        accept::takes_events,
        extract::Query,
        player,
        prefer::{self, Wait},
    },
    state::AppState,
};
use mancala_wire::live::{Client, Topic};
use serde::Deserialize;
use tokio::time::{Instant, timeout_at};
use utoipa::IntoParams;

use super::{
    player_position::FeedPosition,
    player_reading::{PlayerEventPage, ResumeFrom, begin, read, read_named},
    player_stream,
    resume::{LAST_EVENT_ID, LastEventId, VARIES},
    tickets,
};
use crate::games::find::with_read_permit;

/// Read or follow the events of all my games
///
/// The events of the games in which the caller sits, or to which the caller is invited. The events of each game come in the order of
/// `seq`, without gaps, at least once. A repeated event has the same `game_id` and `seq`: drop those that you have. Without `after`
/// the events begin at the present moment.
///
/// With `Accept: text/event-stream`, as a browser's `EventSource` sends it, the answer is a stream of server-sent events. Each has the
/// `type` as its `event`, and the event as JSON in `data`. Otherwise the answer is a page. With `Prefer: wait=N` the server holds an
/// empty page until the next event, at most N seconds.
#[utoipa::path(
    tag = "events",
    operation_id = "list_my_events",
    params(
        ListMyEvents,
        ("Last-Event-ID" = Option<String>, Header, description = "The `id` of the last event that the client has: overrides \
            `after`. An `EventSource` sends it when it reconnects"),
        ("Prefer" = Option<String>, Header, description = "`wait=N` (RFC 7240): hold an empty page until the next event, \
            at most N seconds, at most 50"),
    ),
    responses(
        (status = 200, description = "A page of events, or a stream of them", content(
            (PlayerEventPage = "application/json"),
            (String = "text/event-stream", example = "id: q83v…\nevent: resigned\n\
                data: {\"id\":\"q83v…\",\"game_id\":\"0199…\",\"seq\":3,\"at\":\"2026-11-21T20:15:00.000Z\",\"type\":\"resigned\",\"side\":\"south\"}\n\n"),
        ), headers(
            ("Link" = String, description = "The address of the next page, if there is one"),
            ("Preference-Applied" = String, description = "`wait=N`, if the server was ready to wait that long"))),
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
    client: RequestClient,
) -> Result<HttpResponse, Problem> {
    let query = query.0;
    let caller = tickets::admit(&state, &request, query.ticket.as_deref(), &[None]).await?;
    let caller = caller.ok_or_else(|| Problem::new(Code::Unauthenticated, "this call needs an access token"))?;
    let resume = query.resume_from(&last, caller.player, &state.cursors)?;
    if takes_events(&request) {
        return player_stream::open(state, &request, caller, resume).await;
    }
    player::find(&state, caller).await?;
    page(&state, caller.player, resume, page_size(query.limit)?, wait, client.0).await
}

/// A page. If it is empty and the client waits, it is held until the next event.
async fn page(
    state: &AppState,
    player: PlayerId,
    resume: Option<ResumeFrom>,
    limit: u32,
    wait: Wait,
    client: Client,
) -> Result<HttpResponse, Problem> {
    // Subscribe before anything is read, so that no later event is missed.
    let waiting = wait.0.and_then(|wait_s| Some((state.hub.enter(Topic::Player(player), client)?, wait_s)));
    let mut granted_s = waiting.as_ref().map(|(_, wait_s)| *wait_s);
    let mut has_waited = false;
    let mut known = waiting.as_ref().map_or(0, |(waiter, _)| waiter.latest());
    let mut position = begin(state, resume).await?;
    let mut batch = with_read_permit(state, Box::pin(read(state, player, &position, limit))).await?;
    if let Some((mut waiter, wait_s)) = waiting {
        let until = Instant::now() + prefer::duration(wait_s);
        while batch.events.is_empty() && batch.is_last {
            has_waited = true;
            position = batch.position.clone();
            let changed = match timeout_at(until, waiter.past(known)).await {
                Ok(Ok(_)) => waiter.changed_since(known),
                Ok(Err(_)) => {
                    granted_s = None;
                    break;
                }
                Err(_) => break,
            };
            known = changed.latest;
            let again = async {
                match &changed.games {
                    Some(games) => read_named(state, player, &position, games, limit).await,
                    None => read(state, player, &position, limit).await,
                }
            };
            batch = with_read_permit(state, Box::pin(again)).await?;
        }
    }
    let last_event_id = batch.position.seal(&state.cursors, player);
    let next_cursor = (!batch.is_last).then(|| last_event_id.clone());
    let mut response = HttpResponse::Ok();
    if let Some(cursor) = &next_cursor {
        response.insert_header(next_link("/v1/me/events", &format!("limit={limit}"), cursor));
    }
    if let Some(granted_s) = granted_s {
        response.insert_header(prefer::applied(granted_s));
    }
    let page = PlayerEventPage { items: batch.events, next_cursor, last_event_id };
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
    /// Only events after the one with this `id`, or after a `last_event_id`. Unless given, only events from now on.
    #[param(min_length = 1)]
    after: Option<String>,
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

impl ListMyEvents {
    fn resume_from(
        &self,
        last: &LastEventId,
        player: PlayerId,
        cursors: &Cursors,
    ) -> Result<Option<ResumeFrom>, Problem> {
        let (text, source) = match (&last.0, &self.cursor, &self.after) {
            (_, Some(_), Some(_)) => return Err(Problem::invalid("?after", "a cursor already says where to go on")),
            (Some(last), _, _) => (last, LAST_EVENT_ID),
            (None, Some(cursor), None) => (cursor, "?cursor"),
            (None, None, Some(after)) => (after, "?after"),
            (None, None, None) => return Ok(None),
        };
        let invalid = || Problem::invalid(source, "not an id of an event of the caller's games");
        let position = FeedPosition::open(text, cursors, player).ok_or_else(invalid)?;
        Ok(Some(ResumeFrom { position, source }))
    }
}
