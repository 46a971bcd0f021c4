//! The page of a game, for links in messages: who plays, how it stands, and its board. Chats make a preview of its head, and a link
//! leads people to the game in the web page.
//!
//! The page shows what callers without a token may see, and runs no script. This module does not know how a board is drawn. The
//! page does not redirect a browser. A robot that follows a redirect would read the head of another document, and the browser's
//! way back would lead here again.

use actix_web::{HttpRequest, HttpResponse, get, http::header, web::Data};
use askama::Template;
use mancala_db::games::SeatedGame;
use mancala_domain::{GameId, Status};
use mancala_http::{
    answer::{
        failures::{Failures, NotFound},
        headers::{NOT_KEPT, digest_tag},
        problem::Problem,
        problem_page::Menu,
    },
    request::{accept, conditional::IfNoneMatch, origin, reader::reader},
    state::AppState,
};
use mancala_picture::{PlayerLabel, Scene, describe_seat, describe_status};
use mancala_rules::{BySide, Side};
use mancala_texts::Language;
use uuid::Uuid;

use super::words::PageWords;
use crate::{games::find::find_visible, study::pictures::scene::present_scene};

/// The policy of the page: it loads the board from this server, has its styles in itself, and runs nothing.
const PAGE_POLICY: &str = "default-src 'none'; img-src 'self'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
                           frame-ancestors 'none'";

/// The size of the picture in previews, in pixels: the width that they ask for, and the height that follows from it.
const PREVIEW_WIDTH: u32 = 1200;
const PREVIEW_HEIGHT: u32 = 795;

/// Show a game to people
///
/// A page for links in messages, with Open Graph tags from which chats make a preview. A link leads to the game in the web page, if there is one. Its
/// words are in the language that `Accept-Language` prefers: English, German, French or Spanish. Public and unlisted games have such a page. For
/// all others, whether they are private or do not exist, a browser gets the same page with status 404. Unknown parameters are ignored.
#[utoipa::path(
    tag = "pictures",
    operation_id = "get_game_page",
    params(
        ("id" = Uuid, Path, description = "The game's id"),
        ("Accept-Language" = Option<String>, Header, description = "The languages that the reader knows"),
        ("If-None-Match" = Option<String>, Header, description = "The `ETag` of the page that the client has"),
    ),
    responses(
        (status = 200, description = "The page", body = String, content_type = "text/html; charset=utf-8",
            headers(("ETag" = String, description = "A digest of the page"))),
        (status = 304, description = "The client's page is current",
            headers(("ETag" = String, description = "As the client sent it"))),
        Failures<NotFound>,
    ),
    security(())
)]
#[get("/g/{id}")]
pub async fn get_game_page(
    state: Data<AppState>,
    request: HttpRequest,
    if_none_match: IfNoneMatch,
) -> Result<HttpResponse, Problem> {
    let page = page(&state, &request)
        .await
        .map_err(|problem| if accept::prefers_page(&request) { problem.shown_to(reader(&request)) } else { problem })?;
    let etag = digest_tag(&page);
    let mut response = if if_none_match.has(&etag) { HttpResponse::NotModified() } else { HttpResponse::Ok() };
    response.insert_header((header::ETAG, etag.clone())).insert_header(NOT_KEPT);
    response
        .insert_header((header::VARY, "Accept, Accept-Language"))
        .insert_header((header::CONTENT_SECURITY_POLICY, PAGE_POLICY));
    if if_none_match.has(&etag) {
        return Ok(response.finish());
    }
    Ok(response.content_type("text/html; charset=utf-8").body(page))
}

async fn page(state: &AppState, request: &HttpRequest) -> Result<String, Problem> {
    let unknown = || Problem::not_found("there is no such game, or it is private");
    let id = request.match_info().get("id").and_then(|id| Uuid::try_parse(id).ok()).ok_or_else(unknown)?;
    // A hidden game gets the same words whatever the reason.
    let found = find_visible(state, GameId(id), None).await;
    let found = found.map_err(|problem| if problem.is_not_found() { unknown() } else { problem })?;
    let base = origin::base_url(request);
    let reader = reader(request);
    let menu = reader.menu();
    let page = GamePage { menu, base, ..GamePage::of(&found.seated, reader.language) };
    let page = if menu.is_some() { page } else { GamePage { lead: None, ..page } };
    Ok(page.render().expect("a String accepts all text"))
}

/// The values of the page.
#[derive(Template)]
#[template(path = "game_page.html")]
struct GamePage {
    id: Uuid,
    language: &'static str,
    words: &'static PageWords,
    /// "Ana – Bo, Kalah, 20–28".
    title: String,
    /// "Kalah, practice, 12 plies. Ana to move."
    description: String,
    variant: &'static str,
    /// The status of the game, as a sentence.
    status: String,
    players: [PagePlayer; 2],
    /// How many plies were played, in words.
    plies: String,
    is_practice: bool,
    /// `None` without a web page.
    menu: Option<&'static Menu>,
    /// Where people are led to; `None` without a web page.
    lead: Option<Lead>,
    /// Where clients reach the service, without a slash at the end; `None` if that is not known.
    base: Option<String>,
    /// Which board the preview shows, and in which language, as parameters.
    preview: String,
    /// The language of pictures as their only parameter; empty for English.
    in_language: String,
}

struct PagePlayer {
    name: String,
    mark: String,
    side: &'static str,
    score: u16,
    seeds: String,
}

/// The address of a game in the web page, and the words of the link to it.
struct Lead {
    view: &'static str,
    words: &'static str,
}

impl GamePage {
    fn of(seated: &SeatedGame, language: Language) -> Self {
        let (game, words) = (&seated.game, PageWords::of(language));
        let scene = present_scene(seated);
        let players = [Side::South, Side::North].map(|side| player(seated, &scene, side, language));
        let variant = game.terms().options.variant().title();
        let [south, north] = &players;
        let is_over = matches!(game.status(), Status::Finished | Status::Aborted);
        let status = status(&scene, language);
        let practice = if game.is_practice() { format!(", {}", words.practice) } else { String::new() };
        // The end of a game may be no move, and only its present board shows that.
        let preview_ply = if is_over { String::new() } else { format!("&ply={}", game.ply()) };
        let lang = if language == Language::En { String::new() } else { format!("lang={}", language.tag()) };
        let among = |sign| if lang.is_empty() { String::new() } else { format!("{sign}{lang}") };
        Self {
            id: game.id().0,
            language: language.tag(),
            words,
            title: format!(
                "{} – {}, {variant}, {}–{}",
                isolated(&south.name),
                isolated(&north.name),
                south.score,
                north.score
            ),
            description: format!("{variant}{practice}, {}. {status}", words.plies(game.ply())),
            variant,
            status,
            players,
            plies: if is_over { words.plies(game.ply()) } else { words.plies_so_far(game.ply()) },
            is_practice: game.is_practice(),
            lead: Some(match game.status() {
                Status::Finished => Lead { view: "review", words: words.to_review },
                Status::Open | Status::Active | Status::Aborted => Lead { view: "games", words: words.to_board },
            }),
            menu: None,
            base: None,
            preview: preview_ply + &among('&'),
            in_language: among('?'),
        }
    }
}

/// The player at a side. Seeds are those of the result, if there is one.
fn player(seated: &SeatedGame, scene: &Scene, side: Side, language: Language) -> PagePlayer {
    let seat = describe_seat(scene, side, language);
    let score = seated.game.result().map_or(seated.game.position().board().score(), |result| result.score)[side];
    PagePlayer {
        name: scene.names[side].map_or(seat.free, |label| label.name).to_owned(),
        mark: seat.mark,
        side: seat.side,
        score,
        seeds: PageWords::of(language).seeds(score),
    }
}

/// The status in words. Names from other scripts do not turn the sentence around.
fn status(scene: &Scene, language: Language) -> String {
    let names = BySide {
        south: scene.names.south.map(|label| isolated(label.name)),
        north: scene.names.north.map(|label| isolated(label.name)),
    };
    let label = |side: Side| {
        let (label, name) = (scene.names[side]?, names[side].as_deref()?);
        Some(PlayerLabel { name, ..label })
    };
    let names = BySide { south: label(Side::South), north: label(Side::North) };
    describe_status(&Scene { names, ..scene.clone() }, language)
}

/// A name for text without elements. If it has letters that are written from right to left, marks keep it from reversing the text around
/// it.
fn isolated(name: &str) -> String {
    let is_right_to_left = |c: char| {
        matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}' | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if name.chars().any(is_right_to_left) { format!("\u{2068}{name}\u{2069}") } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_from_right_to_left_are_isolated() {
        for name in ["Ana", "Żaneta", "あ", "Жук"] {
            assert_eq!(isolated(name), name);
        }
        for name in ["אנה", "سارة", "a\u{202e}b"] {
            assert_eq!(isolated(name), format!("\u{2068}{name}\u{2069}"));
        }
    }
}
