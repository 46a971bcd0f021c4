//! Notes each request in the access log: when the last byte of its answer is handed over, or when its client has gone.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::{Duration, Instant},
};

use actix_web::{
    HttpMessage, HttpRequest, HttpResponse,
    body::{BodySize, BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    http::{
        Version,
        header::{HeaderMap, LOCATION, USER_AGENT},
    },
    middleware::Next,
    web::{Bytes, Data},
};
use mancala_process::{
    access_log::{AccessLog, AccessLogEntry, CLIENT_CLOSED},
    clock::now,
};
use tracing_actix_web::RequestId;
use uuid::Uuid;

use super::{
    client_address::client_address,
    observe::{self, LedTo},
};
use crate::{answer::code::Code, request::auth::IdentifiedPlayer};

/// Notes a request in the access log of the app.
pub async fn note(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let mut line = RequestLine::of(request.request());
    request.extensions_mut().insert(line.player.clone());
    let outcome = next.call(request).await;
    line.entry.status = observe::status(&outcome).as_u16();
    line.entry.code = observe::code(&outcome).map(Code::as_str);
    match outcome {
        Ok(response) => {
            line.entry.game = line.entry.game.or_else(|| led_to(response.response()));
            Ok(response.map_body(|_, body| BoxBody::new(CountedBody { body: body.boxed(), line })))
        }
        Err(error) => {
            // Later layers only add headers to the answer that this error becomes.
            if let BodySize::Sized(bytes) = error.as_response_error().error_response().body().size() {
                line.count(bytes);
            }
            Err(error)
        }
    }
}

/// The line of a request. It is logged when this is dropped, which a client that hangs up causes too.
struct RequestLine {
    log: Arc<AccessLog>,
    entry: AccessLogEntry,
    begun: Instant,
    player: IdentifiedPlayer,
    /// The answer to HEAD has no body, though one is made.
    is_head: bool,
}

impl RequestLine {
    fn of(request: &HttpRequest) -> Self {
        let log = request.app_data::<Data<AccessLog>>().expect("the layer is only there with a log").clone();
        let seen = observe::seen(request);
        let entry = AccessLogEntry {
            time: now(),
            client: client_address(request),
            player: None,
            method: seen.method,
            route: seen.route,
            game: game_of(request.match_info().as_str()),
            protocol: protocol(request.version()),
            status: CLIENT_CLOSED,
            code: None,
            bytes: 0,
            took: Duration::ZERO,
            request_id: request.extensions().get::<RequestId>().map(|id| **id),
            trace_id: seen.trace_id,
            user_agent: user_agent(request.headers()),
        };
        let is_head = seen.method == "HEAD";
        Self { log: log.into_inner(), entry, begun: Instant::now(), player: IdentifiedPlayer::default(), is_head }
    }

    const fn count(&mut self, bytes: u64) {
        if !self.is_head {
            self.entry.bytes += bytes;
        }
    }
}

impl Drop for RequestLine {
    fn drop(&mut self) {
        self.entry.player = self.player.get().map(|player| player.0);
        self.entry.took = self.begun.elapsed();
        let user_agent = self.entry.user_agent.take();
        self.log.write(AccessLogEntry { user_agent, ..self.entry.clone() });
    }
}

/// A body whose bytes are counted.
struct CountedBody {
    body: BoxBody,
    line: RequestLine,
}

impl MessageBody for CountedBody {
    type Error = <BoxBody as MessageBody>::Error;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let piece = ready!(Pin::new(&mut self.body).poll_next(cx));
        if let Some(Ok(bytes)) = &piece {
            self.line.count(bytes.len() as u64);
        }
        Poll::Ready(piece)
    }
}

fn user_agent(headers: &HeaderMap) -> Option<String> {
    headers.get(USER_AGENT)?.to_str().ok().map(|text| observe::beginning(text).to_owned())
}

/// The segments of a path after which the id of a game follows.
const BEFORE_GAME: [&str; 3] = ["games", "g", "review"];

/// The game that a path names.
fn game_of(path: &str) -> Option<Uuid> {
    let mut segments = path.split('/');
    segments.find(|segment| BEFORE_GAME.contains(segment))?;
    segments.next()?.parse().ok()
}

/// The game that a request has made, whose address the answer names, or to which it has led.
fn led_to<B>(response: &HttpResponse<B>) -> Option<Uuid> {
    let named = response.extensions().get::<LedTo>().map(|game| game.0.0);
    named.or_else(|| game_of(response.headers().get(LOCATION)?.to_str().ok()?))
}

const fn protocol(version: Version) -> &'static str {
    match version {
        Version::HTTP_09 => "HTTP/0.9",
        Version::HTTP_10 => "HTTP/1.0",
        _ => "HTTP/1.1",
    }
}
