//! The OpenAPI document: what the routes derive, completed with what is true of every call.
//!
//! It knows no single handler; the route table passes it the derived document.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use utoipa::{
    Modify, OpenApi,
    openapi::{
        self, Content, Header, Object, Ref, RefOr, Required, Response, ResponseBuilder, Schema, Type,
        path::{Operation, Parameter, ParameterIn},
        request_body::{RequestBody, RequestBodyBuilder},
        schema::{AdditionalProperties, AnyOfBuilder, Discriminator, SchemaType},
        security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme},
    },
};

use super::{answer::problem::PROBLEM_JSON, layers::limits::UNLIMITED};

/// The document's parts beside the routes.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "mancala-server",
        description = "Create games of Kalah, Oware and Congkak, play moves, read histories. Every move is stored, so every game can be replayed.\n\n\
            Every failure is `application/problem+json` with a stable `code`. Clients ignore response fields and enum \
            values that they do not know. The server refuses request fields and parameters that it does not know.\n\n\
            Every answer to a rate-limited call has `RateLimit-Policy` and `RateLimit`, which say how many calls are left.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
    ),
    tags(
        (name = "players", description = "Guests, accounts, tokens and profiles"),
        (name = "variants", description = "Variants, presets and options"),
        (name = "games", description = "Creating, finding, joining and ending games"),
        (name = "moves", description = "Playing and replaying"),
        (name = "notes", description = "Private notes on plies"),
        (name = "records", description = "Exporting, importing and verifying games"),
        (name = "pictures", description = "Boards and games as SVG"),
        (name = "events", description = "Reading, long-polling and streaming events"),
        (name = "webhooks", description = "Events sent to the player's own server"),
        (name = "operation", description = "Health and failure codes, for operators"),
    ),
    servers((url = "/", description = "This server")),
    components(schemas(super::answer::problem::ProblemBody)),
    modifiers(&Bearer),
)]
pub struct Document;

/// The scheme by which a caller authenticates.
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

/// Adds what is true of every operation and schema, and corrects derived parts that lead to clumsy generated clients.
pub fn complete(mut document: openapi::OpenApi) -> openapi::OpenApi {
    for (path, item) in &mut document.paths.paths {
        let operations = [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete];
        for operation in operations.into_iter().flatten() {
            add_empty_body(operation);
            add_common_failures(path, operation);
            add_failure_bodies(operation);
            add_common_headers(path, operation);
            operation.parameters.iter_mut().flatten().for_each(correct_header_type);
            if let Some(RefOr::T(body)) = &mut operation.request_body {
                make_body_optional(body);
            }
        }
    }
    let components = document.components.get_or_insert_default();
    for (name, description) in HEADERS {
        let mut header = Header::default();
        header.description = Some(description.to_owned());
        components.headers.insert(name.to_owned(), RefOr::T(header));
    }
    let schemas = &mut components.schemas;
    for name in OPEN_ENUMS {
        open_enum(schemas.get_mut(name).expect("each open enum is a schema of the document"));
    }
    spread_shared_fields(schemas);
    name_alternatives(schemas);
    close_request_schemas(&mut document);
    document
}

/// Operations without parameters in the body. They accept an empty object, for clients that always send a body.
const EMPTY_BODY_OPERATIONS: [&str; 12] = [
    "analyse_game",
    "resign_game",
    "abort_game",
    "decline_invitation",
    "accept_offer",
    "decline_offer",
    "withdraw_offer",
    "renew_join_code",
    "rotate_webhook_secret",
    "verify_webhook",
    "ping_webhook",
    "redeliver_webhook",
];

fn add_empty_body(operation: &mut Operation) {
    if operation.operation_id.as_deref().is_some_and(|id| EMPTY_BODY_OPERATIONS.contains(&id)) {
        let mut empty = Object::with_type(Type::Object);
        empty.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
        let content = Content::new(Some(Schema::Object(empty)));
        let body = RequestBodyBuilder::new().content("application/json", content).required(Some(Required::False));
        let body = body.description(Some("Optional: at most an empty object")).build();
        operation.request_body = Some(RefOr::T(body));
    }
}

/// Marks all request schemas as closed, because the server refuses unknown fields. The derived document marks only some.
fn close_request_schemas(document: &mut openapi::OpenApi) {
    let names = request_schemas(document);
    let schemas = &mut document.components.get_or_insert_default().schemas;
    for name in names {
        if let Some(RefOr::T(Schema::Object(object))) = schemas.get_mut(&name)
            && object.schema_type == SchemaType::from(Type::Object)
            && object.additional_properties.is_none()
        {
            object.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
        }
    }
}

/// The names of the schemas in request bodies, and of those that they refer to.
fn request_schemas(document: &openapi::OpenApi) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut open: Vec<String> = vec![];
    for item in document.paths.paths.values() {
        for operation in [&item.get, &item.post, &item.put, &item.patch, &item.delete].into_iter().flatten() {
            open.extend(operation.request_body.iter().flat_map(references));
        }
    }
    // Terminates: each name is followed once.
    while let Some(name) = open.pop() {
        if names.insert(name.clone()) {
            let schema = document.components.as_ref().and_then(|components| components.schemas.get(&name));
            open.extend(schema.into_iter().flat_map(references));
        }
    }
    names
}

/// The names of the schemas that a part of the document refers to.
fn references(part: &impl Serialize) -> Vec<String> {
    let json = serde_json::to_string(part).expect("a part of the document is JSON");
    let rests = json.split("\"$ref\":\"#/components/schemas/").skip(1);
    rests.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())).collect()
}

/// Enums of answers that may gain values at any time. A client generated from a closed list would fail on a new value.
const OPEN_ENUMS: [&str; 8] =
    ["AnalysisProgress", "ClockType", "Code", "MoveClass", "OptionType", "PlayerKind", "ReadinessCheck", "Status"];

/// Replaces an enum by its values or any other string.
fn open_enum(schema: &mut RefOr<Schema>) {
    if let RefOr::T(Schema::Object(words)) = schema {
        let description = words.description.take();
        let any = Object::with_type(Type::String);
        *schema = AnyOfBuilder::new().item(words.clone()).item(any).description(description).into();
    }
}

/// Copies the fields that all alternatives of a choice share into each alternative. The derived document has the choice and
/// the shared fields side by side. From that form, generators make types that the tag does not distinguish.
fn spread_shared_fields(schemas: &mut BTreeMap<String, RefOr<Schema>>) {
    let parts = |schema: &RefOr<Schema>| match schema {
        RefOr::T(Schema::AllOf(whole)) => match whole.items.as_slice() {
            [RefOr::Ref(choice), RefOr::T(Schema::Object(shared))] => {
                let name = choice.ref_location.rsplit('/').next().unwrap_or_default();
                Some((name.to_owned(), shared.clone(), whole.description.clone()))
            }
            _ => None,
        },
        _ => None,
    };
    let wholes: Vec<_> = schemas.iter().filter_map(|(name, schema)| Some((name.clone(), parts(schema)?))).collect();
    // A whole may be the choice of a later whole.
    let names: Vec<_> = wholes.iter().map(|(name, _)| name.clone()).collect();
    for (name, (choice, shared, description)) in wholes {
        let Some(RefOr::T(Schema::OneOf(alternatives))) = schemas.get(&choice) else { continue };
        let mut alternatives = alternatives.clone();
        alternatives.description = description;
        for item in &mut alternatives.items {
            if let RefOr::T(Schema::Object(alternative)) = item {
                alternative.properties.extend(shared.properties.clone());
                alternative.required.extend(shared.required.clone());
            }
        }
        if !names.contains(&choice) {
            schemas.remove(&choice);
        }
        schemas.insert(name, RefOr::T(Schema::OneOf(alternatives)));
    }
}

/// Gives each alternative of a tagged choice a schema of its own, named by the choice and the tag's value. For inline
/// schemas each generator invents a name.
fn name_alternatives(schemas: &mut BTreeMap<String, RefOr<Schema>>) {
    let mut named = BTreeMap::new();
    for (name, schema) in schemas.iter_mut() {
        let RefOr::T(Schema::OneOf(choice)) = schema else { continue };
        let tags: Option<Vec<_>> = choice.items.iter().map(tag_of).collect();
        let Some(tags) = tags else { continue };
        let mut discriminator = Discriminator::new(tags.first().map(|(tag, _)| tag.as_str()).unwrap_or_default());
        for (item, (_, value)) in choice.items.iter_mut().zip(tags) {
            let own_name = format!("{name}{}", pascal_case(&value));
            let reference = Ref::from_schema_name(&own_name);
            discriminator.mapping.insert(value, reference.ref_location.clone());
            named.insert(own_name, std::mem::replace(item, RefOr::Ref(reference)));
        }
        choice.discriminator = Some(discriminator);
    }
    schemas.append(&mut named);
}

/// The property of an object that has one possible value, and that value.
fn tag_of(item: &RefOr<Schema>) -> Option<(String, String)> {
    let RefOr::T(Schema::Object(object)) = item else { return None };
    object.properties.iter().find_map(|(name, property)| {
        let RefOr::T(Schema::Object(property)) = property else { return None };
        match property.enum_values.as_deref() {
            Some([serde_json::Value::String(value)]) => Some((name.clone(), value.clone())),
            _ => None,
        }
    })
}

fn pascal_case(word: &str) -> String {
    let capitalized = |part: &str| part[..1].to_uppercase() + &part[1..];
    word.split('_').filter(|part| !part.is_empty()).map(capitalized).collect()
}

/// Makes a header's type a plain string: an optional header may be absent, but is never `null`.
fn correct_header_type(parameter: &mut RefOr<Parameter>) {
    if let RefOr::T(Parameter {
        parameter_in: ParameterIn::Header,
        schema: Some(RefOr::T(Schema::Object(schema))),
        ..
    }) = parameter
    {
        schema.schema_type = Type::String.into();
    }
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

/// Marks an optional body as one that may be absent. The derived document describes an `Option` as one that may be `null`.
fn make_body_optional(body: &mut RequestBody) {
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

/// Paths that are answered without the database, or prefixes of such paths.
const WITHOUT_DATABASE: [&str; 4] = ["/livez", "/problems/", "/v1/variants", "/.well-known/"];

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

/// Gives every response with status 4xx or 5xx the one body of all failures. Handlers name only the codes.
fn add_failure_bodies(operation: &mut Operation) {
    for (_, response) in failures(operation) {
        let content = Content::new(Some(Ref::from_schema_name("Problem")));
        response.content = [(PROBLEM_JSON.to_owned(), RefOr::T(content))].into();
    }
}

/// The responses of an operation with status 4xx or 5xx.
fn failures(operation: &mut Operation) -> impl Iterator<Item = (&str, &mut Response)> {
    let failing = operation.responses.responses.iter_mut().filter(|(status, _)| status.starts_with(['4', '5']));
    failing.filter_map(|(status, response)| match response {
        RefOr::T(response) => Some((status.as_str(), response)),
        RefOr::Ref(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::{answer::problem::Code, routes};

    /// The codes that the clauses of a failure's description begin with.
    fn codes(description: &str) -> Vec<&str> {
        let clauses = description.split("; ").map(|clause| clause.split(": ").next().unwrap_or_default());
        let words = clauses.flat_map(|clause| clause.split(", ").take_while(|word| word.starts_with('`')));
        words.map(|word| word.trim_matches('`')).collect()
    }

    #[test]
    fn each_failure_names_codes_of_its_status() {
        let mut document = routes::document();
        for (path, item) in &mut document.paths.paths {
            let operations = [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete];
            for (status, response) in operations.into_iter().flatten().flat_map(failures) {
                let (description, codes) = (&response.description, codes(&response.description));
                assert!(description.starts_with('`'), "{path} {status}: {description}");
                for word in codes {
                    let code = Code::ALL.iter().find(|code| code.as_str() == word);
                    let of_code = code.map(|code| code.status().as_str().to_owned());
                    assert_eq!(of_code.as_deref(), Some(status), "{path}: {word}");
                }
            }
        }
    }
}
