//! Extractors: a request's body, query and path parameters, parsed into types or refused with a [`Problem`].

use std::{
    fmt,
    future::{Future, Ready, ready},
    marker::PhantomData,
    pin::Pin,
};

use actix_web::{FromRequest, HttpRequest, dev::Payload, http::header, web::Bytes};
use mancala_domain::GameId;
use mancala_rules::Variant;
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, IntoDeserializer, MapAccess, Visitor, value::MapAccessDeserializer},
};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    body::{SHORT_BODY, read},
    faults::{self, pointer_token},
};
use crate::{
    answer::{code::Code, field_error::FieldError, problem::Problem},
    paths,
};

/// A JSON body of at most `MAX` bytes.
#[derive(Debug)]
pub struct Body<T, const MAX: usize = SHORT_BODY>(pub T);

impl<T: DeserializeOwned + ToSchema + 'static, const MAX: usize> FromRequest for Body<T, MAX> {
    type Error = Problem;
    type Future = Pin<Box<dyn Future<Output = Result<Self, Problem>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let declared = declares_json(request);
        let bytes = read(request, payload, MAX);
        let request = request.clone();
        Box::pin(async move {
            let bytes = bytes.await;
            declared?;
            let bytes = bytes?;
            faults::note::<T>(&request, &bytes);
            parse(&bytes).map(Self)
        })
    }
}

/// An optional JSON body.
#[derive(Debug)]
pub struct OptionalBody<T>(pub T);

impl<T: DeserializeOwned + Default + ToSchema + 'static> FromRequest for OptionalBody<T> {
    type Error = Problem;
    type Future = Pin<Box<dyn Future<Output = Result<Self, Problem>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let declared = declares_json(request);
        let bytes = read(request, payload, SHORT_BODY);
        let request = request.clone();
        Box::pin(async move {
            let bytes = bytes.await;
            if bytes.as_ref().is_ok_and(Bytes::is_empty) {
                return Ok(OptionalBody(T::default()));
            }
            declared?;
            let bytes = bytes?;
            faults::note::<T>(&request, &bytes);
            parse(&bytes).map(OptionalBody)
        })
    }
}

/// The body of a call that needs none: an empty object.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// The query parameters.
#[derive(Debug)]
pub struct Query<T>(pub T);

impl<T: DeserializeOwned> FromRequest for Query<T> {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(read_query(request.query_string()).map(Query))
    }
}

/// The parameters of a query.
pub fn read_query<T: DeserializeOwned>(query: &str) -> Result<T, Problem> {
    let pairs = serde_urlencoded::Deserializer::new(form_urlencoded::parse(query.as_bytes()));
    serde_path_to_error::deserialize(pairs).map_err(|error| {
        let detail = error.inner().to_string();
        let name = named_field(&detail).map_or_else(|| error.path().to_string(), ToOwned::to_owned);
        let (pointer, code) = (format!("?{name}"), code_of(&detail));
        let fault = FieldError { values: accepted_words(&detail), ..FieldError::new(pointer.clone(), code, "") };
        Problem::invalid_as(code, pointer, in_terms_of_json(&detail)).with_faults(vec![fault])
    })
}

/// The words that serde's message about an unknown one accepts.
fn accepted_words(message: &str) -> Option<Vec<String>> {
    let (_, expected) = message.strip_prefix("unknown variant")?.rsplit_once(", expected ")?;
    // Every second part is between backticks.
    Some(expected.split('`').skip(1).step_by(2).map(ToOwned::to_owned).collect())
}

/// The query of a call that takes no parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoQuery {}

/// The ply in the path, in the one form that is accepted: without a sign or leading zeros.
pub fn ply_of(request: &HttpRequest) -> Option<u32> {
    let text = request.match_info().get("ply")?;
    text.parse().ok().filter(|ply: &u32| ply.to_string() == text)
}

/// The game in the path. Text that is no UUID names no game.
#[derive(Clone, Copy, Debug)]
pub struct GamePath(pub GameId);

impl FromRequest for GamePath {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let id = request.match_info().get("id").and_then(|id| Uuid::try_parse(id).ok());
        ready(id.map(|id| Self(GameId(id))).ok_or_else(|| no_such_game(request)))
    }
}

/// Refuses a path without a game. Another route may have the same path with other methods.
fn no_such_game(request: &HttpRequest) -> Problem {
    match paths::find(request.path()).filter(|path| !path.knows(request.method())) {
        Some(path) => Problem::method_not_allowed(path.allow.clone()),
        None => Problem::not_found("there is no such game"),
    }
}

/// The variant in the path.
#[derive(Clone, Copy, Debug)]
pub struct VariantPath(pub Variant);

impl FromRequest for VariantPath {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let variant = request.match_info().get("variant").and_then(|name| name.parse().ok());
        ready(variant.map(Self).ok_or_else(|| Problem::not_found("there is no such variant")))
    }
}

/// Refuses a body that is not declared as JSON, or is declared as compressed.
pub(super) fn declares_json(request: &HttpRequest) -> Result<(), Problem> {
    let text = |name| request.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = text(header::CONTENT_TYPE).split(';').next().unwrap_or_default();
    if !essence.trim().eq_ignore_ascii_case("application/json") {
        return Err(Problem::new(Code::UnsupportedMediaType, "a body is sent as application/json"));
    }
    check_plain(request)
}

/// Refuses a body that is declared as compressed, because its decompressed size has no bound.
pub fn check_plain(request: &HttpRequest) -> Result<(), Problem> {
    let text = |name| request.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let plain = !request.headers().contains_key(header::CONTENT_ENCODING)
        || text(header::CONTENT_ENCODING).trim().eq_ignore_ascii_case("identity");
    plain.then_some(()).ok_or_else(|| {
        Problem::new(Code::UnsupportedMediaType, "a body is sent as it is, without compression (Content-Encoding)")
    })
}

pub(super) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let detail = format!("the body is not UTF-8 from byte {} on", error.valid_up_to());
        Problem::new(Code::MalformedRequest, detail)
    })?;
    let mut json = serde_json::Deserializer::from_str(text);
    let Whole(value) = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let inner = error.inner();
        if !inner.is_data() {
            return Problem::new(Code::MalformedRequest, format!("the body is not JSON: {inner}"));
        }
        // serde_json ends its message with line and column; the pointer is more precise.
        let detail = inner.to_string();
        let detail = detail.rsplit_once(" at line ").map_or(detail.as_str(), |(what, _)| what);
        Problem::invalid_as(code_of(detail), pointer(error.path(), named_field(detail)), in_terms_of_json(detail))
    })?;
    json.end().map_err(|error| Problem::new(Code::MalformedRequest, format!("the body is not JSON: {error}")))?;
    Ok(value)
}

/// The JSON pointer (RFC 6901) of a place in a body.
fn pointer(path: &serde_path_to_error::Path, field: Option<&str>) -> String {
    use serde_path_to_error::Segment;
    let mut pointer = String::new();
    let mut last = String::new();
    for segment in path {
        let token = match segment {
            Segment::Seq { index } => index.to_string(),
            Segment::Map { key } => key.clone(),
            Segment::Enum { variant } => variant.clone(),
            Segment::Unknown => continue,
        };
        pointer.push('/');
        pointer.push_str(&pointer_token(&token));
        last = token;
    }
    match field {
        Some(field) if field != last => format!("{pointer}/{}", pointer_token(field)),
        _ => pointer,
    }
}

/// A value that must be a JSON object. By itself, serde also accepts a list in the order of the fields, which is not
/// part of the API.
pub fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Object<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a JSON object")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::deserialize(MapAccessDeserializer::new(map))
        }
    }

    deserializer.deserialize_map(Object(PhantomData))
}

/// An optional field that must be a JSON object.
pub fn some_object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    object(deserializer).map(Some)
}

/// A value that may be absent but not null.
pub fn some<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// A string that may be absent but not null.
pub fn some_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    String::deserialize(deserializer).map(Some)
}

/// A value of an enum, as a string. `serde_json` would also accept an object, and report other types as malformed JSON.
pub fn word<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    T::deserialize(String::deserialize(deserializer)?.into_deserializer())
}

/// An optional value of an enum, as a string.
pub fn some_word<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    word(deserializer).map(Some)
}

/// The entries of a JSON object in order, with duplicates. A map would drop all but the last of one name.
pub fn entries<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<(String, T)>, D::Error> {
    struct Entries<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
        type Value = Vec<(String, T)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a JSON object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut entries = vec![];
            while let Some(entry) = map.next_entry()? {
                entries.push(entry);
            }
            Ok(entries)
        }
    }

    deserializer.deserialize_map(Entries(PhantomData))
}

/// A whole body, which must be an object.
#[derive(Deserialize)]
#[serde(bound(deserialize = "T: Deserialize<'de>"))]
struct Whole<T>(#[serde(deserialize_with = "object")] T);

/// serde's message, with JSON's terms in place of Rust's.
fn in_terms_of_json(message: &str) -> String {
    let number = "expected an integer from 0 to 4294967295";
    if message.contains("invalid digit")
        || message.contains("number too large")
        || message.contains("from empty string")
    {
        return number.to_owned();
    }
    message.replace("unknown variant", "unknown value").replace("expected u32", number)
}

/// The stable word for serde's message.
fn code_of(message: &str) -> &'static str {
    let words = [
        ("unknown field", "unknown_field"),
        ("missing field", "required"),
        ("duplicate field", "duplicate_field"),
        ("unknown variant", "not_one_of"),
        ("invalid type", "wrong_type"),
        ("invalid value", "out_of_range"),
        ("invalid digit", "wrong_type"),
        ("cannot parse integer from empty string", "wrong_type"),
        ("provided string was not `true` or `false`", "wrong_type"),
        ("number too large", "out_of_range"),
    ];
    words.into_iter().find(|(begin, _)| message.starts_with(begin)).map_or("invalid", |(_, code)| code)
}

/// The field that serde's message names, if its path ends before that field.
fn named_field(message: &str) -> Option<&str> {
    let rest =
        ["unknown field `", "missing field `", "duplicate field `"].iter().find_map(|p| message.strip_prefix(p))?;
    rest.split('`').next()
}
