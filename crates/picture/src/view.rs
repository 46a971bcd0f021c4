//! The view of a picture: its side, mirrored or not, its colours and its language. Knows no board.

use std::{fmt, str::FromStr};

use mancala_rules::Side;

use mancala_texts::Language;

/// The view of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// The side at the bottom. The board is rotated for it: the other side's row lies at the top.
    pub bottom: Side,
    /// The direction of sowing.
    pub handedness: Handedness,
    /// The colours.
    pub theme: Theme,
    /// The background of the board or the graph.
    pub background: Background,
    /// Whether names and words are shown in the picture.
    pub caption: Caption,
    /// The language of all words, those of the description included.
    pub language: Language,
}

impl View {
    /// The view unless anything else is wished: from South, in English, in the colours that the viewer prefers.
    pub const PLAIN: Self = Self {
        bottom: Side::South,
        handedness: Handedness::Plain,
        theme: Theme::Auto,
        background: Background::Theme,
        caption: Caption::Shown,
        language: Language::En,
    };
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

/// The background of the board or the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Background {
    /// A page with rounded corners, in the colour of the theme.
    Theme,
    /// No background: the page below the picture is visible.
    None,
    /// A colour that fills the picture up to its edges.
    Colour(Colour),
}

/// Whether names and words are shown in a picture. Letters and counts of a board and the scales of a graph are always shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caption {
    /// Names, the state of the game, and the key of a graph.
    Shown,
    /// A bare board or graph, in a picture as large as that.
    Hidden,
}

/// A colour without transparency. Its text is `#fcf8f1`; `fcf8f1` is read as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour {
    red: u8,
    green: u8,
    blue: u8,
}

/// A text that is no [`Colour`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoColour;

impl FromStr for Colour {
    type Err = NoColour;

    fn from_str(text: &str) -> Result<Self, NoColour> {
        let digits = text.strip_prefix('#').unwrap_or(text);
        if digits.len() != 6 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(NoColour);
        }
        let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).map_err(|_| NoColour);
        Ok(Self { red: byte(0)?, green: byte(2)?, blue: byte(4)? })
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.red, self.green, self.blue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colour_is_six_digits_and_nothing_else() {
        for text in ["fcf8f1", "#fcf8f1", "FCF8F1"] {
            assert_eq!(text.parse::<Colour>().map(|colour| colour.to_string()), Ok("#fcf8f1".to_owned()));
        }
        for text in ["", "#", "fff", "##fcf8f", "fcf8f1f", "+cf8f1", "red", "url(#a)", "äöü", "fcf8f\""] {
            assert_eq!(text.parse::<Colour>(), Err(NoColour), "{text}");
        }
    }
}
