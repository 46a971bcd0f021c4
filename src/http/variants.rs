//! Variants: what can be played, and with which options.

use std::{borrow::Cow, collections::BTreeMap};

use actix_web::{HttpRequest, HttpResponse, get};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    error::{Problem, ProblemBody},
    extract::{NoQuery, Query},
    headers::KEPT_FOR_MINUTES,
};
use crate::rules::{AnyOptions, OptionKind, OptionSpec, OptionValue, PresetSpec, Variant};

/// List the variants
///
/// With their presets and options: what a form for a new game needs.
#[utoipa::path(
    tag = "variants",
    operation_id = "list_variants",
    responses((status = 200, description = "All variants", body = VariantPage)),
    security((), ("bearer" = []))
)]
#[get("/variants")]
pub async fn list_variants(_: Query<NoQuery>) -> HttpResponse {
    let items = Variant::ALL.iter().copied().map(VariantView::of).collect();
    HttpResponse::Ok().insert_header(KEPT_FOR_MINUTES).json(VariantPage { items, next_cursor: None })
}

/// Get a variant
#[utoipa::path(
    tag = "variants",
    operation_id = "get_variant",
    params(("variant" = String, Path, description = "The variant's name", example = "kalah")),
    responses(
        (status = 200, description = "The variant", body = VariantView),
        (status = 404, description = "`not_found`", body = ProblemBody, content_type = "application/problem+json"),
    ),
    security((), ("bearer" = []))
)]
#[get("/variants/{variant}")]
pub async fn get_variant(_: Query<NoQuery>, request: HttpRequest) -> Result<HttpResponse, Problem> {
    let variant = request.match_info().get("variant").and_then(|name| name.parse().ok());
    let variant = variant.ok_or_else(|| Problem::not_found("there is no such variant"))?;
    Ok(HttpResponse::Ok().insert_header(KEPT_FOR_MINUTES).json(VariantView::of(variant)))
}

/// All variants. There is never a second page.
#[derive(Debug, Serialize, ToSchema)]
pub struct VariantPage {
    items: Vec<VariantView>,
    /// Always null.
    #[schema(required = true)]
    next_cursor: Option<String>,
}

/// A game that can be played.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Variant)]
pub struct VariantView {
    #[schema(example = "kalah")]
    name: String,
    /// The name that people read.
    #[schema(example = "Kalah")]
    title: &'static str,
    /// The edition of the rules that new games are pinned to.
    #[schema(minimum = 1, example = 1)]
    rules_version: u16,
    /// Named sets of options; the first is `standard`.
    presets: Vec<PresetView>,
    /// What can be chosen, whatever the preset.
    options: Vec<OptionView>,
}

/// A named set of options.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Preset)]
struct PresetView {
    #[schema(example = "standard")]
    name: &'static str,
    /// The name that people read.
    title: &'static str,
    /// What it is, and where it comes from.
    description: &'static str,
    /// What every option is in this preset.
    options: BTreeMap<&'static str, OptionValueView>,
    /// Options whose bounds are narrower here than in general.
    bounds: Vec<BoundsView>,
}

/// The narrower bounds that a preset sets for an option.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OptionBounds)]
struct BoundsView {
    #[schema(example = "seeds")]
    option: &'static str,
    #[schema(example = 3)]
    min: u16,
    #[schema(example = 6)]
    max: u16,
}

/// Something that can be chosen for a game.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OptionSpec)]
struct OptionView {
    #[schema(example = "seeds")]
    name: &'static str,
    #[serde(rename = "type")]
    kind: OptionType,
    /// What it is in the preset `standard`.
    default: OptionValueView,
    /// With `integer`: the least value.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = 1)]
    min: Option<u16>,
    /// With `integer`: the greatest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = 12)]
    max: Option<u16>,
    /// With `choice`: the values.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = json!(["own", "both"]))]
    values: Option<&'static [&'static str]>,
    /// One sentence.
    description: &'static str,
}

/// What kind of value an option has.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum OptionType {
    Integer,
    Boolean,
    Choice,
}

/// The value of an option: a number, true or false, or a word.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(untagged, expecting = "expected an integer, true or false, or a word")]
#[schema(as = OptionValue)]
pub enum OptionValueView {
    Integer(i64),
    Boolean(bool),
    Word(Cow<'static, str>),
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

impl From<OptionValueView> for OptionValue {
    fn from(value: OptionValueView) -> Self {
        match value {
            OptionValueView::Integer(value) => OptionValue::Integer(value),
            OptionValueView::Boolean(value) => OptionValue::Boolean(value),
            OptionValueView::Word(value) => OptionValue::Word(value),
        }
    }
}

impl VariantView {
    fn of(variant: Variant) -> Self {
        Self {
            name: variant.to_string(),
            title: variant.title(),
            rules_version: variant.rules_version(),
            presets: variant.presets().iter().map(|preset| PresetView::of(variant, preset)).collect(),
            options: variant.options().iter().map(OptionView::of).collect(),
        }
    }
}

impl PresetView {
    fn of(variant: Variant, preset: &PresetSpec) -> Self {
        let options = AnyOptions::new(variant, preset.name, &[]).expect("a preset is a choice of its variant");
        let options = options.values().into_iter().map(|(name, value)| (name, value.into())).collect();
        let bounds =
            preset.bounds.iter().map(|bounds| BoundsView { option: bounds.option, min: bounds.min, max: bounds.max });
        Self {
            name: preset.name,
            title: preset.title,
            description: preset.description,
            options,
            bounds: bounds.collect(),
        }
    }
}

impl OptionView {
    fn of(option: &OptionSpec) -> Self {
        let (kind, min, max, values) = match option.kind {
            OptionKind::Integer { min, max } => (OptionType::Integer, Some(min), Some(max), None),
            OptionKind::Boolean => (OptionType::Boolean, None, None, None),
            OptionKind::Choice(values) => (OptionType::Choice, None, None, Some(values)),
        };
        let default = option.default.clone().into();
        Self { name: option.name, kind, default, min, max, values, description: option.description }
    }
}
