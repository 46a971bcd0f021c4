//! The options of a game, and their presets: how they are described, checked and refused (R1, R11).
//!
//! Knows no game. Only its game knows what an option does.

mod contradictions;
mod error;
mod majority_remaining;
mod overrides;
mod spec;

pub use error::OptionsError;
pub use majority_remaining::MajorityRemaining;
pub use spec::{Contradiction, OptionBounds, OptionKind, OptionSpec, OptionValue, PresetSpec, RecordedOption};

pub(crate) use contradictions::check_contradictions;
pub(crate) use overrides::{Kinds, check_overrides, parse_overrides, with_recorded, write_overrides};
pub(crate) use spec::{changed_integer, choice, choice_with_default, integer, switched_off, switched_on};
