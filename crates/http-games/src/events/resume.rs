//! Where a client resumes a game's log, and the header `Last-Event-ID`. Knows no event and no stream.

use std::future::{Ready, ready};

use actix_web::{
    FromRequest, HttpRequest,
    dev::Payload,
    http::header::{self, HeaderName, HeaderValue},
};
use mancala_domain::Game;
use mancala_http::answer::problem::Problem;

/// The request headers on which the answers depend.
pub const VARIES: (HeaderName, &str) = (header::VARY, "Accept, Authorization, Last-Event-ID, Prefer");

/// A position in a game's log, from which a client resumes.
#[derive(Clone, Copy, Debug)]
pub struct LogPosition {
    /// The `seq` of the last event that the client has.
    pub after: u32,
    /// The name of the parameter or header, for the details of an error.
    pub source: &'static str,
}

impl LogPosition {
    /// Refuses a position past the end of the log. A client that has such an event has read a state that a restored database
    /// has lost, and must read the game again.
    pub fn check(self, game: &Game) -> Result<(), Problem> {
        if self.after <= game.version() {
            return Ok(());
        }
        let detail = format!("the game's last event is {}; what the client has seen beyond it is void", game.version());
        Err(Problem::invalid(self.source, detail))
    }
}

/// The id of the last event that a client has. An `EventSource` sends it when it reconnects.
#[derive(Clone, Debug)]
pub struct LastEventId(pub Option<String>);

/// The name of its header.
pub const LAST_EVENT_ID: &str = "last-event-id";

impl FromRequest for LastEventId {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let mut values = request.headers().get_all(LAST_EVENT_ID).filter(|value| !value.is_empty());
        let (value, another) = (values.next(), values.next());
        let text = |value: &HeaderValue| value.to_str().ok().map(|text| Self(Some(text.to_owned())));
        let invalid = || Problem::invalid(LAST_EVENT_ID, "one id, as events have them");
        ready(match (value, another) {
            (None, _) => Ok(Self(None)),
            (Some(value), None) => text(value).ok_or_else(invalid),
            (Some(_), Some(_)) => Err(invalid()),
        })
    }
}
