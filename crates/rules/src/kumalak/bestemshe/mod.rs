//! Bestemshe: its options and presets. Its rules are those of [`Position`](super::Position).

mod options;

pub use options::{Options, Preset};
