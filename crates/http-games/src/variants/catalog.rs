//! Variants with their presets and options: shows them, and reads the options of a request.

use std::collections::BTreeMap;

use actix_web::{
    HttpResponse, get,
    http::header::{self, ContentType},
};
use mancala_domain::variants_named;
use mancala_http::{
    answer::{
        failures::{Failures, NotFound, ValidationFailed},
        field_error::{FAULTS_MAX, FieldError},
        headers::{KEPT_FOR_MINUTES, digest_tag},
        problem::Problem,
    },
    request::{
        conditional::IfNoneMatch,
        extract::{NoQuery, Query, VariantPath},
        faults::pointer_token,
    },
};
use mancala_rules::{AnyOptions, OptionKind, OptionSpec, OptionValue, OptionsError, PresetSpec, Variant};
use mancala_wire::view::{options::OptionValueView, wire::ALWAYS_JSON};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::options_schema::OptionsSchema;

/// The longest name of a variant, a preset or an option that is looked up, in characters.
const NAME_MAX: usize = 64;

/// The longest text of options, in characters: twice as long as that of all options of any variant.
const OPTIONS_MAX: usize = 500;

/// List the variants
///
/// With their presets and options; all of them, or those that have a name.
///
/// - `validation_failed`: the name is empty or too long
#[utoipa::path(
    tag = "variants",
    operation_id = "list_variants",
    params(
        ListVariants,
        ("If-None-Match" = Option<String>, Header, description = "The `ETag` of the answer that the client has"),
    ),
    responses(
        (status = 200, description = "The variants", body = VariantPage,
            headers(("ETag" = String, description = "A digest of the answer"))),
        (status = 304, description = "The client's answer is current"),
        Failures<ValidationFailed>,
    ),
    security((), ("bearer" = []))
)]
#[get("/variants")]
pub async fn list_variants(known: IfNoneMatch, query: Query<ListVariants>) -> Result<HttpResponse, Problem> {
    let variants = match &query.0.name {
        None => Variant::ALL.to_vec(),
        Some(name) if name.is_empty() || name.chars().nth(NAME_MAX).is_some() => {
            let detail = format!("a name has from 1 to {NAME_MAX} characters");
            return Err(Problem::invalid_as("wrong_length", "?name", detail));
        }
        Some(name) => variants_named(name),
    };
    let items = variants.into_iter().map(VariantSummary::of).collect();
    Ok(answer(&VariantPage { items, next_cursor: None }, &known))
}

/// Which variants to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListVariants {
    /// Only variants that have this name: that of the variant, its title, or one of its aliases, as a whole. Only letters and
    /// digits count, without case and accents. An unknown name has none.
    #[param(min_length = 1, max_length = 64, example = "Awalé")]
    name: Option<String>,
}

/// An answer that only another release changes, or 304 if the client has it.
fn answer(view: &impl Serialize, known: &IfNoneMatch) -> HttpResponse {
    let json = serde_json::to_vec(view).expect(ALWAYS_JSON);
    let etag = digest_tag(&json);
    let is_news = !known.has(&etag);
    let mut response = if is_news { HttpResponse::Ok() } else { HttpResponse::NotModified() };
    response.insert_header((header::ETAG, etag)).insert_header(KEPT_FOR_MINUTES);
    if is_news { response.content_type(ContentType::json()).body(json) } else { response.finish() }
}

/// Get a variant
///
/// The answer has all that a form for a new game needs: the options also as JSON Schemas, and the rules as text.
#[utoipa::path(
    tag = "variants",
    operation_id = "get_variant",
    params(
        ("variant" = String, Path, description = "The variant's name", example = "kalah"),
        ("If-None-Match" = Option<String>, Header, description = "The `ETag` of the answer that the client has"),
    ),
    responses(
        (status = 200, description = "The variant", body = VariantView,
            headers(("ETag" = String, description = "A digest of the answer"))),
        (status = 304, description = "The client's answer is current"),
        Failures<NotFound>,
    ),
    security((), ("bearer" = []))
)]
#[get("/variants/{variant}")]
pub async fn get_variant(path: VariantPath, known: IfNoneMatch, _: Query<NoQuery>) -> HttpResponse {
    answer(&VariantView::of(path.0), &known)
}

/// The default preset, which every variant has.
pub const STANDARD: &str = "standard";

/// [`STANDARD`] as the default of a field.
pub fn standard() -> String {
    STANDARD.to_owned()
}

/// The options that a request chooses within what `kinds` says, or a problem that points to the wrong field.
pub fn chosen_options(
    variant: Variant,
    preset: &str,
    overrides: Vec<(String, OptionValueView)>,
    kinds: fn(&OptionSpec) -> OptionKind,
) -> Result<AnyOptions, Problem> {
    let overrides = overrides.into_iter().take(OVERRIDES_MAX);
    let overrides: Vec<_> = overrides.map(|(name, value)| (truncated(&name), value.into())).collect();
    let preset = truncated(preset);
    let error = match AnyOptions::within(variant, &preset, &overrides, kinds) {
        Ok(options) => return Ok(options),
        Err(error) => error,
    };
    let fault_of = |error: &OptionsError| fault(error, &overrides);
    // Without a preset, the options are checked as far as they have the same values in all presets.
    let is_preset_unknown = matches!(error, OptionsError::UnknownPreset { .. });
    let preset = if is_preset_unknown { STANDARD } else { &preset };
    let is_of_preset =
        |error: &OptionsError| matches!(error, OptionsError::PresetValue { .. } | OptionsError::Contradiction { .. });
    // The other faults are those of the options without this one.
    let (first, mut named, mut rest) = (fault_of(&error), error.option().map(str::to_owned), overrides.clone());
    let mut further = vec![];
    for _ in 0..FAULTS_MAX {
        rest.retain(|(option, _)| Some(option) != named.as_ref());
        let Err(error) = AnyOptions::within(variant, preset, &rest, kinds) else { break };
        if !(is_preset_unknown && is_of_preset(&error)) {
            further.push(fault_of(&error));
        }
        let option = error.option().map(str::to_owned);
        if option.is_none() || option == named {
            break;
        }
        named = option;
    }
    Err(Problem::of_fault(first).with_faults(further))
}

/// The variant of a name in a body or a query, or a problem that lists the variants.
pub fn chosen_variant(pointer: &str, name: &str) -> Result<Variant, Problem> {
    name.parse().map_err(|_| Problem::not_one_of(pointer, "there is no such variant", Variant::ALL.iter()))
}

/// The most options that are checked: several times as many as a variant has. So a longer list always has faults among the first ones.
const OVERRIDES_MAX: usize = FAULTS_MAX;

/// The fault of a preset or an option in a body, whose options are given.
fn fault(error: &OptionsError, given: &[(String, OptionValue)]) -> FieldError {
    let option = error.option().map(|option| format!("/options/{}", pointer_token(option)));
    let value = given.iter().find(|(name, _)| Some(name.as_str()) == error.option()).map(|(_, value)| value);
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let (code, values) = match error {
        OptionsError::UnknownPreset { presets, .. } => {
            let names = presets.iter().map(|preset| preset.name.to_owned());
            ("not_one_of", Some(names.collect()))
        }
        OptionsError::UnknownOption { .. } => ("unknown_field", None),
        OptionsError::Repeated { .. } => ("duplicate_field", None),
        OptionsError::Value { expected, .. } | OptionsError::PresetValue { expected, .. } => match (expected, value) {
            (OptionKind::Integer { .. }, Some(OptionValue::Integer(_))) => ("out_of_range", None),
            (OptionKind::Choice(choice), Some(OptionValue::Word(_))) => ("not_one_of", Some(words(choice))),
            // A preset may allow one of the two.
            (OptionKind::Boolean, Some(OptionValue::Boolean(_))) => ("invalid", None),
            _ => ("wrong_type", None),
        },
        OptionsError::Contradiction { .. } => ("invalid", None),
        OptionsError::Malformed { .. } => ("wrong_format", None),
    };
    let fault = FieldError::new(option.unwrap_or_else(|| "/preset".to_owned()), code, error.to_string());
    FieldError { values, ..fault }
}

/// [`chosen_options`] for a query, which writes options as records do.
pub fn written_options(variant: Variant, preset: &str, text: &str) -> Result<AnyOptions, Problem> {
    if text.chars().nth(OPTIONS_MAX).is_some() {
        return Err(Problem::invalid_as(
            "wrong_length",
            "?options",
            format!("options have at most {OPTIONS_MAX} characters"),
        ));
    }
    AnyOptions::parse(variant, &truncated(preset), text).map_err(|error| {
        let is_preset = matches!(error, OptionsError::UnknownPreset { .. });
        // The parameter holds all options, so that the code of one of them would not be right for the whole.
        match fault(&error, &[]) {
            preset if is_preset => Problem::of_fault(FieldError { pointer: "?preset".to_owned(), ..preset }),
            option => Problem::invalid("?options", option.detail),
        }
    })
}

/// A name as an error detail may repeat it. A name longer than any preset or option is cut, and stays unknown.
fn truncated(name: &str) -> String {
    match name.char_indices().nth(NAME_MAX) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

/// Variants. There is never a second page.
#[derive(Debug, Serialize, ToSchema)]
pub struct VariantPage {
    items: Vec<VariantSummary>,
    /// Always null.
    #[schema(required = true)]
    next_cursor: Option<String>,
}

/// A variant.
#[derive(Debug, Serialize, ToSchema)]
struct VariantSummary {
    #[schema(example = "kalah")]
    name: String,
    /// The display name.
    #[schema(example = "Kalah")]
    title: &'static str,
    /// Other names of the game and of close relatives, by which `name` finds it.
    #[schema(example = json!(["Kalaha", "Mancala"]))]
    aliases: &'static [&'static str],
    /// The edition of the rules that new games are pinned to.
    #[schema(minimum = 1, example = 1)]
    rules_version: u16,
    /// How many rows of pits each side has. With one there are stores; with two there are reserves.
    #[schema(minimum = 1, maximum = 2, example = 1)]
    rows_per_side: u8,
    /// At which end of its own front row a side has its pit A.
    first_pit: RowEnd,
    /// Named sets of options; the first is `standard`.
    presets: Vec<PresetView>,
    /// All options of the variant.
    options: Vec<OptionView>,
}

/// An end of a row, as the player at that side sees it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum RowEnd {
    Left,
    Right,
}

/// A variant, with all that a form for a new game needs.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Variant)]
struct VariantView {
    #[serde(flatten)]
    summary: VariantSummary,
    /// The JSON Schema (draft 2020-12) of `options` in a new game that names no preset: that of `standard`.
    #[schema(value_type = BTreeMap<String, serde_json::Value>)]
    options_schema: OptionsSchema,
    /// By preset, the JSON Schema (draft 2020-12) of `options` in a new game that names it. It has the preset's values
    /// as defaults, and is within its bounds.
    #[schema(value_type = BTreeMap<String, BTreeMap<String, serde_json::Value>>)]
    preset_schemas: BTreeMap<&'static str, OptionsSchema>,
    /// The rules for a player, as Markdown.
    #[schema(example = "# Kalah\n\nTwo players sow seeds around the board and gather them in their stores.")]
    rules: &'static str,
}

/// A named set of options.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Preset)]
struct PresetView {
    #[schema(example = "standard")]
    name: &'static str,
    /// The display name.
    title: &'static str,
    /// What the preset is, and its origin.
    description: &'static str,
    /// The documents or the tradition that it follows.
    #[schema(example = "Board Game Arena's help page")]
    source: &'static str,
    /// The values of all options that matter in this preset. Sent as `options` of a new game with this preset, they change nothing.
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

/// An option of a variant.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OptionSpec)]
struct OptionView {
    #[schema(example = "seeds")]
    name: &'static str,
    #[serde(rename = "type")]
    kind: OptionType,
    /// The value in the preset `standard`.
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
    /// A description in one sentence.
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

impl VariantView {
    fn of(variant: Variant) -> Self {
        let schema = |preset: &PresetSpec| OptionsSchema::of(variant, preset);
        Self {
            summary: VariantSummary::of(variant),
            options_schema: schema(&variant.presets()[0]),
            preset_schemas: variant.presets().iter().map(|preset| (preset.name, schema(preset))).collect(),
            rules: variant.rules(),
        }
    }
}

impl VariantSummary {
    fn of(variant: Variant) -> Self {
        Self {
            name: variant.to_string(),
            title: variant.title(),
            aliases: variant.aliases(),
            rules_version: variant.rules_version(),
            rows_per_side: variant.rows_per_side(),
            first_pit: if variant.is_drawn_from_the_right() { RowEnd::Right } else { RowEnd::Left },
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
            source: preset.source,
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
