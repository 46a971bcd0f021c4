//! Kalah, complete: its options, its presets, its rules. Read it beside `docs/rules.md`, whose sections R1 to R12 the
//! comments name. Knows nothing of the other games.

mod options;
mod position;

pub use crate::options::MajorityRemaining;
pub use options::{Capture, CaptureLand, End, ExtraTurn, Options, Preset, Remaining, SowStores};
pub use position::Position;
