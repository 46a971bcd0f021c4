//! The answers of pictures: SVG as it is drawn, PNG from the threads of heavy work, and 304 for a client that has the picture.

use actix_web::{
    HttpRequest, HttpResponse, HttpResponseBuilder,
    http::header::{self, EntityTag, HeaderValue},
};
use mancala_domain::{GameId, PlayerId};
use mancala_http::{
    answer::{
        headers::{NOT_KEPT, PICTURE_POLICY, VARIES, digest_tag},
        problem::Problem,
    },
    layers::limits::HeavyBudget,
    request::conditional::IfNoneMatch,
    state::{AppState, heavy::HeavyClass},
};
use mancala_picture::render_png;
use utoipa::ToSchema;

use crate::events::tickets;

/// The media types of pictures.
const SVG: &str = "image/svg+xml; charset=utf-8";
const PNG: &str = "image/png";

/// Part of the tags of pictures: another release may draw them otherwise.
pub const RELEASE: &str = env!("CARGO_PKG_VERSION");

/// The cost of a PNG, in plies, each of which is replayed in about 10 µs. Reading the SVG and setting its text is the fixed part. Beyond
/// that, one ply pays for [`PIXELS_PER_PLY`] pixels of the square of the width. `cargo bench -p mancala-picture` measures it.
const PLIES_PER_PNG: u32 = 500;
const PIXELS_PER_PLY: u32 = 250;

/// A PNG in the document.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
pub struct Png(#[expect(dead_code, reason = "it is only described")] Vec<u8>);

/// Whom a picture is for, and how long it may be kept.
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    cache_control: &'static str,
    varies: bool,
}

impl Kept {
    /// A picture of a game: it shows names, which may change, and the caller may have to be one of its players.
    pub const OF_GAME: Self = Self { cache_control: NOT_KEPT.1, varies: true };

    /// A picture that is the same for every caller.
    pub const fn for_everyone(cache_control: &'static str) -> Self {
        Self { cache_control, varies: false }
    }
}

/// The player who requests a game's pictures, by token or by ticket. A ticket for the events of the game, or of all games, also opens its
/// pictures, because they show the same.
pub async fn admit(
    state: &AppState,
    request: &HttpRequest,
    ticket: Option<&str>,
    game: GameId,
) -> Result<Option<PlayerId>, Problem> {
    let caller = tickets::admit(state, request, ticket, &[Some(game), None]).await?;
    Ok(caller.map(|caller| caller.player))
}

/// An SVG, or 304 if the client's copy is current.
pub fn svg(svg: String, kept: Kept, if_none_match: &IfNoneMatch) -> HttpResponse {
    let etag = digest_tag(&svg);
    if if_none_match.has(&etag) { unchanged(etag, kept) } else { drawn_svg(svg, etag, kept) }
}

pub fn drawn_svg(svg: String, etag: EntityTag, kept: Kept) -> HttpResponse {
    with_headers(HttpResponse::Ok(), etag, kept).content_type(SVG).body(svg)
}

/// The PNG of an SVG, or 304 if the client's copy is current. The pixels follow from the SVG and the width, so that no picture is
/// drawn for a 304.
pub async fn png(
    state: &AppState,
    budget: &HeavyBudget,
    (svg, width): (String, u32),
    kept: Kept,
    if_none_match: &IfNoneMatch,
) -> Result<HttpResponse, Problem> {
    let etag = digest_tag(format!("{RELEASE} {width} {svg}"));
    if if_none_match.has(&etag) {
        return Ok(unchanged(etag, kept));
    }
    let png = pixels(state, budget, svg, width).await?;
    Ok(drawn_png(png, etag, kept))
}

/// The PNG of an SVG. It is charged by its pixels.
pub async fn pixels(state: &AppState, budget: &HeavyBudget, svg: String, width: u32) -> Result<Vec<u8>, Problem> {
    // No picture is higher than wide.
    budget.charge(PLIES_PER_PNG + width * width / PIXELS_PER_PLY)?;
    let render = move |_| async move { render_png(&svg, width).map_err(Problem::internal) };
    state.heavy.run(HeavyClass::Pixels, budget.turns(), render).await
}

pub fn drawn_png(png: Vec<u8>, etag: EntityTag, kept: Kept) -> HttpResponse {
    with_headers(HttpResponse::Ok(), etag, kept).content_type(PNG).body(png)
}

pub fn unchanged(etag: EntityTag, kept: Kept) -> HttpResponse {
    with_headers(HttpResponse::NotModified(), etag, kept).finish()
}

fn with_headers(mut response: HttpResponseBuilder, etag: EntityTag, kept: Kept) -> HttpResponseBuilder {
    response.insert_header((header::ETAG, etag)).insert_header((header::CACHE_CONTROL, kept.cache_control));
    response.insert_header((header::CONTENT_SECURITY_POLICY, PICTURE_POLICY));
    if kept.varies {
        response.insert_header((VARIES.0, HeaderValue::from_static(VARIES.1)));
    }
    response
}
