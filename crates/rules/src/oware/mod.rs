//! Oware, complete: its options, its presets, its rules. Read it beside `docs/rules.md`, whose sections R1 to R12 the
//! comments name. Knows nothing of the other games.

mod options;
mod position;
mod refusals;

pub use crate::options::MajorityRemaining;
pub use options::{GrandSlam, Options, Preset, RepetitionAward};
pub use position::Position;
