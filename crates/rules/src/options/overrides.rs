//! Choices that differ from a preset: how they are read, checked one by one, and written. Knows no option by name.

use super::{OptionBounds, OptionKind, OptionSpec, OptionValue, OptionsError, PresetSpec};

/// The values that an option may have: [`OptionSpec::kind`] or [`OptionSpec::recorded_kind`].
pub(crate) type Kinds = fn(&OptionSpec) -> OptionKind;

/// Checks each override by itself. The loop ends at the first unknown or repeated name. So the inner search visits at
/// most as many names as there are options. `unknown` is the error for a name that is not among the `options`.
pub(crate) fn check_overrides<E: From<OptionsError>>(
    options: &'static [OptionSpec],
    preset: &PresetSpec,
    overrides: &[(String, OptionValue)],
    kinds: Kinds,
    unknown: impl Fn(&str) -> E,
) -> Result<(), E> {
    for (i, (name, value)) in overrides.iter().enumerate() {
        let spec = find(options, name).ok_or_else(|| unknown(name))?;
        let option = spec.name;
        if overrides[..i].iter().any(|(earlier, _)| earlier == name) {
            return Err(OptionsError::Repeated { option }.into());
        }
        let expected = kinds(spec);
        if !expected.admits(value) {
            return Err(OptionsError::Value { option, expected }.into());
        }
        if let Some(&OptionBounds { min, max, .. }) = preset.bounds.iter().find(|bounds| bounds.option == option) {
            let expected = OptionKind::Integer { min, max };
            if !expected.admits(value) {
                return Err(OptionsError::PresetValue { option, expected, preset: preset.name }.into());
            }
        }
    }
    Ok(())
}

/// Reads overrides as a game record writes them, such as `seeds=5;pie=true`; an empty text has none.
pub(crate) fn parse_overrides<E: From<OptionsError>>(
    options: &'static [OptionSpec],
    text: &str,
    unknown: impl Fn(&str) -> E,
) -> Result<Vec<(String, OptionValue)>, E> {
    let parse = |text: &str| {
        let (name, value) = text.split_once('=').ok_or_else(|| OptionsError::Malformed { text: text.to_owned() })?;
        let OptionSpec { name, kind, .. } = *find(options, name).ok_or_else(|| unknown(name))?;
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
pub(crate) fn write_overrides<const N: usize>(
    options: &'static [OptionSpec],
    values: [(&str, OptionValue); N],
    preset: [(&str, OptionValue); N],
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
