//! What a client would take: JSON, or, where there are events, a stream of them, where there are records, text, and at the address of a
//! picture, that.

use actix_web::{
    HttpRequest,
    body::{BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    http::header::{self, Accept, Header, Quality},
    middleware::Next,
};

use crate::http::answer::problem::{Code, Problem};

/// The type of server-sent events.
pub const EVENT_STREAM: &str = "text/event-stream";

/// The ranges that a type is in, the most specific first.
const OF_JSON: [&str; 3] = ["application/json", "application/*", "*/*"];
const OF_EVENTS: [&str; 3] = [EVENT_STREAM, "text/*", "*/*"];
const OF_LINES: [&str; 3] = ["application/x-ndjson", "application/*", "*/*"];
const OF_TEXT: [&str; 3] = ["text/plain", "text/*", "*/*"];
const OF_PICTURES: [&str; 3] = ["image/svg+xml", "image/*", "*/*"];

/// What the address of a picture ends in.
const PICTURE: &str = ".svg";

/// Every answer under `/v1` is JSON, or events or text where there are some, and at some addresses a picture: who would not take it is told
/// before anything is done.
pub async fn negotiate(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let path = request.path();
    if path.starts_with("/v1/") && path.ends_with(PICTURE) {
        if !takes(request.request(), OF_PICTURES) {
            let detail = "a picture is image/svg+xml";
            return Ok(request.error_response(Problem::new(Code::NotAcceptable, detail)));
        }
    } else if path.starts_with("/v1/") && !takes(request.request(), OF_JSON) {
        let (is_taken, detail) = if path.ends_with("/events") {
            (takes_events(request.request()), "answers are application/json or text/event-stream")
        } else if path == "/v1/games/export" {
            let is_taken = prefers_text(request.request()) || is_preferred(request.request(), OF_LINES);
            (is_taken, "answers are application/x-ndjson or text/plain")
        } else if path.starts_with("/v1/games/") && path.ends_with("/export") {
            (prefers_text(request.request()), "answers are application/json or text/plain")
        } else {
            (false, "answers are application/json")
        };
        if !is_taken {
            return Ok(request.error_response(Problem::new(Code::NotAcceptable, detail)));
        }
    }
    next.call(request).await.map(ServiceResponse::map_into_boxed_body)
}

/// Whether a client wants a stream of events rather than a page of them: who takes both alike, and names neither, gets a page.
pub fn takes_events(request: &HttpRequest) -> bool {
    is_preferred(request, OF_EVENTS)
}

/// Whether a client wants text rather than JSON, in the same way.
pub fn prefers_text(request: &HttpRequest) -> bool {
    is_preferred(request, OF_TEXT)
}

fn is_preferred(request: &HttpRequest, ranges: [&str; 3]) -> bool {
    let Ok(accept) = Accept::parse(request) else { return false };
    let (wanted, json) = (wish(&accept, ranges), wish(&accept, OF_JSON));
    wanted.0 > Quality::ZERO && wanted > json
}

fn takes(request: &HttpRequest, ranges: [&str; 3]) -> bool {
    if !request.headers().contains_key(header::ACCEPT) {
        return true;
    }
    let Ok(accept) = Accept::parse(request) else { return false };
    // An empty list excludes nothing.
    accept.is_empty() || wish(&accept, ranges).0 > Quality::ZERO
}

/// How much a client wants a type, and how specific the range is that says so: the most specific one decides (RFC 9110, section
/// 12.5.1).
fn wish(accept: &Accept, ranges: [&str; 3]) -> (Quality, usize) {
    let wish = |(after, range): (usize, &&str)| {
        let item = accept.iter().find(|item| item.item.essence_str() == *range)?;
        Some((item.quality, ranges.len() - after))
    };
    ranges.iter().enumerate().find_map(wish).unwrap_or((Quality::ZERO, 0))
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn who_names_a_stream_gets_one_and_everybody_else_a_page() {
        for (accept, events, json) in [
            ("text/event-stream", true, false),
            ("text/event-stream, */*", true, true),
            ("text/event-stream;q=0.5, application/json;q=0.4", true, true),
            ("text/*", true, false),
            ("*/*", false, true),
            ("", false, true),
            ("application/json", false, true),
            ("application/json, text/event-stream", false, true),
            ("text/event-stream;q=0.4, application/json;q=0.5", false, true),
            ("text/event-stream;q=0", false, false),
            ("text/event-stream;q=0, */*", false, true),
            ("text/html", false, false),
        ] {
            let request = TestRequest::get().insert_header((header::ACCEPT, accept)).to_http_request();
            assert_eq!((takes_events(&request), takes(&request, OF_JSON)), (events, json), "{accept}");
        }
        let silent = TestRequest::get().to_http_request();
        assert!(takes(&silent, OF_JSON) && !takes_events(&silent));
    }
}
