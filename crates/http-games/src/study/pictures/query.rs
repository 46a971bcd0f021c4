//! The query of a picture's address. Pictures are shared as links, and services add parameters to links: unknown ones are ignored, known
//! ones are checked. Each handler reads several of these types from one query.

use mancala_http::{answer::problem::Problem, request::language::LanguageWord};
use mancala_picture::{Background, Caption, Handedness, PNG_WIDTHS, Theme, View};
use mancala_rules::Side;
use mancala_texts::Language;
use mancala_wire::view::wire::SideWord;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::variants::catalog::standard;

/// The width of a PNG unless it is given, in pixels: sharp at the width of a page on most screens.
const WIDTH: u32 = 960;

/// Which board of a game to draw, and from where.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DrawBoard {
    /// The ply after which to draw the board; 0 for the opening. Unless given, the present board.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 4_294_967_295_i64)]
    pub ply: Option<u32>,
    /// The side at the bottom. Unless given, South.
    #[param(inline)]
    pub side: Option<SideWord>,
    /// Whether left and right are exchanged. Then sowing is clockwise.
    #[param(default = false)]
    pub mirror: Option<bool>,
}

/// The position to draw, and from where.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DrawPosition {
    /// A preset of the variant.
    #[serde(default = "standard")]
    #[param(required = false, default = "standard", example = "standard")]
    pub preset: String,
    /// Options that differ from the preset, as in text records.
    #[param(max_length = 500, example = "seeds=4")]
    pub options: Option<String>,
    /// The position, in text notation; the opening unless given.
    #[param(example = "4,4,0,5,5,5/4,4,4,4,4,4 1-0 S e 1 1S")]
    pub position: Option<String>,
    /// The side at the bottom. Unless given, South.
    #[param(inline)]
    pub side: Option<SideWord>,
    /// Whether left and right are exchanged. Then sowing is clockwise.
    #[param(default = false)]
    pub mirror: Option<bool>,
}

/// From whose side to draw a game's graph.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DrawGraph {
    /// The side whose lead or value is above the line. Unless given, South.
    #[param(inline)]
    pub side: Option<SideWord>,
}

/// How a picture looks.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Look {
    /// Unless given `auto`: light or dark by the viewer's preference. In a PNG, `auto` is light.
    #[param(inline)]
    theme: Option<ThemeWord>,
    /// What lies behind the board or the graph: `theme` (unless given), `none`, or a colour of six hexadecimal digits.
    #[param(pattern = "^(theme|none|#?[0-9A-Fa-f]{6})$", default = "theme", example = "fcf8f1")]
    background: Option<String>,
    /// Whether names, the state of the game and the key of a graph stand in the picture. Without them it is as large as the board or graph.
    #[param(default = true)]
    caption: Option<bool>,
    /// The language of all words in the picture. Unless given, English.
    #[param(inline)]
    lang: Option<LanguageWord>,
}

impl Look {
    /// The view of a picture that looks so.
    pub fn view(&self, side: Option<SideWord>, mirror: Option<bool>) -> Result<View, Problem> {
        let background = match self.background.as_deref() {
            None | Some("theme") => Background::Theme,
            Some("none") => Background::None,
            Some(colour) => Background::Colour(colour.parse().map_err(|_| {
                let detail = "a background is `theme`, `none`, or a colour of six hexadecimal digits";
                Problem::invalid_as("wrong_format", "?background", detail)
            })?),
        };
        Ok(View {
            bottom: side.map_or(Side::South, Side::from),
            handedness: if mirror == Some(true) { Handedness::Mirrored } else { Handedness::Plain },
            theme: match self.theme {
                Some(ThemeWord::Light) => Theme::Light,
                Some(ThemeWord::Dark) => Theme::Dark,
                Some(ThemeWord::Auto) | None => Theme::Auto,
            },
            background,
            caption: if self.caption == Some(false) { Caption::Hidden } else { Caption::Shown },
            language: self.lang.map_or(Language::default(), Language::from),
        })
    }
}

/// The view in a PNG: there is no viewer whose preference a theme could follow, so `auto` is light.
pub fn in_pixels(view: View) -> View {
    View { theme: if view.theme == Theme::Auto { Theme::Light } else { view.theme }, ..view }
}

/// The size of a PNG.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PngSize {
    /// The width in pixels. The height follows from it.
    #[param(value_type = Option<u32>, minimum = 16, maximum = 2048, default = 960)]
    width: Option<u32>,
}

impl PngSize {
    /// The width, if a PNG may have it.
    pub fn width(&self) -> Result<u32, Problem> {
        let width = self.width.unwrap_or(WIDTH);
        if PNG_WIDTHS.contains(&width) {
            return Ok(width);
        }
        let (least, most) = (PNG_WIDTHS.start(), PNG_WIDTHS.end());
        let detail = format!("a picture is {least} to {most} pixels wide");
        Err(Problem::invalid_as("out_of_range", "?width", detail))
    }
}

/// Who looks at the pictures of a game, for an `<img>`, which sends no token.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Admission {
    /// A ticket in place of the access token: POST /v1/me/stream-tickets gives one.
    pub ticket: Option<String>,
}

/// The colours of a picture.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum ThemeWord {
    Light,
    Dark,
    Auto,
}
