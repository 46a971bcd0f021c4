//! The schemas of requests: bodies that may be absent, and objects that allow no other field.

use std::collections::BTreeSet;

use serde::Serialize;
use utoipa::openapi::{
    self, Content, Object, RefOr, Required, Schema, Type,
    path::{Operation, Parameter, ParameterIn},
    request_body::{RequestBody, RequestBodyBuilder},
    schema::{AdditionalProperties, SchemaType},
};

/// Corrects what an operation takes.
pub(super) fn correct(operation: &mut Operation) {
    add_empty_body(operation);
    operation.parameters.iter_mut().flatten().for_each(correct_header_type);
    if let Some(RefOr::T(body)) = &mut operation.request_body {
        make_body_optional(body);
    }
}

/// Operations without parameters in the body. They accept an empty object, for clients that always send a body.
const EMPTY_BODY_OPERATIONS: [&str; 13] = [
    "create_app_player_token",
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

/// Request schemas with fields that the server ignores: a game to import may be one that was exported.
const OPEN: [&str; 9] = [
    "ImportEffect",
    "ImportGame",
    "ImportMove",
    "ImportPlayer",
    "ImportPosition",
    "ImportResult",
    "ImportScore",
    "ImportSeats",
    "ImportTerms",
];

/// Marks the other request schemas as closed, because the server refuses unknown fields. The derived document marks only some.
pub(super) fn close(document: &mut openapi::OpenApi) {
    let names: Vec<_> = schemas(document).into_iter().filter(|name| !OPEN.contains(&name.as_str())).collect();
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
pub(super) fn schemas(document: &openapi::OpenApi) -> BTreeSet<String> {
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
