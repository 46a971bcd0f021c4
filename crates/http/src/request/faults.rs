//! All faults of a JSON body, by the schema of its type.
//!
//! serde stops at the first fault, and so do handlers that do not collect theirs. When a request is refused, a short body is compared with
//! the schema. So the answer names every part that is missing, unknown, of the wrong type, or out of bounds. A request that is not refused
//! costs nothing but the note that its body was read. A validator for JSON Schema would name the branches of a union that do not match;
//! here the field that identifies the branch decides.

use std::{borrow::Cow, fmt};

use actix_web::{HttpMessage, HttpRequest, web::Bytes};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    json::Json,
    shapes::{Bounds, OtherFields, Shape, ShapeId, Shapes, Union, Words},
};
use crate::answer::{
    code::Code,
    field_error::{FAULTS_MAX, FieldError},
    problem::Problem,
};

/// How deep a body is compared. No call's body is half as deep.
const DEPTH_MAX: usize = 16;

/// The longest body that is compared, in bytes: that takes a tenth of a millisecond. For a longer one, the answer names the
/// fault at which reading stopped. So many bytes of a refused body are charged as one call.
const COMPARED_BYTES_MAX: usize = 4 * 1024;

/// The body of a request, and how to find its faults.
struct ReadBody {
    bytes: Bytes,
    faults: fn(&[u8]) -> Vec<FieldError>,
}

/// The bytes of a request's body that have arrived.
struct ReceivedBytes(usize);

/// Notes how much of a request's body has arrived.
pub(super) fn note_received(request: &HttpRequest, bytes: usize) {
    request.extensions_mut().insert(ReceivedBytes(bytes));
}

/// Notes the body that a request was read as.
pub(super) fn note<T: ToSchema + 'static>(request: &HttpRequest, bytes: &Bytes) {
    if bytes.len() <= COMPARED_BYTES_MAX {
        request.extensions_mut().insert(ReadBody { bytes: bytes.clone(), faults: faults::<T> });
    }
}

/// A refusal with all faults of the request's body. Other failures stay as they are.
pub fn complete(problem: Problem, request: &HttpRequest) -> Problem {
    if !problem.is_of_body() {
        return problem;
    }
    match request.extensions().get::<ReadBody>() {
        Some(body) => problem.with_faults((body.faults)(&body.bytes)),
        None => problem,
    }
}

/// The calls that a request costs beyond the first because its body is refused: one call for each 4 KiB begun.
pub fn further_calls(problem: &Problem, request: &HttpRequest) -> usize {
    let is_of_body = problem.is_of_body() || matches!(problem.code(), Code::MalformedRequest | Code::PayloadTooLarge);
    let received = request.extensions().get::<ReceivedBytes>().filter(|_| is_of_body).map_or(0, |received| received.0);
    received.div_ceil(COMPARED_BYTES_MAX).saturating_sub(1)
}

fn faults<T: ToSchema + 'static>(bytes: &[u8]) -> Vec<FieldError> {
    let text = str::from_utf8(bytes).unwrap_or_default();
    let Some(body) = Json::read(text, DEPTH_MAX) else { return vec![] };
    let mut comparison = Comparison { shapes: &Shapes::of::<T>(), faults: vec![] };
    comparison.compare(Shapes::ROOT, &body, &Pointer::Whole);
    comparison.faults
}

/// A place in a body. Its text is written for a fault only.
enum Pointer<'a> {
    Whole,
    Field(&'a Pointer<'a>, &'a str),
    Item(&'a Pointer<'a>, usize),
}

impl fmt::Display for Pointer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pointer::Whole => Ok(()),
            Pointer::Field(above, name) => write!(f, "{above}/{}", pointer_token(name)),
            Pointer::Item(above, index) => write!(f, "{above}/{index}"),
        }
    }
}

/// A name escaped for a JSON pointer.
pub fn pointer_token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

struct Comparison<'a> {
    shapes: &'a Shapes,
    faults: Vec<FieldError>,
}

impl Comparison<'_> {
    const fn is_full(&self) -> bool {
        self.faults.len() >= FAULTS_MAX
    }

    fn add(&mut self, pointer: &Pointer<'_>, code: &'static str, detail: &str) {
        if !self.is_full() {
            self.faults.push(FieldError::new(pointer.to_string(), code, detail));
        }
    }

    fn add_not_one_of(&mut self, pointer: &Pointer<'_>, words: &Words) {
        if !self.is_full() {
            let fault = FieldError::new(pointer.to_string(), "not_one_of", &*words.detail);
            self.faults.push(FieldError { values: Some(words.texts.clone()), ..fault });
        }
    }

    fn compare(&mut self, shape: ShapeId, value: &Json<'_>, pointer: &Pointer<'_>) {
        if self.is_full() || matches!(value, Json::Deep) {
            return;
        }
        let shapes = self.shapes;
        let shape = shapes.get(shape);
        if let Some(union) = &shape.union {
            return self.compare_union(union, value, pointer);
        }
        for part in &shape.all_of {
            self.compare(*part, value, pointer);
        }
        if let Some(types) = shape.types.as_ref().filter(|types| !types.admit(value)) {
            return self.add(pointer, "wrong_type", &types.detail);
        }
        if let Some(words) = shape.words.as_ref().filter(|words| words.position(value).is_none()) {
            return self.add_not_one_of(pointer, words);
        }
        match value {
            Json::Object(fields) => self.compare_fields(shape, fields, pointer),
            Json::List(items) => {
                self.check_count(shape.count.as_ref(), items.len(), pointer);
                let Some(shape) = shape.items else { return };
                for (index, item) in items.iter().enumerate() {
                    self.compare(shape, item, &Pointer::Item(pointer, index));
                }
            }
            Json::Text(text) => {
                self.check_count(shape.length.as_ref(), text.chars().count(), pointer);
                if shape.is_uuid && Uuid::try_parse(text).is_err() {
                    self.add(pointer, "wrong_format", "expected a UUID");
                }
            }
            Json::Integer(number) | Json::Fraction(number) => {
                if let Some(range) = shape.range.as_ref().filter(|range| !range.admit(*number)) {
                    self.add(pointer, "out_of_range", &range.detail);
                }
            }
            Json::Null | Json::Boolean | Json::Deep => {}
        }
    }

    fn compare_fields(&mut self, shape: &Shape, fields: &[(Cow<'_, str>, Json<'_>)], pointer: &Pointer<'_>) {
        for name in shape.required.iter().filter(|required| fields.iter().all(|(name, _)| name != *required)) {
            self.add(&Pointer::Field(pointer, name), "required", &format!("missing field `{name}`"));
        }
        for (name, field) in fields {
            if self.is_full() {
                return;
            }
            let at = Pointer::Field(pointer, name);
            match (shape.fields.get(&**name), &shape.other_fields) {
                (Some(known), _) | (None, OtherFields::Shaped(known)) => self.compare(*known, field, &at),
                (None, OtherFields::Refused) => self.add(&at, "unknown_field", "there is no such field"),
                (None, OtherFields::Ignored) => {}
            }
        }
    }

    fn check_count(&mut self, bounds: Option<&Bounds>, count: usize, pointer: &Pointer<'_>) {
        if let Some(bounds) = bounds.filter(|bounds| !bounds.admit_count(count)) {
            self.add(pointer, "wrong_length", &bounds.detail);
        }
    }

    /// Compares a value with the branch that the tag names. Without a tag, it is the branch with the fewest faults among those that
    /// admit the value's type.
    fn compare_union(&mut self, union: &Union, value: &Json<'_>, pointer: &Pointer<'_>) {
        if let (Some((tag, words)), Json::Object(fields)) = (&union.tag, value) {
            let at = Pointer::Field(pointer, tag);
            return match fields.iter().find(|(name, _)| name == tag) {
                None => self.add(&at, "required", &format!("missing field `{tag}`")),
                Some((_, word)) => match words.position(word) {
                    Some(branch) => self.compare(union.branches[branch], value, pointer),
                    None => self.add_not_one_of(&at, words),
                },
            };
        }
        let shapes = self.shapes;
        let admits = |branch: &&ShapeId| shapes.get(**branch).types.as_ref().is_none_or(|types| types.admit(value));
        let is_admitted = union.branches.iter().any(|branch| admits(&branch));
        let found = union.branches.iter().filter(|branch| !is_admitted || admits(branch)).map(|branch| {
            let mut alone = Comparison { shapes, faults: vec![] };
            alone.compare(*branch, value, pointer);
            alone.faults
        });
        let fewest = found.min_by_key(Vec::len).unwrap_or_default();
        self.faults.extend(fewest);
        self.faults.truncate(FAULTS_MAX);
    }
}
