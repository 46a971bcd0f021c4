//! The options of a new game as JSON Schema (draft 2020-12), for form builders and validators.
//!
//! Describes for each preset what `rules::AnyOptions` accepts: bounds, words, and contradictions. Knows how options are
//! described, but no option by name.

use mancala_rules::{AnyOptions, Contradiction, OptionKind, OptionSpec, OptionValue, PresetSpec, Variant};
use mancala_wire::view::options::OptionValueView;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The schema of `options` in a new game with a preset. It is self-contained: a form builder needs nothing else.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OptionsSchema {
    #[serde(rename = "$schema")]
    dialect: &'static str,
    title: String,
    #[serde(rename = "type")]
    kind: &'static str,
    properties: Properties,
    additional_properties: bool,
    /// The contradictions between options.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    all_of: Vec<Value>,
}

/// By name, in the order in which a form shows them.
#[derive(Debug)]
struct Properties(Vec<(&'static str, PropertySchema)>);

impl Serialize for Properties {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, property)| (name, property)))
    }
}

#[derive(Debug, Serialize)]
struct PropertySchema {
    #[serde(rename = "type")]
    kind: &'static str,
    description: &'static str,
    /// The value if the option is left out.
    default: OptionValueView,
    #[serde(skip_serializing_if = "Option::is_none")]
    minimum: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    maximum: Option<u16>,
    #[serde(rename = "enum", skip_serializing_if = "Option::is_none")]
    words: Option<&'static [&'static str]>,
}

impl OptionsSchema {
    pub fn of(variant: Variant, preset: &PresetSpec) -> Self {
        let options = AnyOptions::new(variant, preset.name, &[]).expect("a preset is a choice of its variant");
        let defaults = options.all_values();
        let properties = variant.options().iter().zip(&defaults);
        Self {
            dialect: DIALECT,
            title: format!("Options of {}, preset {}", variant.title(), preset.title),
            kind: "object",
            properties: Properties(
                properties.map(|(spec, (_, value))| (spec.name, PropertySchema::of(spec, value, preset))).collect(),
            ),
            additional_properties: false,
            all_of: variant.contradictions().iter().map(|refused| condition(refused, variant, &defaults)).collect(),
        }
    }
}

impl PropertySchema {
    fn of(spec: &OptionSpec, default: &OptionValue, preset: &PresetSpec) -> Self {
        let narrower = preset.bounds.iter().find(|bounds| bounds.option == spec.name);
        let (kind, minimum, maximum, words) = match spec.kind {
            OptionKind::Integer { min, max } => {
                let (min, max) = narrower.map_or((min, max), |bounds| (bounds.min, bounds.max));
                ("integer", Some(min), Some(max), None)
            }
            OptionKind::Boolean => ("boolean", None, None, None),
            OptionKind::Choice(words) => ("string", None, None, Some(words)),
        };
        Self { kind, description: spec.description, default: default.clone().into(), minimum, maximum, words }
    }
}

/// A contradiction as a condition: if one option has the refused value, then the other has another value. The defaults decide
/// which of the two must be given for that.
fn condition(refused: &Contradiction, variant: Variant, defaults: &[(&'static str, OptionValue)]) -> Value {
    let Contradiction { option, value, other, other_value } = refused;
    let is_default =
        |name: &str, value: &OptionValue| defaults.iter().any(|entry| (entry.0, &entry.1) == (name, value));
    let required = |name: &str, is_needed: bool| if is_needed { vec![name.to_owned()] } else { vec![] };
    let (given, what) = match value {
        Some(value) => (
            json!({
                "properties": {*option: {"const": view(value)}},
                "required": required(option, !is_default(option, value)),
            }),
            format!("be `{value}`"),
        ),
        None => (json!({"required": [option]}), "be given".to_owned()),
    };
    json!({
        "description": format!("`{option}` cannot {what} while `{other}` is `{other_value}`."),
        "if": given,
        "then": {
            "properties": {*other: anything_but(other_value, other, variant)},
            "required": required(other, is_default(other, other_value)),
        },
    })
}

/// All values of an option but one. The remaining values are named, so that a form can offer them.
fn anything_but(value: &OptionValue, option: &str, variant: Variant) -> Value {
    match (variant.options().iter().find(|spec| spec.name == option).map(|spec| spec.kind), value) {
        (Some(OptionKind::Choice(words)), OptionValue::Word(value)) => {
            json!({"enum": words.iter().filter(|word| *word != value).collect::<Vec<_>>()})
        }
        (_, OptionValue::Boolean(value)) => json!({"const": !value}),
        _ => json!({"not": {"const": view(value)}}),
    }
}

fn view(value: &OptionValue) -> OptionValueView {
    value.clone().into()
}
