//! Choices that differ from a preset: how they are read, checked one by one, and written. Knows no option by name.

use super::{OptionBounds, OptionKind, OptionSpec, OptionValue, OptionsError, PresetSpec};

/// The values that an option may have: [`OptionSpec::kind`] or [`OptionSpec::recorded_kind`].
pub(crate) type Kinds = fn(&OptionSpec) -> OptionKind;

/// Checks each override by itself. The loop ends at the first unknown or repeated name. So the inner search visits at
/// most as many names as there are options.
pub(crate) fn check_overrides(
    variant: &'static str,
    options: &'static [OptionSpec],
    preset: &PresetSpec,
    overrides: &[(String, OptionValue)],
    kinds: Kinds,
) -> Result<(), OptionsError> {
    for (i, (name, value)) in overrides.iter().enumerate() {
        let spec = known(variant, options, name)?;
        let option = spec.name;
        if overrides[..i].iter().any(|(earlier, _)| earlier == name) {
            return Err(OptionsError::Repeated { option });
        }
        let expected = kinds(spec);
        if !expected.admits(value) {
            return Err(OptionsError::Value { option, expected });
        }
        if let Some(&OptionBounds { min, max, .. }) = preset.bounds.iter().find(|bounds| bounds.option == option) {
            let expected = OptionKind::Integer { min, max };
            if !expected.admits(value) {
                return Err(OptionsError::PresetValue { option, expected, preset: preset.name });
            }
        }
    }
    Ok(())
}

/// Reads overrides as a game record writes them, such as `seeds=5;pie=true`; an empty text has none.
pub(crate) fn parse_overrides(
    variant: &'static str,
    options: &'static [OptionSpec],
    text: &str,
) -> Result<Vec<(String, OptionValue)>, OptionsError> {
    let parse = |text: &str| {
        let (name, value) = text.split_once('=').ok_or_else(|| OptionsError::Malformed { text: text.to_owned() })?;
        let OptionSpec { name, kind, .. } = *known(variant, options, name)?;
        let value = kind.parse(value).ok_or(OptionsError::Value { option: name, expected: kind })?;
        Ok((name.to_owned(), value))
    };
    if text.is_empty() { Ok(Vec::new()) } else { text.split(';').map(parse).collect() }
}

/// The overrides of a game's text, with those that the text leaves to their former defaults.
pub(crate) fn with_recorded(
    options: &'static [OptionSpec],
    overrides: &[(String, OptionValue)],
) -> Vec<(String, OptionValue)> {
    let is_named = |spec: &OptionSpec| overrides.iter().any(|(name, _)| name == spec.name);
    let recorded = options
        .iter()
        .filter(|spec| !is_named(spec))
        .filter_map(|spec| spec.recorded.as_ref().map(|recorded| (spec.name.to_owned(), recorded.default.clone())));
    overrides.iter().cloned().chain(recorded).collect()
}

/// The values that differ from those of a text without them, as `name=value` joined by `;`: from the preset's, or from
/// the former default.
pub(crate) fn write_overrides(
    options: &'static [OptionSpec],
    values: Vec<(&str, OptionValue)>,
    preset: Vec<(&str, OptionValue)>,
) -> String {
    let differing = values.into_iter().zip(preset).filter(|((name, value), (_, preset))| {
        let recorded = find(options, name).and_then(|spec| spec.recorded.as_ref());
        value != recorded.map_or(preset, |recorded| &recorded.default)
    });
    differing.map(|((name, value), _)| format!("{name}={value}")).collect::<Vec<_>>().join(";")
}

fn find(options: &'static [OptionSpec], name: &str) -> Option<&'static OptionSpec> {
    options.iter().find(|spec| spec.name == name)
}

fn known(
    variant: &'static str,
    options: &'static [OptionSpec],
    name: &str,
) -> Result<&'static OptionSpec, OptionsError> {
    find(options, name).ok_or_else(|| OptionsError::UnknownOption { variant, option: name.to_owned() })
}
