//! How a picture is looked at: from which side, mirrored or not, in which colours. Knows no board.

use mancala_rules::Side;

/// How a picture is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// The side at the bottom. The board is rotated for it: the other side's row lies at the top.
    pub bottom: Side,
    /// The direction of sowing.
    pub handedness: Handedness,
    /// The colours.
    pub theme: Theme,
}

/// The direction of sowing in a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handedness {
    /// To the right at the bottom: counter-clockwise.
    Plain,
    /// To the left at the bottom, as in a mirror: clockwise.
    Mirrored,
}

/// The colours of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
    /// Light or dark, by the viewer's `prefers-color-scheme`.
    Auto,
}
