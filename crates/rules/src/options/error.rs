//! Why options are refused. Knows the message of each reason, not how to find it.

use super::{OptionKind, OptionValue, PresetSpec};

/// Why options were refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionsError {
    /// The variant has no preset of this name.
    #[error("{variant} has no preset {preset:?}")]
    UnknownPreset {
        /// The word of the game.
        variant: &'static str,
        /// The name that was given.
        preset: String,
        /// The presets that it has.
        presets: &'static [PresetSpec],
    },
    /// The variant has no option of this name.
    #[error("{variant} has no option {option:?}")]
    UnknownOption {
        /// The word of the game.
        variant: &'static str,
        /// The name that was given.
        option: String,
    },
    /// The option is given more than once.
    #[error("option `{option}` is given twice")]
    Repeated {
        /// The option.
        option: &'static str,
    },
    /// The value is of the wrong kind or out of bounds.
    #[error("option `{option}` must be {expected}")]
    Value {
        /// The option.
        option: &'static str,
        /// The values that it takes.
        expected: OptionKind,
    },
    /// The value is allowed in general but not in this preset.
    #[error("option `{option}` must be {expected} in preset `{preset}`")]
    PresetValue {
        /// The option.
        option: &'static str,
        /// The values that it takes in the preset.
        expected: OptionKind,
        /// The preset.
        preset: &'static str,
    },
    /// Two options contradict each other.
    #[error("option `{option}` cannot be {} while `{other}` is `{other_value}`", or_given(.value.as_ref()))]
    Contradiction {
        /// The option.
        option: &'static str,
        /// Its value; `None` if every value is refused.
        value: Option<OptionValue>,
        /// The option that it contradicts.
        other: &'static str,
        /// The other option's value.
        other_value: OptionValue,
    },
    /// A part of the text is not of the form `name=value`.
    #[error("options must be written as `name=value` joined by `;`, not {text:?}")]
    Malformed {
        /// The malformed part.
        text: String,
    },
}

impl OptionsError {
    /// The name of the refused option; `None` if the error is not about one option.
    #[must_use]
    pub fn option(&self) -> Option<&str> {
        match self {
            Self::UnknownPreset { .. } | Self::Malformed { .. } => None,
            Self::UnknownOption { option, .. } => Some(option),
            Self::Repeated { option }
            | Self::Value { option, .. }
            | Self::PresetValue { option, .. }
            | Self::Contradiction { option, .. } => Some(option),
        }
    }
}

fn or_given(value: Option<&OptionValue>) -> String {
    value.map_or_else(|| "given".to_owned(), |value| format!("`{value}`"))
}
