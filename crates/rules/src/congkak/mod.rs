//! Congkak, complete: its options, its presets, its rules. Read it beside the chapter on Congkak of `docs/rules.md`,
//! whose sections R1 to R12 the comments name. Knows nothing of the other games.

mod lockstep;
mod options;
mod position;
mod refusals;

pub use options::{MatchVictory, Opening, Options, Preset, RefillFrom, RoundStarter, Rounds};
pub use position::Position;
