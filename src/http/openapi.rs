//! The OpenAPI document: what the route table says, with what is true of every call.

use std::collections::BTreeMap;

use actix_web::dev::ResourceDef;
use utoipa::{
    Modify, OpenApi,
    openapi::{
        self, Content, Ref, RefOr, Required, Response, ResponseBuilder, Schema,
        path::Operation,
        request_body::RequestBody,
        security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme},
    },
};

use super::limits::UNLIMITED;

/// What the document says beyond the routes.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "mancala-server",
        description = "Create games of Kalah, play moves, read histories. Every move is stored, so every game can be replayed.\n\n\
            Every failure is `application/problem+json` with a stable `code`; clients ignore response fields and enum \
            values that they do not know, and the server refuses request fields and parameters that it does not know.\n\n\
            Every answer of a call that is limited has `RateLimit-Policy` and `RateLimit`, which say how many calls are left.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
    ),
    tags(
        (name = "players", description = "Who plays"),
        (name = "variants", description = "What can be played"),
        (name = "games", description = "Creating, finding, joining and ending games"),
        (name = "moves", description = "Playing and replaying"),
        (name = "operation", description = "For those who run the service"),
    ),
    servers((url = "/", description = "This server")),
    components(schemas(super::error::ProblemBody)),
    modifiers(&Bearer),
)]
pub struct Document;

/// How a caller says who they are.
struct Bearer;

impl Modify for Bearer {
    fn modify(&self, document: &mut openapi::OpenApi) {
        let scheme = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .bearer_format("JWT")
            .description(Some("An access token: POST /v1/players gives one."))
            .build();
        document.components.get_or_insert_default().add_security_scheme("bearer", SecurityScheme::Http(scheme));
    }
}

/// Adds to each operation the failures that follow from what it takes: a token, a body, or nothing at all.
pub fn complete(mut document: openapi::OpenApi) -> openapi::OpenApi {
    for (path, item) in &mut document.paths.paths {
        let operations = [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete];
        for operation in operations.into_iter().flatten() {
            add_common_failures(path, operation);
            if let Some(RefOr::T(body)) = &mut operation.request_body {
                say_optional(body);
            }
        }
    }
    document
}

/// A body that may be left out is no body that may be `null`, which is how an `Option` is described.
fn say_optional(body: &mut RequestBody) {
    for content in body.content.values_mut() {
        if let RefOr::T(content) = content
            && let Some(RefOr::T(Schema::OneOf(choice))) = &content.schema
            && let Some(reference @ RefOr::Ref(_)) = choice.items.first()
        {
            content.schema = Some(reference.clone());
            body.required = Some(Required::False);
        }
    }
}

/// Addresses that are answered without the database.
const WITHOUT_DATABASE: [&str; 4] = ["/livez", "/problems/", "/v1/variants", "/.well-known/"];

fn add_common_failures(path: &str, operation: &mut Operation) {
    let needs_token = operation.security.iter().flatten().all(|scheme| *scheme != SecurityRequirement::default());
    let invalid = match operation.operation_id.as_deref() {
        Some("play_move") => "`validation_failed`; `illegal_move`, with `reason` and `legal_moves`",
        _ => "`validation_failed`",
    };
    let unknown = if needs_token { "`unauthenticated`, `invalid_token`" } else { "`invalid_token`" };
    let mut failures = vec![("401", unknown), ("422", invalid), ("500", "`internal`")];
    if path.starts_with("/v1/") {
        failures.push(("406", "`not_acceptable`"));
    }
    if !UNLIMITED.iter().any(|address| path.starts_with(address)) {
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
        operation.responses.responses.entry(status.to_owned()).or_insert_with(|| RefOr::T(problem(description)));
    }
}

fn problem(description: &str) -> Response {
    let content = Content::new(Some(Ref::from_schema_name("Problem")));
    ResponseBuilder::new().description(description).content("application/problem+json", content).build()
}

/// Which methods the documented paths know: what tells a wrong method from an unknown path.
pub struct Methods(Vec<(ResourceDef, String)>);

impl Methods {
    pub fn of(document: &openapi::OpenApi) -> Self {
        let mut paths = BTreeMap::new();
        for (path, item) in &document.paths.paths {
            let known =
                [("GET, HEAD", &item.get), ("POST", &item.post), ("PATCH", &item.patch), ("DELETE", &item.delete)];
            let known = known.into_iter().filter(|(_, operation)| operation.is_some()).map(|(method, _)| method);
            paths.insert(path.clone(), known.collect::<Vec<_>>().join(", "));
        }
        // Served, but no part of the API.
        paths.insert("/openapi.json".to_owned(), "GET, HEAD".to_owned());
        paths.insert("/docs".to_owned(), "GET, HEAD".to_owned());
        paths.insert("/docs/{page:.*}".to_owned(), "GET, HEAD".to_owned());
        Self(paths.into_iter().map(|(path, allow)| (ResourceDef::new(path), allow)).collect())
    }

    /// The methods of a path, as `Allow` lists them; `None` for an unknown path.
    pub fn allowed(&self, path: &str) -> Option<&str> {
        self.0.iter().find(|(pattern, _)| pattern.is_match(path)).map(|(_, allow)| allow.as_str())
    }
}
