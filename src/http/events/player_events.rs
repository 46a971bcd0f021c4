//! What has happened in all of the caller's games, page by page; `player_stream` tells the same as it happens.

use std::{collections::HashMap, fmt};

use actix_web::{HttpRequest, HttpResponse, get, web::Data};
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, timeout_at};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::{
    game_events::{LAST_EVENT_ID, LastEventId, VARIES},
    player_stream, tickets,
    view::{EventView, views},
};
use crate::{
    db::{
        events::{
            game_log::{self, Wanted},
            player_feed::{self, Asked, Changed, Moment},
        },
        games,
    },
    domain::{GameId, PlayerId},
    http::{
        answer::{
            cursor::Cursors,
            headers::NOT_KEPT,
            problem::{Code, Problem},
            wire::{next_link, page_size},
        },
        games::lifecycle::in_turn,
        layers::observe::Waited,
        players::me,
        request::{
            accept::takes_events,
            extract::Query,
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
    me::find(&state, caller).await?;
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
    let mut known = waiting.as_ref().map_or(0, |(waiter, _)| waiter.latest());
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

/// Where to go on: what was not over at a moment, or the rest of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    since: Moment,
    /// There if some of it was read already.
    rest: Option<Rest>,
}

/// What is left to be read of what had happened.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Rest {
    /// What comes after this, in the order of games and of their events.
    past: (GameId, u32),
    /// When the first of it was read: after the rest, it goes on from there.
    next: Moment,
}

/// A place, and what said it.
#[derive(Clone, Debug)]
pub struct Said {
    place: Place,
    by: &'static str,
}

/// Why a place is refused.
const UNKNOWN: &str = "too old, or of a state of the database that is lost: read the games again, and begin anew";

/// Where to begin: at the present moment, unless the client says something else.
pub async fn begin(state: &AppState, said: Option<Said>) -> Result<Place, Problem> {
    let now = in_turn(state, async { player_feed::now(&state.db).await.map_err(Problem::from) }).await?;
    match said {
        None => Ok(Place { since: now, rest: None }),
        Some(Said { place, .. }) if place.since.is_known_at(&now) => Ok(place),
        Some(Said { by, .. }) => Err(Problem::invalid(by, UNKNOWN)),
    }
}

/// Some of what has happened, and where it ends.
pub struct Portion {
    pub events: Vec<PlayerEventView>,
    pub place: Place,
    /// Whether that was all.
    pub is_all: bool,
}

/// Up to `limit` events from a place on.
pub async fn read(state: &AppState, player: PlayerId, place: &Place, limit: u32) -> Result<Portion, Problem> {
    let mut portion = read_once(state, player, place, limit).await?;
    if place.rest.is_some() && portion.place.rest.is_none() {
        // That was the rest of what had happened when the first of it was read. More may have happened since.
        let room = limit.saturating_sub(u32::try_from(portion.events.len()).unwrap_or(limit));
        if room == 0 {
            return Ok(Portion { is_all: false, ..portion });
        }
        let since = read_once(state, player, &portion.place, room).await?;
        portion.events.extend(since.events);
        return Ok(Portion { events: portion.events, ..since });
    }
    Ok(portion)
}

/// The same, but of a rest only what belongs to it.
async fn read_once(state: &AppState, player: PlayerId, place: &Place, limit: u32) -> Result<Portion, Problem> {
    let rest = place.rest.as_ref();
    let asked =
        Asked { since: &place.since, until: rest.map(|rest| &rest.next), past: rest.map(|rest| rest.past), limit };
    let news = player_feed::news(&state.db, player, &asked).await?;
    if !place.since.is_known_at(&news.now) {
        // While somebody waited, another server was made the primary.
        return Err(Problem::invalid("?after", UNKNOWN));
    }
    let next = rest.map_or(news.now, |rest| rest.next.clone());
    let mut is_all = news.games.len() < limit as usize;
    let (mut room, mut taken) = (limit, vec![]);
    for mut changed in news.games {
        if room == 0 {
            is_all = false;
            break;
        }
        let last_seq = changed.last_seq.min(changed.first_seq.saturating_add(room - 1));
        is_all &= last_seq == changed.last_seq;
        changed.last_seq = last_seq;
        room -= last_seq + 1 - changed.first_seq;
        taken.push(changed);
    }
    let after = |past| Place { since: place.since.clone(), rest: Some(Rest { past, next: next.clone() }) };
    let end = match taken.last() {
        Some(last) if !is_all => after((last.game, last.last_seq)),
        _ => Place { since: next.clone(), rest: None },
    };
    let mut events = vec![];
    for event in load(state, &taken).await? {
        let id = after((GameId(event.game_id), event.seq)).seal(&state.cursors, player);
        events.push(PlayerEventView { id, event });
    }
    if let Some(last) = events.last_mut() {
        last.id = end.seal(&state.cursors, player);
    }
    Ok(Portion { events, place: end, is_all })
}

/// Events of some games.
async fn load(state: &AppState, changed: &[Changed]) -> Result<Vec<EventView>, Problem> {
    if changed.is_empty() {
        return Ok(vec![]);
    }
    let ids: Vec<_> = changed.iter().map(|changed| changed.game).collect();
    let found: HashMap<_, _> =
        games::find_all(&state.db, &ids).await?.into_iter().map(|seated| (seated.game.id, seated)).collect();
    let known: Vec<_> = changed.iter().filter_map(|changed| Some((found.get(&changed.game)?, changed))).collect();
    let wanted = known.iter().map(|(seated, changed)| Wanted {
        game: &seated.game,
        after: changed.first_seq - 1,
        until: changed.last_seq,
    });
    let parts = game_log::read_all(&state.db, &wanted.collect::<Vec<_>>()).await?;
    let mut all = vec![];
    for ((seated, _), part) in known.iter().zip(&parts) {
        all.extend(views(seated, part)?);
    }
    Ok(all)
}

impl Place {
    /// As clients are given it: nobody else can go on from there.
    pub fn seal(&self, cursors: &Cursors, player: PlayerId) -> String {
        cursors.seal(&self.to_string(), &list_of(player))
    }

    fn open(text: &str, cursors: &Cursors, player: PlayerId) -> Option<Self> {
        let text = cursors.open(text, &list_of(player))?;
        let mut words = text.split(' ');
        let since = words.next()?.parse().ok()?;
        let rest = match words.next() {
            None => None,
            Some(game) => {
                let past = (GameId(Uuid::try_parse(game).ok()?), words.next()?.parse().ok()?);
                Some(Rest { past, next: words.next()?.parse().ok()? })
            }
        };
        Some(Self { since, rest })
    }
}

/// `<moment>`, and of a rest `<moment> <game> <seq> <moment>`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.since)?;
        if let Some(Rest { past: (game, seq), next }) = &self.rest {
            write!(f, " {} {seq} {next}", game.0.simple())?;
        }
        Ok(())
    }
}

fn list_of(player: PlayerId) -> String {
    format!("events of {}", player.0)
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

/// Something that happened in one of the caller's games.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PlayerEvent)]
pub struct PlayerEventView {
    /// Where to go on after it. An event that comes again may have another one.
    pub id: String,
    #[serde(flatten)]
    pub event: EventView,
}

/// A page of events of all the caller's games.
#[derive(Debug, Serialize, ToSchema)]
struct PlayerEventPage {
    items: Vec<PlayerEventView>,
    /// What `cursor` must be to get the next page; null if there are no more events by now.
    #[schema(required = true)]
    next_cursor: Option<String>,
    /// What `after` must be to go on later, also if the page is empty.
    last_event_id: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_was_written_and_by_nobody_else() {
        let cursors = Cursors::new([7; 32]);
        let (ana, bo) = (PlayerId(Uuid::from_u128(1)), PlayerId(Uuid::from_u128(2)));
        let moment = |text: &str| text.parse::<Moment>().expect("a moment");
        let whole = Place { since: moment("18446744073709551000:600:0,1,599:-1:1800000000"), rest: None };
        let rest = Rest { past: (GameId(Uuid::from_u128(3)), u32::MAX), next: moment("9:0::2:1800000000") };
        for place in [whole.clone(), Place { rest: Some(rest), ..whole.clone() }] {
            let text = place.seal(&cursors, ana);
            assert_eq!(Place::open(&text, &cursors, ana), Some(place));
            assert_eq!(Place::open(&text, &cursors, bo), None);
        }
        for text in ["", "1", "1:0::0:0 2 3", "x y"] {
            assert_eq!(Place::open(&cursors.seal(text, &list_of(ana)), &cursors, ana), None, "{text}");
        }
    }
}
