//! What answers share: the headers and the failures that follow from an operation's path, input and status.

use utoipa::openapi::{
    Content, Header, Ref, RefOr, Response, ResponseBuilder, path::Operation, security::SecurityRequirement,
};

use super::failures;
use crate::http::{answer::problem::PROBLEM_JSON, layers::limits::UNLIMITED};

/// Adds the failures and the headers of an operation's answers. `is_suspended` says whether a suspended player is refused.
pub(super) fn complete(path: &str, operation: &mut Operation, is_suspended: bool) {
    add_common_failures(path, operation);
    if is_suspended {
        add_suspension(operation);
    }
    add_failure_bodies(operation);
    add_common_headers(path, operation);
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
        if is_limited(path) {
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
    const SUSPENDED: &str = "`player_suspended`";
    let bearer = SecurityRequirement::new("bearer", [""; 0]);
    if !operation.security.iter().flatten().any(|scheme| *scheme == bearer) {
        return;
    }
    if let Some(RefOr::T(response)) = operation.responses.responses.get_mut("403") {
        response.description = format!("{SUSPENDED}; {}", response.description);
    } else {
        let response = ResponseBuilder::new().description(SUSPENDED).build();
        operation.responses.responses.insert("403".to_owned(), RefOr::T(response));
    }
}

/// Adds the failures that follow from an operation's path and input: a token, a body, or none.
fn add_common_failures(path: &str, operation: &mut Operation) {
    let needs_token = operation.security.iter().flatten().all(|scheme| *scheme != SecurityRequirement::default());
    let invalid = match operation.operation_id.as_deref() {
        Some("play_move") => "`validation_failed`; `illegal_move`, with `reason` and `legal_moves`",
        Some("play_line") => {
            "`validation_failed`; `illegal_move`, with `index`, `reason`, `legal_moves` and the `position` before it"
        }
        _ => "`validation_failed`",
    };
    let unknown = if needs_token { "`unauthenticated`, `invalid_token`" } else { "`invalid_token`" };
    let mut failures = vec![("401", unknown), ("422", invalid), ("500", "`internal`")];
    if takes_app_key(operation) {
        let only = operation.security.iter().flatten().count() == 1;
        failures.push((
            "403",
            if only {
                "`forbidden`: a player's token, or the app is disabled"
            } else {
                "`forbidden`: the app is disabled"
            },
        ));
    }
    if path.starts_with("/v1/") {
        failures.push(("406", "`not_acceptable`"));
    }
    if is_limited(path) {
        failures.push(("429", "`rate_limited`: try again after `Retry-After`"));
    }
    if !WITHOUT_DATABASE.iter().any(|address| path.starts_with(address)) {
        failures.push(("503", "`unavailable`: try again after `Retry-After`"));
    }
    if operation.request_body.is_some() {
        failures.push(("400", "`malformed_request`"));
        failures.push(("413", "`payload_too_large`"));
        failures.push(("415", "`unsupported_media_type`"));
    }
    for (status, description) in failures {
        let response = ResponseBuilder::new().description(description).build();
        operation.responses.responses.entry(status.to_owned()).or_insert(RefOr::T(response));
    }
}

/// Whether an app's key opens an operation.
fn takes_app_key(operation: &Operation) -> bool {
    let app_key = SecurityRequirement::new::<_, [&str; 0], &str>("app_key", []);
    operation.security.iter().flatten().any(|scheme| *scheme == app_key)
}

/// Gives every response with status 4xx or 5xx the one body of all failures, and an example of each. Handlers name only the codes.
fn add_failure_bodies(operation: &mut Operation) {
    for (_, response) in failing(operation) {
        let mut content = Content::new(Some(Ref::from_schema_name("Problem")));
        content.examples.extend(failures::references(response));
        response.content = [(PROBLEM_JSON.to_owned(), RefOr::T(content))].into();
    }
}

/// The responses of an operation with status 4xx or 5xx.
fn failing(operation: &mut Operation) -> impl Iterator<Item = (&str, &mut Response)> {
    let responses = operation.responses.responses.iter_mut().filter(|(status, _)| status.starts_with(['4', '5']));
    responses.filter_map(|(status, response)| match response {
        RefOr::T(response) => Some((status.as_str(), response)),
        RefOr::Ref(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::{answer::code::Code, routes};

    #[test]
    fn each_failure_names_codes_of_its_status() {
        let mut document = routes::document();
        for (path, item) in &mut document.paths.paths {
            let operations = [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete];
            for (status, response) in operations.into_iter().flatten().flat_map(failing) {
                let description = &response.description;
                assert!(description.starts_with('`'), "{path} {status}: {description}");
                let words: Vec<_> = failures::codes(description).collect();
                let RefOr::T(content) = &response.content[PROBLEM_JSON] else {
                    panic!("a body stands in its response")
                };
                assert!(content.examples.len() == words.len() && !words.is_empty(), "{path} {status}: {description}");
                for word in words {
                    let code = Code::ALL.iter().find(|code| code.as_str() == word);
                    let of_code = code.map(|code| code.status().as_str().to_owned());
                    assert_eq!(of_code.as_deref(), Some(status), "{path}: {word}");
                }
            }
        }
    }
}
