//! Words that may grow: strings whose known values are listed in `x-extensible-enum` and in the description.
//!
//! A client that is generated from a closed list fails on a new value, and few generators understand a list beside any other string.

use std::collections::BTreeMap;

use mancala_db::{
    operators::{
        Deed,
        acts::{CLOSE_REPORT, READ_GAME},
    },
    players::{settings::Inviters, suspensions::SuspendedGames},
    webhooks::deliveries::{CHALLENGE, PING},
};
use mancala_domain::{DeviceKind, NoticeKind, OfferKind, Reason, ReportReason};
use mancala_outbound::webhook::SendError;
use mancala_rules::{IllegalMove, Variant};
use utoipa::openapi::{
    Object, RefOr, Schema, Type,
    extensions::ExtensionsBuilder,
    schema::{ArrayItems, SchemaType},
};

/// The schemas that are such words.
const WORD_SCHEMAS: [&str; 11] = [
    "AnalysisProgress",
    "ClockType",
    "Code",
    "FriendStatus",
    "LastSeen",
    "MoveClass",
    "OptionType",
    "PlayerKind",
    "ReadinessCheck",
    "RowEnd",
    "Status",
];

/// The fields that are such words, or lists of them: schema, field and words.
fn word_fields() -> Vec<(&'static str, &'static str, Vec<String>)> {
    let texts = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let reasons: Vec<_> = Reason::all().map(|reason| reason.to_string()).collect();
    let offers = texts(&OfferKind::ALL.map(OfferKind::as_str));
    let notices = texts(&NoticeKind::ALL.map(NoticeKind::as_str));
    let messages = [notices.clone(), texts(&[PING, CHALLENGE])].concat();
    let illegal = [texts(&["not_a_move"]), texts(&IllegalMove::reasons())].concat();
    let failed = [texts(&["status", "challenge", "gone"]), texts(&SendError::ALL.map(SendError::as_str))].concat();
    let disabled = texts(&["by_request", "gone", "failing", "overflow", "unverified", "app_disabled"]);
    let reports = texts(&ReportReason::ALL.map(ReportReason::as_str));
    let acts = [texts(&Deed::WORDS), texts(&[CLOSE_REPORT, READ_GAME])].concat();
    let suspended = texts(&SuspendedGames::ALL.map(SuspendedGames::as_str));
    let inviters = texts(&Inviters::ALL.map(Inviters::as_str));
    let devices = texts(&DeviceKind::ALL.map(DeviceKind::as_str));
    let variants = Variant::ALL.map(|variant| variant.to_string()).to_vec();
    vec![
        ("CreateGame", "variant", variants),
        ("CallerProfile", "who_may_invite", inviters.clone()),
        ("OwnProfile", "who_may_invite", inviters.clone()),
        ("UpdatedMe", "who_may_invite", inviters),
        ("Device", "kind", devices.clone()),
        ("Effect", "reason", reasons.clone()),
        ("Event", "offer", offers.clone()),
        ("GameMessage", "type", notices.clone()),
        ("ImportResult", "reason", reasons.clone()),
        ("Offer", "type", offers.clone()),
        ("Outcome", "reason", reasons.clone()),
        ("PlayerEvent", "offer", offers),
        ("OperatorAct", "type", acts),
        ("OperatorReport", "reason", reports.clone()),
        ("Problem", "reason", illegal),
        ("Push", "kinds", devices),
        ("Report", "reason", reports),
        ("Result", "reason", reasons),
        ("OperatorChange", "games", suspended.clone()),
        ("Suspension", "games", suspended),
        ("Webhook", "disabled_reason", disabled.clone()),
        ("Webhook", "events", notices.clone()),
        ("WebhookDelivery", "last_error", failed),
        ("WebhookDelivery", "status", texts(&["waiting", "delivered", "failed"])),
        ("WebhookDelivery", "type", messages),
        ("WebhookWithSecret", "disabled_reason", disabled),
        ("WebhookWithSecret", "events", notices),
    ]
}

/// Opens all words that may grow.
pub(super) fn open(schemas: &mut BTreeMap<String, RefOr<Schema>>) {
    for name in WORD_SCHEMAS {
        let schema = schemas.get_mut(name).expect("each of the words is a schema of the document");
        if let RefOr::T(Schema::Object(object)) = schema {
            let words = object.enum_values.take().unwrap_or_default();
            list(object, words.iter().filter_map(|word| word.as_str()).map(str::to_owned).collect());
        }
    }
    for (name, field, words) in word_fields() {
        let property = match schemas.get_mut(name) {
            Some(RefOr::T(Schema::Object(object))) => object.properties.get_mut(field),
            _ => None,
        };
        match property.unwrap_or_else(|| panic!("{name} has no field {field}")) {
            RefOr::T(Schema::Object(object)) => list(object, words),
            RefOr::T(Schema::Array(array)) => {
                if let ArrayItems::RefOrSchema(items) = &mut array.items
                    && let RefOr::T(Schema::Object(object)) = &mut **items
                {
                    list(object, words);
                }
            }
            _ => panic!("{name}.{field} is no text"),
        }
    }
}

/// A text that is one of these words today.
pub(super) fn one_of(words: Vec<String>) -> Object {
    let mut object = Object::with_type(SchemaType::from(Type::String));
    list(&mut object, words);
    object
}

/// Lists the words of a text in its extension, and in its description unless the description has all of them.
fn list(object: &mut Object, words: Vec<String>) {
    object.enum_values = None;
    let description = object.description.take().unwrap_or_default();
    let quoted: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
    let is_told = quoted.iter().all(|word| description.contains(word));
    let told = (!is_told).then(|| format!("One of {}.", quoted.join(", ")));
    let warning = (!description.contains("do not know")).then(|| NEWER.to_owned());
    let parts = [Some(description).filter(|text| !text.is_empty()), told, warning];
    object.description = Some(parts.into_iter().flatten().collect::<Vec<_>>().join(" "));
    object.extensions = Some(ExtensionsBuilder::new().add("x-extensible-enum", words).build());
}

/// The advice for clients that read a value of a newer server.
const NEWER: &str = "Clients ignore values that they do not know.";
