//! Choices that exclude each other (R1). Knows how to check them, not which ones a game has.

use super::{Contradiction, OptionValue, OptionsError, word};

/// The first option cannot have its value while the second has its own.
pub(crate) const fn excludes(
    option: &'static str,
    value: OptionValue,
    other: &'static str,
    other_value: OptionValue,
) -> Contradiction {
    Contradiction { option, value: Some(value), other, other_value }
}

/// The option does not matter, and cannot be given, while the other one has this word.
pub(crate) const fn needless(option: &'static str, other: &'static str, other_word: &'static str) -> Contradiction {
    Contradiction { option, value: None, other, other_value: word(other_word) }
}

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
