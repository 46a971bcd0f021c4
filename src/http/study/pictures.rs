//! Boards and graphs of games as SVG pictures: chooses what they show. `picture` draws them.

use std::collections::HashMap;

use actix_web::{
    HttpResponse, HttpResponseBuilder, get,
    http::header::{self, EntityTag, HeaderName, HeaderValue},
    web::Data,
};
use serde::Deserialize;
use sqlx::PgPool;
use utoipa::{IntoParams, ToSchema};

use crate::{
    db::{
        games::{self, SeatedGame},
        study::analyses,
    },
    domain::{Class, Game, JudgedPly, Player, PlayerKind, Ply, Seat, Status, seat_at},
    http::{
        answer::{
            headers::{KEPT_FOR_MINUTES, NOT_KEPT, PICTURE_POLICY, VARIES, digest_tag},
            problem::Problem,
        },
        games::find::find_visible,
        layers::limits::HeavyBudget,
        request::{
            auth::Reader,
            conditional::IfNoneMatch,
            extract::{GamePath, Query, VariantPath},
        },
        state::{AppState, heavy::HeavyClass},
        variants::{
            catalog::{standard, written_options},
            line,
        },
        view::wire::SideWord,
    },
    picture::{
        Course, Fault, Handedness, LastMove, POINTS_MAX, PlayerLabel, Point, Scene, SceneStatus, Theme, View,
        draw_board, draw_graph,
    },
    rules::{AnyPosition, BySide, Side},
};

/// The media type of a picture.
const SVG: &str = "image/svg+xml; charset=utf-8";

/// Draw a game's board
///
/// The present board, or the board after a ply: seeds and their counts, the players' sides, the side to move, and the effects of the last
/// move. The picture's `title` and `desc` describe all of it in words.
#[utoipa::path(
    tag = "pictures",
    operation_id = "get_board_picture",
    params(
        ("id" = Uuid, Path, description = "The game's id"),
        DrawBoard,
        ("If-None-Match" = Option<String>, Header, description = "The `ETag` of the picture that the client has"),
    ),
    responses(
        (status = 200, description = "The picture", content((String = "image/svg+xml")),
            headers(("ETag" = String, description = "A digest of the picture"))),
        (status = 304, description = "The client's picture is current",
            headers(("ETag" = String, description = "As the client sent it"))),
        (status = 404, description = "`not_found`: no such game, or no such ply yet"),
    ),
    security((), ("bearer" = []))
)]
#[get("/games/{id}/board.svg")]
pub async fn get_board_picture(
    state: Data<AppState>,
    reader: Reader,
    path: GamePath,
    query: Query<DrawBoard>,
    if_none_match: IfNoneMatch,
) -> Result<HttpResponse, Problem> {
    let DrawBoard { ply, side, mirror, theme } = query.0;
    let found = find_visible(&state, path.0, reader.0).await?;
    let seated = &found.seated;
    let view = view(side, mirror, theme);
    let svg = match ply {
        None => draw_board(&present_scene(seated), view),
        Some(0) => {
            let opening = seated.game.terms().opening();
            draw_board(&past_scene(seated, 0, &opening, None), view)
        }
        Some(number) if number <= seated.game.ply() => {
            let ply = games::plies(&state.db, &seated.game, number - 1, 1).await?.pop().ok_or_else(no_such_ply)?;
            draw_board(&past_scene(seated, number, &ply.position, Some(&ply)), view)
        }
        Some(_) => return Err(no_such_ply()),
    };
    Ok(vary(answer(svg, NOT_KEPT, &if_none_match)))
}

/// Draw a position
///
/// Any position of a variant, without a game. Unless given, the opening.
#[utoipa::path(
    tag = "pictures",
    operation_id = "get_variant_board_picture",
    params(
        ("variant" = String, Path, description = "The variant's name", example = "kalah"),
        DrawPosition,
        ("If-None-Match" = Option<String>, Header, description = "The `ETag` of the picture that the client has"),
    ),
    responses(
        (status = 200, description = "The picture", content((String = "image/svg+xml")),
            headers(("ETag" = String, description = "A digest of the picture"))),
        (status = 304, description = "The client's picture is current",
            headers(("ETag" = String, description = "As the client sent it"))),
        (status = 404, description = "`not_found`"),
    ),
    security((), ("bearer" = []))
)]
#[get("/variants/{variant}/board.svg")]
pub async fn get_variant_board_picture(
    path: VariantPath,
    query: Query<DrawPosition>,
    if_none_match: IfNoneMatch,
) -> Result<HttpResponse, Problem> {
    let DrawPosition { preset, options, position, side, mirror, theme } = query.0;
    let options = written_options(path.0, &preset, options.as_deref().unwrap_or_default())?;
    let position = line::start(&options, position.as_deref(), "?position")?;
    let scene = Scene {
        position: &position,
        names: BySide::default(),
        ply: position.plies(),
        last: None,
        status: SceneStatus::of(&position),
    };
    Ok(answer(draw_board(&scene, view(side, mirror, theme)), KEPT_FOR_MINUTES, &if_none_match))
}

/// Draw a game's graph
///
/// The lead of one store over the other in seeds, ply by ply. Mistakes and blunders are marked once the game is analysed. In a game of more
/// than 2,000 plies, the graph shows the last 2,000.
#[utoipa::path(
    tag = "pictures",
    operation_id = "get_game_graph",
    params(
        ("id" = Uuid, Path, description = "The game's id"),
        DrawGraph,
        ("If-None-Match" = Option<String>, Header, description = "The `ETag` of the picture that the client has"),
    ),
    responses(
        (status = 200, description = "The picture", content((String = "image/svg+xml")),
            headers(("ETag" = String, description = "A digest of the picture"))),
        (status = 304, description = "The client's picture is current",
            headers(("ETag" = String, description = "As the client sent it"))),
        (status = 404, description = "`not_found`"),
    ),
    security((), ("bearer" = []))
)]
#[get("/games/{id}/graph.svg")]
pub async fn get_game_graph(
    state: Data<AppState>,
    reader: Reader,
    path: GamePath,
    query: Query<DrawGraph>,
    budget: HeavyBudget,
    if_none_match: IfNoneMatch,
) -> Result<HttpResponse, Problem> {
    let found = find_visible(&state, path.0, reader.0).await?;
    let view = view(query.0.side, None, query.0.theme);
    // The graph follows from these, so a client that has it costs no drawing. In a database that was set back, a version can come
    // again with other moves, at another time.
    let (game, names) = (&found.seated.game, names(&found.seated, found.seated.game.position()));
    let drawn = (game.id().0, game.version(), game.updated_at());
    let etag = digest_tag(format!("{RELEASE} {drawn:?} {names:?} {view:?}"));
    if if_none_match.has(&etag) {
        return Ok(vary(unchanged(etag, NOT_KEPT)));
    }
    budget.charge(game.ply().min(PLIES_DRAWN_MAX))?;
    let drawn = found.clone();
    let draw = move |db| async move { graph(&db, &drawn.seated, view).await };
    let svg = state.heavy.run(HeavyClass::Picture, budget.turn(), draw).await?;
    Ok(vary(picture(svg, etag, NOT_KEPT)))
}

/// Part of the tags of pictures: another release may draw them otherwise.
const RELEASE: &str = env!("CARGO_PKG_VERSION");

/// The plies of a game that its graph shows.
#[expect(clippy::cast_possible_truncation, reason = "some thousand")]
const PLIES_DRAWN_MAX: u32 = POINTS_MAX as u32;

async fn graph(db: &PgPool, seated: &SeatedGame, view: View) -> Result<String, Problem> {
    let game = &seated.game;
    let before = game.ply().saturating_sub(PLIES_DRAWN_MAX);
    let plies = games::plies(db, game, before, PLIES_DRAWN_MAX).await?;
    let opening = (before == 0).then(|| Point::of(0, &game.terms().opening()));
    let faults = faults(db, game).await?;
    let point = |ply: &Ply| {
        let point = Point::of(ply.number, &ply.position);
        faults.get(&ply.number).map_or(point, |(fault, by)| point.with_fault(*fault, *by))
    };
    let course = Course {
        variant: game.terms().options.variant(),
        names: names(seated, game.position()),
        points: opening.into_iter().chain(plies.iter().map(point)).collect(),
    };
    Ok(draw_graph(&course, view))
}

/// The mistakes and blunders of an analysed game by ply, with the present side of the player who made each.
async fn faults(db: &PgPool, game: &Game) -> Result<HashMap<u32, (Fault, Side)>, Problem> {
    if game.analysed_at().is_none() {
        return Ok(HashMap::new());
    }
    let stored = analyses::find(db, game.id()).await?;
    let fault = |ply: &JudgedPly| {
        let fault = match ply.class {
            Class::Mistake => Fault::Mistake,
            Class::Blunder => Fault::Blunder,
            Class::Forced | Class::Best | Class::Good | Class::Inaccuracy => return None,
        };
        let by = if game.seat_at(Side::South) == ply.seat { Side::South } else { Side::North };
        Some((ply.number, (fault, by)))
    };
    Ok(stored.analysis.iter().flat_map(|analysis| &analysis.plies).filter_map(fault).collect())
}

/// A picture, or 304 if the client's copy is current.
fn answer(svg: String, cache_control: (HeaderName, &'static str), if_none_match: &IfNoneMatch) -> HttpResponse {
    let etag = digest_tag(&svg);
    if if_none_match.has(&etag) { unchanged(etag, cache_control) } else { picture(svg, etag, cache_control) }
}

fn unchanged(etag: EntityTag, cache_control: (HeaderName, &'static str)) -> HttpResponse {
    with_headers(HttpResponse::NotModified(), etag, cache_control).finish()
}

fn picture(svg: String, etag: EntityTag, cache_control: (HeaderName, &'static str)) -> HttpResponse {
    with_headers(HttpResponse::Ok(), etag, cache_control).content_type(SVG).body(svg)
}

fn with_headers(
    mut response: HttpResponseBuilder,
    etag: EntityTag,
    cache_control: (HeaderName, &'static str),
) -> HttpResponseBuilder {
    response.insert_header((header::ETAG, etag)).insert_header(cache_control);
    response.insert_header((header::CONTENT_SECURITY_POLICY, PICTURE_POLICY));
    response
}

/// Marks an answer that depends on the caller.
fn vary(mut answer: HttpResponse) -> HttpResponse {
    answer.headers_mut().insert(VARIES.0, HeaderValue::from_static(VARIES.1));
    answer
}

fn no_such_ply() -> Problem {
    Problem::not_found("the game has no such ply")
}

/// A game at present.
fn present_scene(seated: &SeatedGame) -> Scene<'_> {
    let game = &seated.game;
    let status = match game.status() {
        Status::Open => SceneStatus::Open,
        Status::Active => SceneStatus::Turn(game.position().turn()),
        Status::Finished => SceneStatus::Over {
            winner: game.result().and_then(|result| result.winner),
            reason: game.result().map(|result| result.reason.to_string()),
        },
        Status::Aborted => SceneStatus::Aborted,
    };
    Scene { status, ..past_scene(seated, game.ply(), game.position(), seated.last_ply.as_ref()) }
}

/// A game after a ply. A later end of the game is not shown, unless the rules ended it there.
fn past_scene<'a>(seated: &'a SeatedGame, number: u32, position: &'a AnyPosition, ply: Option<&'a Ply>) -> Scene<'a> {
    let last = ply.map(|ply| LastMove {
        word: ply.mv.to_string(),
        side: ply.side,
        name: Seat::ALL
            .into_iter()
            .filter_map(|seat| seated.players[seat].as_ref())
            .find(|player| player.id == ply.player)
            .map(label),
        effects: &ply.effects,
    });
    Scene { position, names: names(seated, position), ply: number, last, status: SceneStatus::of(position) }
}

/// The players by their sides in a position.
fn names<'a>(seated: &'a SeatedGame, position: &AnyPosition) -> BySide<Option<PlayerLabel<'a>>> {
    let name = |side| seated.players[seat_at(position, side)].as_ref().map(label);
    BySide { south: name(Side::South), north: name(Side::North) }
}

/// A picture has no `kind` beside a name. So it marks the kinds that may have the name of another player.
fn label(player: &Player) -> PlayerLabel<'_> {
    let mark = match player.kind {
        PlayerKind::Guest => Some("guest"),
        PlayerKind::Imported => Some("imported"),
        PlayerKind::Account | PlayerKind::Computer | PlayerKind::Deleted => None,
    };
    PlayerLabel { name: player.name.as_str(), mark }
}

fn view(side: Option<SideWord>, mirror: Option<bool>, theme: Option<ThemeWord>) -> View {
    View {
        bottom: side.map_or(Side::South, Side::from),
        handedness: if mirror == Some(true) { Handedness::Mirrored } else { Handedness::Plain },
        theme: match theme {
            Some(ThemeWord::Light) => Theme::Light,
            Some(ThemeWord::Dark) => Theme::Dark,
            Some(ThemeWord::Auto) | None => Theme::Auto,
        },
    }
}

/// How to draw a game's board.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DrawBoard {
    /// The ply after which to draw the board; 0 for the opening. Unless given, the present board.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 4_294_967_295_i64)]
    ply: Option<u32>,
    /// The side at the bottom. Unless given, South.
    #[param(inline)]
    side: Option<SideWord>,
    /// Whether left and right are exchanged. Then sowing is clockwise.
    #[param(default = false)]
    mirror: Option<bool>,
    /// Unless given `auto`: light or dark by the viewer's preference.
    #[param(inline)]
    theme: Option<ThemeWord>,
}

/// The position to draw, and how.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DrawPosition {
    /// One of the variant's presets.
    #[serde(default = "standard")]
    #[param(required = false, default = "standard", example = "standard")]
    preset: String,
    /// Options that differ from the preset, as in text records.
    #[param(max_length = 500, example = "seeds=4")]
    options: Option<String>,
    /// The position, in text notation; the opening unless given.
    #[param(example = "4,4,0,5,5,5/4,4,4,4,4,4 1-0 S e 1 1S")]
    position: Option<String>,
    /// The side at the bottom. Unless given, South.
    #[param(inline)]
    side: Option<SideWord>,
    /// Whether left and right are exchanged. Then sowing is clockwise.
    #[param(default = false)]
    mirror: Option<bool>,
    /// Unless given `auto`: light or dark by the viewer's preference.
    #[param(inline)]
    theme: Option<ThemeWord>,
}

/// How to draw a game's graph.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DrawGraph {
    /// The side whose lead is above the line. Unless given, South.
    #[param(inline)]
    side: Option<SideWord>,
    /// Unless given `auto`: light or dark by the viewer's preference.
    #[param(inline)]
    theme: Option<ThemeWord>,
}

/// The colours of a picture.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum ThemeWord {
    Light,
    Dark,
    Auto,
}
