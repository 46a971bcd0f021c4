//! Pixels of a picture, as PNG. Knows SVG and the two fonts of `font`, and nothing of the drawing's meaning.
//!
//! This module reads no file, no font of the system and no resource of another place. So the same picture has the same pixels
//! on every machine.

use std::{
    borrow::Cow,
    error::Error,
    fmt,
    ops::RangeInclusive,
    sync::{Arc, LazyLock},
};

use resvg::{
    tiny_skia::{Pixmap, Transform},
    usvg::{
        FontResolver, ImageHrefResolver, Options, Tree,
        fontdb::{Database, ID, Source},
    },
};
use skrifa::{FontRef, MetadataProvider};

use crate::font::{BOLD_FONT, REGULAR_FONT};

/// The widths that a PNG may have, in pixels.
pub const PNG_WIDTHS: RangeInclusive<u32> = 16..=2048;

/// The weight from which on text is drawn in bold.
const BOLD: u16 = 600;

static FONTS: LazyLock<Fonts> = LazyLock::new(Fonts::load);

/// The fonts, as the renderer knows them.
struct Fonts {
    database: Arc<Database>,
    regular: ID,
    bold: ID,
}

impl Fonts {
    fn load() -> Self {
        let mut database = Database::new();
        let mut load = |font: &'static [u8]| {
            let ids = database.load_font_source(Source::Binary(Arc::new(font)));
            *ids.first().expect("the file is a font")
        };
        let (regular, bold) = (load(REGULAR_FONT), load(BOLD_FONT));
        Self { database: Arc::new(database), regular, bold }
    }
}

/// A picture that cannot be made into pixels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RasterError(String);

impl fmt::Display for RasterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the picture cannot be made into pixels: {}", self.0)
    }
}

impl Error for RasterError {}

/// The PNG of a picture, of so many pixels' width; a width out of [`PNG_WIDTHS`] is refused. A theme that follows the viewer
/// is light. Letters that are neither Latin, Greek nor Cyrillic are drawn as the replacement sign U+FFFD.
///
/// ```
/// use mancala_picture::{Scene, SceneStatus, View, draw_board, render_png};
/// use mancala_rules::{AnyOptions, AnyPosition, BySide, Variant};
///
/// let position = AnyPosition::opening(&AnyOptions::parse(Variant::Oware, "standard", "")?);
/// let status = SceneStatus::of(&position);
/// let scene = Scene { position: &position, names: BySide::default(), ply: 0, last: None, status };
/// let png = render_png(&draw_board(&scene, View::PLAIN), 64)?;
/// assert!(png.starts_with(b"\x89PNG"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The width is out of bounds, or the text is no SVG.
pub fn render_png(svg: &str, width: u32) -> Result<Vec<u8>, RasterError> {
    let failed = |what: &dyn fmt::Display| RasterError(what.to_string());
    if !PNG_WIDTHS.contains(&width) {
        return Err(failed(&"its width is out of bounds"));
    }
    let tree = Tree::from_str(&legible(svg), &options()).map_err(|error| failed(&error))?;
    let size = tree.size().to_int_size().scale_to_width(width);
    let size =
        size.filter(|size| PNG_WIDTHS.end() >= &size.height()).ok_or_else(|| failed(&"its height is out of bounds"))?;
    let mut pixels = Pixmap::new(size.width(), size.height()).ok_or_else(|| failed(&"it has no pixels"))?;
    #[expect(clippy::cast_precision_loss, reason = "a few thousand pixels")]
    let scale = [size.width() as f32 / tree.size().width(), size.height() as f32 / tree.size().height()];
    resvg::render(&tree, Transform::from_scale(scale[0], scale[1]), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| failed(&error))
}

/// The renderer's options: the fonts of this crate and no other, and no images.
fn options() -> Options<'static> {
    let select_font = |font: &resvg::usvg::Font, _: &mut Arc<Database>| {
        Some(if font.weight() >= BOLD { FONTS.bold } else { FONTS.regular })
    };
    Options {
        fontdb: FONTS.database.clone(),
        font_resolver: FontResolver { select_font: Box::new(select_font), select_fallback: Box::new(|_, _, _| None) },
        image_href_resolver: ImageHrefResolver {
            resolve_data: Box::new(|_, _, _| None),
            resolve_string: Box::new(|_, _| None),
        },
        ..Options::default()
    }
}

/// The text without letters that the fonts lack. Both have the same ones, and markup is ASCII.
fn legible(svg: &str) -> Cow<'_, str> {
    if svg.is_ascii() {
        return Cow::Borrowed(svg);
    }
    let Ok(font) = FontRef::new(REGULAR_FONT) else { return Cow::Borrowed(svg) };
    let letters = font.charmap();
    let is_legible = |c: char| c.is_ascii() || letters.map(c).is_some();
    Cow::Owned(svg.chars().map(|c| if is_legible(c) { c } else { '\u{fffd}' }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn svg(text: &str) -> String {
        format!("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 200 100\"><text y=\"50\">{text}</text></svg>")
    }

    /// The width and the height that a PNG states.
    fn size(png: &[u8]) -> (u32, u32) {
        let number = |at: usize| png[at..at + 4].iter().fold(0, |number, byte| number << 8 | u32::from(*byte));
        (number(16), number(20))
    }

    #[test]
    fn a_picture_has_the_width_that_was_asked_for() {
        for width in [16, 17, 960, 2048] {
            let png = render_png(&svg("a"), width).expect("a picture");
            assert_eq!(size(&png), (width, width.div_ceil(2)));
        }
        for width in [0, 15, 2049, 1_000_000, u32::MAX] {
            assert!(render_png(&svg("a"), width).is_err(), "{width}");
        }
        assert!(render_png("<svg", 100).is_err());
        let tall = svg("a").replace("0 0 200 100", "0 0 1 100");
        assert!(render_png(&tall, 100).is_err());
    }

    #[test]
    fn both_fonts_have_letters_of_the_same_scripts() {
        for font in [REGULAR_FONT, BOLD_FONT].map(|font| FontRef::new(font).expect("a font")) {
            let letters = font.charmap();
            for letter in "AzÄßçñŁőșτΩЖђї·–…’▲▼○●◇◆\u{fffd}".chars() {
                assert!(letters.map(letter).is_some(), "{letter}");
            }
        }
        let [regular, bold] = [REGULAR_FONT, BOLD_FONT].map(|font| FontRef::new(font).expect("a font"));
        let bold = bold.charmap();
        let only_regular: Vec<_> = regular.charmap().mappings().filter(|(c, _)| bold.map(*c).is_none()).collect();
        assert_eq!(only_regular, []);
    }

    #[test]
    fn letters_of_other_scripts_become_the_replacement_sign() {
        assert_eq!(legible("Ana"), "Ana");
        assert_eq!(legible("Ána Ωμ Жук"), "Ána Ωμ Жук");
        assert_eq!(legible("あ<b>😀א"), "\u{fffd}<b>\u{fffd}\u{fffd}");
        assert_eq!(render_png(&svg("あ"), 100), render_png(&svg("\u{fffd}"), 100));
        assert_ne!(render_png(&svg("あ"), 100), render_png(&svg(""), 100));
    }

    #[test]
    fn nothing_outside_of_the_picture_is_read() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/none.png");
        for href in [path, "https://pictures.example/a.png", "data:image/svg+xml,<svg/>"] {
            let image =
                svg(&format!("</text><image href=\"{}\" width=\"9\" height=\"9\"/><text>", href.replace('<', "&lt;")));
            assert_eq!(render_png(&image, 100), render_png(&svg(""), 100), "{href}");
        }
    }
}
