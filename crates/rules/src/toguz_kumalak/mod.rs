//! Toguz Kumalak: its options and presets. Its rules are those of [`kumalak`](crate::kumalak), by the options.

mod options;

pub use options::{Options, Preset};

/// A position of Toguz Kumalak with its options.
pub type Position = crate::kumalak::Position<Options>;
