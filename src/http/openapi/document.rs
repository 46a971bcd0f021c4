//! The parts of the document beside the routes, and the order in which it is completed.

use std::collections::BTreeMap;

use mancala_http::{answer, request::suspended};
use utoipa::{
    Modify, OpenApi,
    openapi::{
        self, RefOr,
        path::Operation,
        security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme},
    },
};

use super::{answers, failures, requests, unions, words};

/// The document's parts beside the routes.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "mancala-server",
        description = include_str!("introduction.md"),
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
    ),
    tags(
        (name = "players", description = "Guests, accounts, tokens and profiles"),
        (name = "variants", description = "Variants, presets and options"),
        (name = "games", description = "Creating, finding, joining and ending games"),
        (name = "moves", description = "Playing and replaying"),
        (name = "offers", description = "A draw, a rematch, taking back a turn, a pause: offered, accepted, declined or withdrawn"),
        (name = "events", description = "Reading, long-polling and streaming events"),
        (name = "notes", description = "Private notes on plies"),
        (name = "records", description = "Exporting, importing, verifying and analysing games"),
        (name = "pictures", description = "Boards and games as SVG and PNG, and pages to share"),
        (name = "webhooks", description = "Events sent to the player's own server"),
        (name = "push", description = "Push notifications to the player's devices"),
        (name = "messages", description = "What the player's own server is sent"),
        (name = "operators", description = "Reports and players, for operators with a key of their own"),
        (name = "apps", description = "Services of others whose users play here: their players, and tokens for them"),
        (name = "operation", description = "Health and failure codes, for operators"),
    ),
    servers((url = "/", description = "This server")),
    components(schemas(answer::problem::ProblemBody)),
    modifiers(&Bearer, &AppKey),
)]
pub struct Document;

/// The schemes by which callers authenticate.
struct Bearer;

impl Modify for Bearer {
    fn modify(&self, document: &mut openapi::OpenApi) {
        let scheme = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .bearer_format("JWT")
            .description(Some("An access token: POST /v1/players gives one."))
            .build();
        let of_operators = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some("An operator's key: `mancala-server operators create NAME` gives one. It opens `/v1/operator` and nothing else."))
            .build();
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("bearer", SecurityScheme::Http(scheme));
        components.add_security_scheme("operator", SecurityScheme::Http(of_operators));
    }
}

/// The scheme by which an app authenticates.
struct AppKey;

impl Modify for AppKey {
    fn modify(&self, document: &mut openapi::OpenApi) {
        let scheme = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .bearer_format("mapp_")
            .description(Some(
                "The key of an app: the operator of the server makes one. Where a key opens a call, `forbidden` says that the app is disabled, or \
                 that a player's token was sent instead.",
            ))
            .build();
        document.components.get_or_insert_default().add_security_scheme("app_key", SecurityScheme::Http(scheme));
    }
}

/// Makes the list of schemes of an open operation empty. A list with an empty scheme makes some generators send a token.
fn say_that_no_token_is_needed(operation: &mut Operation) {
    let schemes = operation.security.get_or_insert_default();
    if schemes.iter().all(|scheme| *scheme == SecurityRequirement::default()) {
        schemes.clear();
    }
}

/// The methods, in the order of an item's operations below.
const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/// Adds the common parts of all operations and schemas, and corrects derived parts that lead to clumsy generated clients.
pub fn complete(mut document: openapi::OpenApi) -> openapi::OpenApi {
    let mut shared = BTreeMap::new();
    for (path, item) in &mut document.paths.paths {
        let operations = [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete];
        for (method, operation) in METHODS.into_iter().zip(operations) {
            let Some(operation) = operation else { continue };
            requests::correct(operation);
            answers::complete(path, operation, suspended::may_refuse(method, path), &mut shared);
            say_that_no_token_is_needed(operation);
        }
    }
    let sent = requests::schemas(&document);
    let components = document.components.get_or_insert_default();
    components.headers.extend(answers::headers().map(|(name, header)| (name.to_owned(), RefOr::T(header))));
    components.responses.extend(shared);
    components.examples.extend(failures::examples());
    unions::flatten(&mut components.schemas, &sent);
    words::open(&mut components.schemas);
    requests::close(&mut document);
    document
}
