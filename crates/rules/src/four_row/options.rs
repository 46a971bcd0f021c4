//! Why options of a game with four rows are refused. Knows no game.

use super::Variant;

/// Why options were refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionsError {
    /// The variant has no preset of this name.
    #[error("{variant} has no preset {preset:?}")]
    UnknownPreset {
        /// The game.
        variant: Variant,
        /// The name that was given.
        preset: String,
    },
    /// The variant has no option of this name.
    #[error("{variant} has no option {option:?}")]
    UnknownOption {
        /// The game.
        variant: Variant,
        /// The name that was given.
        option: String,
    },
    /// An option is refused for a reason that any game may have.
    #[error(transparent)]
    Refused(#[from] crate::OptionsError),
}

impl OptionsError {
    /// The name of the refused option; `None` if the error is not about one option.
    #[must_use]
    pub fn option(&self) -> Option<&str> {
        match self {
            Self::UnknownPreset { .. } => None,
            Self::UnknownOption { option, .. } => Some(option),
            Self::Refused(error) => error.option(),
        }
    }
}
