//! Choices that exclude each other (R1). Knows how to check them, not which ones a game has.

use super::{Contradiction, OptionValue, OptionsError};

/// Checks all options together: `values` are the effective values of every option, `overrides` the given ones.
pub(crate) fn check_contradictions(
    contradictions: &[Contradiction],
    values: &[(&'static str, OptionValue)],
    overrides: &[(String, OptionValue)],
) -> Result<(), OptionsError> {
    let is = |option: &str, wanted: &OptionValue| values.iter().any(|(name, value)| *name == option && value == wanted);
    let given = |option: &str| overrides.iter().any(|(name, _)| name == option);
    for Contradiction { option, value, other, other_value } in contradictions {
        let refused = value.as_ref().map_or_else(|| given(option), |value| is(option, value));
        if refused && is(other, other_value) {
            return Err(match value {
                // The error names the option that was given, not the one that it contradicts.
                Some(value) if !given(option) && given(other) => OptionsError::Contradiction {
                    option: other,
                    value: Some(other_value.clone()),
                    other: option,
                    other_value: value.clone(),
                },
                _ => OptionsError::Contradiction {
                    option,
                    value: value.clone(),
                    other,
                    other_value: other_value.clone(),
                },
            });
        }
    }
    Ok(())
}
