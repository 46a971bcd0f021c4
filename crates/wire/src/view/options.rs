//! The wire type of options' values.

use std::{borrow::Cow, fmt};

use mancala_rules::OptionValue;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{Error, Unexpected, Visitor},
};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{Object, RefOr, Schema, schema::SchemaType},
};

/// The value of an option: a number, true or false, or a word.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum OptionValueView {
    Integer(i64),
    Boolean(bool),
    Word(Cow<'static, str>),
}

impl From<OptionValueView> for OptionValue {
    fn from(value: OptionValueView) -> Self {
        match value {
            OptionValueView::Integer(value) => OptionValue::Integer(value),
            OptionValueView::Boolean(value) => OptionValue::Boolean(value),
            OptionValueView::Word(value) => OptionValue::Word(value),
        }
    }
}

/// Any value: of one type among several, generators make what no value can be read into.
impl PartialSchema for OptionValueView {
    fn schema() -> RefOr<Schema> {
        let mut object = Object::with_type(SchemaType::AnyValue);
        object.description = Some("The value of an option: an integer, true or false, or a word.".to_owned());
        object.into()
    }
}

impl ToSchema for OptionValueView {
    fn name() -> Cow<'static, str> {
        "OptionValue".into()
    }
}

/// Accepts 6.0 as an integer, as JSON Schema does: some languages write every number in this form.
impl<'de> Deserialize<'de> for OptionValueView {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Value;

        impl Visitor<'_> for Value {
            type Value = OptionValueView;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an integer, true or false, or a word")
            }

            fn visit_bool<E: Error>(self, value: bool) -> Result<OptionValueView, E> {
                Ok(OptionValueView::Boolean(value))
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<OptionValueView, E> {
                Ok(OptionValueView::Integer(value))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<OptionValueView, E> {
                // A number beyond `i64` is out of every option's bounds.
                Ok(OptionValueView::Integer(i64::try_from(value).unwrap_or(i64::MAX)))
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<OptionValueView, E> {
                // The text of a whole number has no decimal point.
                let whole = value.to_string().parse().map(OptionValueView::Integer);
                whole.map_err(|_| E::invalid_type(Unexpected::Float(value), &self))
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<OptionValueView, E> {
                Ok(OptionValueView::Word(Cow::Owned(word.to_owned())))
            }
        }

        deserializer.deserialize_any(Value)
    }
}

impl From<OptionValue> for OptionValueView {
    fn from(value: OptionValue) -> Self {
        match value {
            OptionValue::Integer(value) => OptionValueView::Integer(value),
            OptionValue::Boolean(value) => OptionValueView::Boolean(value),
            OptionValue::Word(value) => OptionValueView::Word(value),
        }
    }
}
