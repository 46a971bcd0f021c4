//! All faults of a JSON body, by the schema of its type.
//!
//! serde stops at the first fault, and so do handlers that do not collect theirs. When a request is refused, its body
//! is compared with the schema. So the answer names every part that is missing, unknown, of the wrong type, or out of
//! bounds. A request that is not refused costs nothing but the note that its body was read. A validator for JSON Schema
//! would name the branches of a union that do not match; here the field that tells them apart decides.

use std::collections::BTreeMap;

use actix_web::{HttpMessage, HttpRequest, web::Bytes};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::http::{
    answer::problem::{FAULTS_MAX, FieldError, Problem},
    view::wire::ALWAYS_JSON,
};

/// How deep a body is compared. No call's body is half as deep.
const DEPTH_MAX: usize = 16;

/// The body of a request, and how to find its faults.
struct ReadBody {
    bytes: Bytes,
    faults: fn(&[u8]) -> Vec<FieldError>,
}

/// Notes the body that a request was read as.
pub(crate) fn note<T: ToSchema>(request: &HttpRequest, bytes: &Bytes) {
    request.extensions_mut().insert(ReadBody { bytes: bytes.clone(), faults: faults::<T> });
}

/// A refusal with all faults of the request's body. Other failures stay as they are.
pub(crate) fn complete(problem: Problem, request: &HttpRequest) -> Problem {
    if !problem.is_of_body() {
        return problem;
    }
    match request.extensions().get::<ReadBody>() {
        Some(body) => problem.with_faults((body.faults)(&body.bytes)),
        None => problem,
    }
}

fn faults<T: ToSchema>(bytes: &[u8]) -> Vec<FieldError> {
    let Ok(body) = serde_json::from_slice::<Value>(bytes) else { return vec![] };
    let mut named = vec![];
    T::schemas(&mut named);
    let named = named.into_iter().map(|(name, schema)| (name, serde_json::to_value(schema).expect(ALWAYS_JSON)));
    let mut comparison = Comparison { named: named.collect(), faults: vec![] };
    let schema = serde_json::to_value(T::schema()).expect(ALWAYS_JSON);
    comparison.compare(&schema, &body, "", DEPTH_MAX);
    comparison.faults
}

struct Comparison {
    /// The schemas to which others refer.
    named: BTreeMap<String, Value>,
    faults: Vec<FieldError>,
}

impl Comparison {
    fn add(&mut self, pointer: &str, code: &'static str, detail: impl Into<String>) {
        if self.faults.len() < FAULTS_MAX {
            self.faults.push(FieldError::new(pointer, code, detail));
        }
    }

    fn compare(&mut self, schema: &Value, value: &Value, pointer: &str, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let schema = self.resolved(schema);
        if let Some(branches) = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array()) {
            return self.compare_union(branches, value, pointer, depth);
        }
        for part in schema["allOf"].as_array().into_iter().flatten() {
            self.compare(part, value, pointer, depth);
        }
        if let Some(expected) = wrong_type(&schema["type"], value) {
            return self.add(pointer, "wrong_type", format!("expected {expected}"));
        }
        if let Some(words) = schema["enum"].as_array()
            && !words.contains(value)
        {
            return self.add_not_one_of(pointer, words);
        }
        match value {
            Value::Object(fields) => {
                for required in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                    if !fields.contains_key(required) {
                        let missing = format!("missing field `{required}`");
                        self.add(&below(pointer, required), "required", missing);
                    }
                }
                for (name, field) in fields {
                    let (known, further) = (&schema["properties"][name], &schema["additionalProperties"]);
                    if !known.is_null() {
                        self.compare(known, field, &below(pointer, name), depth);
                    } else if further.is_object() {
                        self.compare(further, field, &below(pointer, name), depth);
                    } else if *further == Value::Bool(false) {
                        self.add(&below(pointer, name), "unknown_field", "there is no such field");
                    }
                }
            }
            Value::Array(items) => {
                self.check_length(&schema, ["minItems", "maxItems"], items.len(), pointer, "items");
                for (index, item) in items.iter().enumerate() {
                    self.compare(&schema["items"], item, &format!("{pointer}/{index}"), depth);
                }
            }
            Value::String(text) => {
                let length = text.chars().count();
                self.check_length(&schema, ["minLength", "maxLength"], length, pointer, "characters");
                if schema["format"] == "uuid" && Uuid::try_parse(text).is_err() {
                    self.add(pointer, "wrong_format", "expected a UUID");
                }
            }
            Value::Number(number) => {
                let [least, most] = ["minimum", "maximum"].map(|bound| schema[bound].as_f64());
                let number = number.as_f64().unwrap_or(f64::INFINITY);
                if least.is_some_and(|least| number < least) || most.is_some_and(|most| number > most) {
                    self.add(pointer, "out_of_range", bounds(&schema, ["minimum", "maximum"], ""));
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// One of several schemas: that which the field that tells them apart names, or else the one with the fewest faults.
    fn compare_union(&mut self, branches: &[Value], value: &Value, pointer: &str, depth: usize) {
        let branches: Vec<_> = branches.iter().map(|branch| self.resolved(branch)).collect();
        if let Some(tag) = tag_of(&branches).filter(|_| value.is_object()) {
            let word = |branch: &Value| branch["properties"][&tag]["enum"][0].clone();
            let Some(given) = value.get(&tag) else {
                return self.add(&below(pointer, &tag), "required", format!("missing field `{tag}`"));
            };
            if let Some(branch) = branches.iter().find(|branch| word(branch) == *given) {
                self.compare(branch, value, pointer, depth);
            } else {
                let words: Vec<_> = branches.iter().map(word).collect();
                self.add_not_one_of(&below(pointer, &tag), &words);
            }
            return;
        }
        let found = branches.iter().map(|branch| {
            let mut alone = Self { named: self.named.clone(), faults: vec![] };
            alone.compare(branch, value, pointer, depth);
            alone.faults
        });
        let fewest = found.min_by_key(Vec::len).unwrap_or_default();
        self.faults.extend(fewest);
        self.faults.truncate(FAULTS_MAX);
    }

    fn add_not_one_of(&mut self, pointer: &str, words: &[Value]) {
        let values: Vec<_> =
            words.iter().map(|word| word.as_str().map_or_else(|| word.to_string(), ToOwned::to_owned)).collect();
        self.add(pointer, "not_one_of", format!("expected one of {}", values.join(", ")));
        if let Some(fault) = self.faults.last_mut().filter(|fault| fault.pointer == pointer) {
            fault.values = Some(values);
        }
    }

    fn check_length(&mut self, schema: &Value, keys: [&str; 2], length: usize, pointer: &str, unit: &str) {
        let [least, most] = keys.map(|key| schema[key].as_u64());
        let length = u64::try_from(length).unwrap_or(u64::MAX);
        if least.is_some_and(|least| length < least) || most.is_some_and(|most| length > most) {
            self.add(pointer, "wrong_length", bounds(schema, keys, unit));
        }
    }

    fn resolved(&self, schema: &Value) -> Value {
        let name = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next());
        name.and_then(|name| self.named.get(name)).unwrap_or(schema).clone()
    }
}

/// The field that tells the branches of a union apart: each has one word for it, such as `type` or `grant_type`.
fn tag_of(branches: &[Value]) -> Option<String> {
    let has_word = |branch: &Value, name: &str| {
        let words = branch["properties"][name]["enum"].as_array();
        words.is_some_and(|words| words.len() == 1)
    };
    let names = branches.first()?["properties"].as_object()?.keys();
    names.into_iter().find(|name| branches.iter().all(|branch| has_word(branch, name))).cloned()
}

/// A name escaped for a JSON pointer.
pub fn pointer_token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn below(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", pointer_token(name))
}

/// The bounds of a schema in words.
fn bounds(schema: &Value, keys: [&str; 2], unit: &str) -> String {
    let text = match keys.map(|key| &schema[key]) {
        [Value::Null, most] => format!("at most {most} {unit}"),
        [least, Value::Null] => format!("at least {least} {unit}"),
        [least, most] => format!("from {least} to {most} {unit}"),
    };
    text.trim_end().to_owned()
}

/// What a schema expects, if the value is of none of its types.
fn wrong_type(types: &Value, value: &Value) -> Option<String> {
    let types: Vec<_> = match types {
        Value::String(one) => vec![one.as_str()],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => return None,
    };
    let is_of = |expected: &&str| match *expected {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        _ => true,
    };
    (!types.iter().any(is_of)).then(|| types.join(" or "))
}
