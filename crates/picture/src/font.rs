//! The two fonts that the crate holds, and how wide a text is in them. Knows no picture.
//!
//! PNGs are drawn in these fonts. Viewers of SVG choose their own, which are about as wide or narrower: `DejaVu` Sans is
//! among the widest.

use std::sync::LazyLock;

use skrifa::{
    FontRef, MetadataProvider,
    instance::{LocationRef, Size},
};

pub const REGULAR_FONT: &[u8] = include_bytes!("../fonts/DejaVuSans.ttf");
pub const BOLD_FONT: &[u8] = include_bytes!("../fonts/DejaVuSans-Bold.ttf");

static REGULAR: LazyLock<FontRef<'static>> = LazyLock::new(|| FontRef::new(REGULAR_FONT).expect("the file is a font"));
static BOLD: LazyLock<FontRef<'static>> = LazyLock::new(|| FontRef::new(BOLD_FONT).expect("the file is a font"));

/// The percentage that is added to the width of a text: other fonts may be wider, and letters may be set further apart.
const RESERVE: f32 = 3.0;

/// The width of a character that the fonts lack, in font sizes. It is that of emoji, which are wider than East Asian
/// letters and the replacement sign.
const OTHER: f32 = 1.3;

/// How a text is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Font {
    /// The font size, in units of the picture.
    pub size: u8,
    pub is_bold: bool,
}

impl Font {
    /// The width of a text in units of the picture, with a reserve.
    pub fn width(self, text: &str) -> f32 {
        text.chars().map(|letter| self.advance(letter)).sum()
    }

    /// The advance of one character.
    pub fn advance(self, letter: char) -> f32 {
        let font: &FontRef = if self.is_bold { &BOLD } else { &REGULAR };
        let size = f32::from(self.size);
        let metrics = font.glyph_metrics(Size::new(size), LocationRef::default());
        let advance = font.charmap().map(letter).and_then(|glyph| metrics.advance_width(glyph));
        advance.unwrap_or(OTHER * size) * (1.0 + RESERVE / 100.0)
    }
}

/// A place for a text, in units of the picture.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    pub font: Font,
    pub width: f32,
}

impl Room {
    /// The room that is left beside a text of the same font.
    pub fn beside(self, text: &str) -> Self {
        Self { width: self.width - self.font.width(text), ..self }
    }

    /// A text, cut if it is too wide.
    pub fn cut(self, text: &str) -> String {
        if self.font.width(text) <= self.width {
            return text.to_owned();
        }
        let mut left = self.beside("…").width;
        let fits = |letter: &char| {
            left -= self.font.advance(*letter);
            left >= 0.0
        };
        let begin: String = text.chars().take_while(fits).collect();
        format!("{}…", begin.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FONT: Font = Font { size: 20, is_bold: false };

    #[test]
    fn a_text_that_is_too_wide_is_cut_to_fit() {
        let room = |text| Room { font: FONT, width: FONT.width(text) + 0.1 };
        for (text, place, shown) in [
            ("Ana", "Ana", "Ana"),
            ("Anabella", "Anab…", "Anab…"),
            ("An abel", "An …", "An…"),
            ("WWWW", "WW…", "WW…"),
            ("ああああ", "ああああ", "ああああ"),
            ("ああああ", "あああ", "ああ…"),
            ("Ana", "", "…"),
            ("", "", ""),
        ] {
            assert_eq!(room(place).cut(text), shown);
        }
    }

    #[test]
    fn letters_have_their_own_widths_and_others_that_of_emoji() {
        let bold = Font { is_bold: true, ..FONT };
        assert!(FONT.advance('i') < FONT.advance('n') && FONT.advance('n') < FONT.advance('W'));
        assert!(FONT.advance('n') < bold.advance('n'));
        for letter in "WmЖΩ\u{fffd}".chars() {
            assert!(bold.advance(letter) < bold.advance('あ'), "{letter}");
        }
        assert!((FONT.advance('あ') - FONT.advance('😀')).abs() < 0.01);
        // DejaVu Sans: an n is 1298 of 2048 units wide.
        assert!((FONT.advance('n') - 20.0 * 1298.0 / 2048.0 * 1.03).abs() < 0.05, "{}", FONT.advance('n'));
    }
}
