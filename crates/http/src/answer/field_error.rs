//! An invalid field of a request, as an answer names it.

use serde::Serialize;
use utoipa::ToSchema;

use super::bounds::cut;

/// The most faults that an answer names.
pub const FAULTS_MAX: usize = 64;

/// An invalid part of a request.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct FieldError {
    /// A JSON pointer into the body; `?name` for a query parameter; the name of a header.
    #[schema(example = "/options/seeds")]
    pub pointer: String,
    /// What is wrong with this part, in words for people.
    pub detail: String,
    /// What is wrong with it, in a stable word: `required`, `unknown_field`, `duplicate_field`, `wrong_type`, `not_one_of`,
    /// `out_of_range`, `wrong_length`, `wrong_format`, or else `invalid`. Clients treat words that they do not know as `invalid`.
    #[schema(value_type = String, example = "out_of_range")]
    pub code: &'static str,
    /// With `not_one_of`: what is accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = json!(["south", "north", "random"]))]
    pub values: Option<Vec<String>>,
}

impl FieldError {
    pub fn new(pointer: impl Into<String>, code: &'static str, detail: impl Into<String>) -> Self {
        Self { pointer: cut(pointer), detail: cut(detail), code, values: None }
    }
}
