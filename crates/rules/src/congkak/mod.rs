//! Congkak, complete: its options, its presets, its rules. Read it beside the chapter on Congkak of `docs/rules.md`,
//! whose sections R1 to R12 the comments name. Knows nothing of the other games.

mod options;
mod position;

pub use options::{CONTRADICTIONS, OPTIONS, Options, PRESETS, Preset, RefillFrom, RoundStarter, Rounds};
pub use position::Position;
