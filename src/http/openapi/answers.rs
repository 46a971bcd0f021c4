//! The common parts of answers: the headers and the failures that follow from an operation's path, input and status.

use std::{collections::BTreeMap, mem};

use mancala_http::{
    answer::{
        code::Code,
        failures::{by_status, codes, response},
    },
    layers::limits::UNLIMITED,
};
use utoipa::openapi::{Content, Header, Ref, RefOr, Response, path::Operation, security::SecurityRequirement};

/// Adds the failures and the headers of an operation's answers. `is_suspended` says whether a suspended player is refused. The
/// failures themselves go to `shared`.
pub(super) fn complete(
    path: &str,
    operation: &mut Operation,
    is_suspended: bool,
    shared: &mut BTreeMap<String, RefOr<Response>>,
) {
    add_common_failures(path, operation);
    if is_suspended {
        add_suspension(operation);
    }
    add_common_headers(path, operation);
    share_failures(operation, shared);
}

/// The headers that many answers have.
pub(super) fn headers() -> impl Iterator<Item = (&'static str, Header)> {
    HEADERS.into_iter().map(|(name, description)| {
        let mut header = Header::default();
        header.description = Some(description.to_owned());
        (name, header)
    })
}

/// Headers that many answers have, and their descriptions.
const HEADERS: [(&str, &str); 6] = [
    ("ETag", "The game's version, and a digest of the whole answer"),
    (
        "RateLimit",
        "The policy that counted the call, the calls left (`r`), and the seconds until there are more (`t`); \
         only where calls are limited",
    ),
    ("RateLimit-Policy", "The policy's name, the calls that it allows (`q`), and its window in seconds (`w`)"),
    ("Retry-After", "Seconds after which to try again"),
    ("WWW-Authenticate", "`Bearer`, and what is wrong with the token"),
    ("x-request-id", "Names the request in the server's log"),
];

/// Whether calls of a path are limited, if rate limits are on.
fn is_limited(path: &str) -> bool {
    !UNLIMITED.iter().any(|address| path.starts_with(address))
}

/// Adds the headers that follow from an answer's status and body.
fn add_common_headers(path: &str, operation: &mut Operation) {
    for (status, response) in &mut operation.responses.responses {
        let RefOr::T(response) = response else { continue };
        let shows_game = response.content.values().any(|content| {
            let schema = match content {
                RefOr::T(Content { schema: Some(RefOr::Ref(schema)), .. }) => schema.ref_location.as_str(),
                _ => "",
            };
            schema.ends_with("/Game") || schema.ends_with("/PlayedMove")
        });
        let mut headers = vec!["x-request-id"];
        if shows_game {
            headers.push("ETag");
        }
        // Failures are shared by paths with and without limits.
        if is_limited(path) || codes(response).next().is_some() {
            headers.extend(["RateLimit", "RateLimit-Policy"]);
        }
        match status.as_str() {
            "401" => headers.push("WWW-Authenticate"),
            "429" | "503" => headers.push("Retry-After"),
            _ => {}
        }
        for name in headers {
            let reference = RefOr::Ref(Ref::new(format!("#/components/headers/{name}")));
            response.headers.entry(name.to_owned()).or_insert(reference);
        }
    }
}

/// Paths that are answered without the database, or prefixes of such paths.
const WITHOUT_DATABASE: [&str; 4] = ["/livez", "/problems/", "/v1/variants", "/.well-known/"];

/// Adds the refusal of suspended players to an operation that needs a player's token.
fn add_suspension(operation: &mut Operation) {
    let bearer = SecurityRequirement::new("bearer", [""; 0]);
    if !operation.security.iter().flatten().any(|scheme| *scheme == bearer) {
        return;
    }
    let declared = match operation.responses.responses.get("403") {
        Some(RefOr::T(response)) => codes(response).collect(),
        _ => vec![],
    };
    let suspended = response(declared.into_iter().chain([Code::PlayerSuspended]));
    operation.responses.responses.insert("403".to_owned(), RefOr::T(suspended));
}

/// Adds the failures that follow from an operation's path and input: a token, a body, or none. A status that the operation declares
/// keeps its codes.
fn add_common_failures(path: &str, operation: &mut Operation) {
    let needs_token = operation.security.iter().flatten().all(|scheme| *scheme != SecurityRequirement::default());
    let mut failures = vec![Code::InvalidToken, Code::ValidationFailed, Code::Internal];
    if needs_token {
        failures.push(Code::Unauthenticated);
    }
    if takes_app_key(operation) {
        failures.push(Code::Forbidden);
    }
    if path.starts_with("/v1/") {
        failures.push(Code::NotAcceptable);
    }
    if is_limited(path) {
        failures.push(Code::RateLimited);
    }
    if !WITHOUT_DATABASE.iter().any(|address| path.starts_with(address)) {
        failures.push(Code::Unavailable);
    }
    if operation.request_body.is_some() {
        failures.extend([Code::MalformedRequest, Code::PayloadTooLarge, Code::UnsupportedMediaType]);
    }
    for (status, response) in by_status(&failures) {
        operation.responses.responses.entry(status).or_insert(response);
    }
}

/// Whether an app's key opens an operation.
fn takes_app_key(operation: &Operation) -> bool {
    let app_key = SecurityRequirement::new::<_, [&str; 0], &str>("app_key", []);
    operation.security.iter().flatten().any(|scheme| *scheme == app_key)
}

/// Replaces the failures of an operation by references. Each set of codes is described once, under a name of its codes.
fn share_failures(operation: &mut Operation, shared: &mut BTreeMap<String, RefOr<Response>>) {
    for entry in operation.responses.responses.values_mut() {
        let RefOr::T(response) = entry else { continue };
        let names: Vec<_> = codes(response).map(|code| format!("{code:?}")).collect();
        if names.is_empty() {
            continue;
        }
        let name = names.join("Or");
        let reference = RefOr::Ref(Ref::from_response_name(&name));
        let response = mem::replace(entry, reference);
        shared.entry(name).or_insert(response);
    }
}
