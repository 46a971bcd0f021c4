//! The options of a game, and their presets: how they are described, checked and refused (R1, R11).
//!
//! Knows no game. Only its game knows what an option does.

#[macro_use]
mod declaration;

mod contradictions;
mod error;
mod game_options;
pub(crate) mod help;
mod majority_remaining;
mod overrides;
mod spec;

pub use error::OptionsError;
pub use game_options::GameOptions;
pub use majority_remaining::MajorityRemaining;
pub use spec::{Contradiction, OptionBounds, OptionKind, OptionSpec, OptionValue, PresetSpec, RecordedOption};

pub(crate) use contradictions::{check_contradictions, excludes, needless};
pub(crate) use overrides::{check_overrides, parse_overrides, with_recorded, write_overrides};
pub(crate) use spec::{changed_integer, choice, integer, switch, word};
