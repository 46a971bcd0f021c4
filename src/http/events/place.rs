//! Places in a game's log: where a client resumes, by cursor or `Last-Event-ID`.

use std::future::{Ready, ready};

use actix_web::{
    FromRequest, HttpRequest,
    dev::Payload,
    http::header::{self, HeaderName, HeaderValue},
};

use crate::{domain::Game, http::answer::problem::Problem};

/// What the answers depend on beside the address.
pub const VARIES: (HeaderName, &str) = (header::VARY, "Accept, Authorization, Last-Event-ID, Prefer");

/// Where a client goes on, and what says so.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The `seq` of the last event that it has.
    pub after: u32,
    pub(crate) said_by: &'static str,
}

impl Place {
    /// Refuses an event that has not happened: whoever has seen it has seen a state that is lost, of a database that was set back,
    /// and must begin again.
    pub fn check(self, game: &Game) -> Result<(), Problem> {
        if self.after <= game.version() {
            return Ok(());
        }
        let detail = format!("the game's last event is {}; what the client has seen beyond it is void", game.version());
        Err(Problem::invalid(self.said_by, detail))
    }
}

/// The last event that a client says it has; of an `EventSource`, when it comes back.
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
