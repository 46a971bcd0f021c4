//! Content negotiation. Answers are JSON. Lists of events may also be streams, exports may also be text or NDJSON, and
//! pictures are SVG or PNG.

use actix_web::{
    HttpRequest,
    body::{BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    http::header::{self, Accept, Header, Quality},
    middleware::Next,
};

use super::body;
use crate::answer::{code::Code, problem::Problem};

/// The type of server-sent events.
pub const EVENT_STREAM: &str = "text/event-stream";

/// The media ranges that contain a type, the most specific first.
const JSON: [&str; 3] = ["application/json", "application/*", "*/*"];
const EVENTS: [&str; 3] = [EVENT_STREAM, "text/*", "*/*"];
const NDJSON: [&str; 3] = ["application/x-ndjson", "application/*", "*/*"];
const TEXT: [&str; 3] = ["text/plain", "text/*", "*/*"];
const HTML: [&str; 3] = ["text/html", "text/*", "*/*"];
const SVG: [&str; 3] = ["image/svg+xml", "image/*", "*/*"];
const PNG: [&str; 3] = ["image/png", "image/*", "*/*"];

/// The suffixes of the paths of pictures, and their types.
const PICTURES: [(&str, [&str; 3]); 2] = [(".svg", SVG), (".png", PNG)];

/// Refuses a request under `/v1` whose `Accept` excludes all types of its path, and a read with a long body, before anything is done.
pub async fn negotiate(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    if let Some(problem) = body::refuse_with_read(request.request()) {
        return Ok(request.error_response(problem));
    }
    let path = request.path();
    let picture = PICTURES.iter().find(|(suffix, _)| path.starts_with("/v1/") && path.ends_with(suffix));
    if let Some((_, ranges)) = picture {
        if !accepts(request.request(), *ranges) {
            let detail = format!("this picture is {}", ranges[0]);
            return Ok(request.error_response(Problem::new(Code::NotAcceptable, detail)));
        }
    } else if path.starts_with("/v1/") && !accepts(request.request(), JSON) {
        let (is_accepted, detail) = if path.ends_with("/events") {
            (takes_events(request.request()), "answers are application/json or text/event-stream")
        } else if path == "/v1/games/export" {
            let is_accepted = prefers_text(request.request()) || is_preferred(request.request(), NDJSON);
            (is_accepted, "answers are application/x-ndjson or text/plain")
        } else if path.starts_with("/v1/games/") && path.ends_with("/export") {
            (prefers_text(request.request()), "answers are application/json or text/plain")
        } else {
            (false, "answers are application/json")
        };
        if !is_accepted {
            return Ok(request.error_response(Problem::new(Code::NotAcceptable, detail)));
        }
    }
    next.call(request).await.map(ServiceResponse::map_into_boxed_body)
}

/// Whether a client prefers a stream of events to a page. A client that accepts both equally, or names neither, gets a page.
pub fn takes_events(request: &HttpRequest) -> bool {
    is_preferred(request, EVENTS)
}

/// Whether a client prefers text to JSON, by the same rule.
pub fn prefers_text(request: &HttpRequest) -> bool {
    is_preferred(request, TEXT)
}

/// Whether a client prefers a page for people to JSON, as browsers do.
pub fn prefers_page(request: &HttpRequest) -> bool {
    is_preferred(request, HTML)
}

fn is_preferred(request: &HttpRequest, ranges: [&str; 3]) -> bool {
    let Ok(accept) = Accept::parse(request) else { return false };
    let (wanted, json) = (quality(&accept, ranges), quality(&accept, JSON));
    wanted.0 > Quality::ZERO && wanted > json
}

fn accepts(request: &HttpRequest, ranges: [&str; 3]) -> bool {
    if !request.headers().contains_key(header::ACCEPT) {
        return true;
    }
    let Ok(accept) = Accept::parse(request) else { return false };
    // An empty list excludes nothing.
    accept.is_empty() || quality(&accept, ranges).0 > Quality::ZERO
}

/// The quality that a client gives a type, and how specific the deciding range is. The most specific range decides (RFC 9110,
/// section 12.5.1).
fn quality(accept: &Accept, ranges: [&str; 3]) -> (Quality, usize) {
    let quality = |(after, range): (usize, &&str)| {
        let item = accept.iter().find(|item| item.item.essence_str() == *range)?;
        Some((item.quality, ranges.len() - after))
    };
    ranges.iter().enumerate().find_map(quality).unwrap_or((Quality::ZERO, 0))
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn only_a_client_that_prefers_a_stream_gets_one() {
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
            assert_eq!((takes_events(&request), accepts(&request, JSON)), (events, json), "{accept}");
        }
        let silent = TestRequest::get().to_http_request();
        assert!(accepts(&silent, JSON) && !takes_events(&silent));
    }
}
