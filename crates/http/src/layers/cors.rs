//! Cross-origin requests: which pages may call the API from a browser (the Fetch standard's CORS protocol).

use actix_cors::Cors;

/// Allows pages of every origin. This is safe, because a browser sends no token by itself: a page must have one.
pub const ANY_ORIGIN: &str = "*";

/// How long a browser may cache the answer to a preflight, in seconds.
const MAX_AGE_S: usize = 3600;

/// Headers that a page may send.
const ALLOWED: [&str; 12] = [
    "authorization",
    "content-type",
    "prefer",
    "if-match",
    "if-none-match",
    "idempotency-key",
    "last-event-id",
    "traceparent",
    // Libraries that trace or mark requests add these by themselves.
    "tracestate",
    "baggage",
    "sentry-trace",
    "x-requested-with",
];

/// Headers of an answer that a page may read.
const EXPOSED: [&str; 9] = [
    "etag",
    "link",
    "location",
    "retry-after",
    "ratelimit",
    "ratelimit-policy",
    "idempotent-replayed",
    "preference-applied",
    "x-request-id",
];

/// The layer that allows pages of these origins, or of [`ANY_ORIGIN`]. It stands around the envelope, so pages can read
/// failures too.
pub fn cors(origins: &[String]) -> Cors {
    let cors = Cors::default()
        .allowed_methods(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
        .allowed_headers(ALLOWED)
        .expose_headers(EXPOSED)
        .max_age(MAX_AGE_S);
    if origins.iter().any(|origin| origin == ANY_ORIGIN) {
        // The answer is the same for every origin, so it needs no `Vary`.
        return cors.allow_any_origin().send_wildcard().disable_vary_header();
    }
    origins.iter().fold(cors, |cors, origin| cors.allowed_origin(origin))
}
