//! Pictures of boards: of a game, and of any position.

use actix_web::{HttpRequest, HttpResponse, get, web::Data};
use mancala_db::games;
use mancala_domain::GameId;
use mancala_http::{
    answer::{
        failures::{Failures, NotFound, Unavailable},
        headers::KEPT_FOR_MINUTES,
        problem::Problem,
    },
    layers::limits::HeavyBudget,
    request::{
        conditional::IfNoneMatch,
        extract::{GamePath, Query, VariantPath},
    },
    state::AppState,
};
use mancala_picture::{Scene, SceneStatus, View, draw_board};
use mancala_rules::{BySide, Variant};

use super::{
    answer::{self, Kept, Png},
    query::{Admission, DrawBoard, DrawPosition, Look, PngSize, in_pixels},
    scene::{past_scene, present_scene},
};
use crate::{
    games::find::find_visible,
    variants::{catalog::written_options, line},
};

/// Draw a game's board
///
/// The present board, or the board after a ply. It shows seeds and their counts, the players' sides, the side to move,
/// and the effects of the last move. The picture's `title` and `desc` describe all of it in words.
/// Unknown parameters are ignored.
///
/// - `not_found`: no such game, or no such ply yet
#[utoipa::path(
    tag = "pictures",
    operation_id = "get_board_picture",
    params(
        ("id" = Uuid, Path, description = "The game's id"),
        DrawBoard,
        Look,
        Admission,
        ("If-None-Match" = Option<String>, Header, description = "The `ETag` of the picture that the client has"),
    ),
    responses(
        (status = 200, description = "The picture", content((String = "image/svg+xml")),
            headers(("ETag" = String, description = "A digest of the picture"))),
        (status = 304, description = "The client's picture is current",
            headers(("ETag" = String, description = "As the client sent it"))),
        Failures<NotFound>,
    ),
    security((), ("bearer" = []))
)]
#[get("/games/{id}/board.svg")]
pub async fn get_board_picture(
    state: Data<AppState>,
    request: HttpRequest,
    path: GamePath,
    query: Query<DrawBoard>,
    look: Query<Look>,
    admission: Query<Admission>,
    if_none_match: IfNoneMatch,
) -> Result<HttpResponse, Problem> {
    let view = look.0.view(query.0.side, query.0.mirror)?;
    let svg = game_board(&state, &request, path.0, (query.0.ply, view), &admission.0).await?;
    Ok(answer::svg(svg, Kept::OF_GAME, &if_none_match))
}

/// Draw a game's board as PNG
///
/// The same picture in pixels, for messages, mails and previews of links, which show no SVG. Unknown parameters are ignored.
///
/// - `not_found`: no such game, or no such ply yet
#[utoipa::path(
    tag = "pictures",
    operation_id = "get_board_png",
    params(
        ("id" = Uuid, Path, description = "The game's id"),
        DrawBoard,
        Look,
        PngSize,
        Admission,
        ("If-None-Match" = Option<String>, Header, description = "The `ETag` of the picture that the client has"),
    ),
    responses(
        (status = 200, description = "The picture", content((Png = "image/png")),
            headers(("ETag" = String, description = "A digest of the picture"))),
        (status = 304, description = "The client's picture is current",
            headers(("ETag" = String, description = "As the client sent it"))),
        Failures<NotFound>,
    ),
    security((), ("bearer" = []))
)]
#[get("/games/{id}/board.png")]
#[expect(clippy::too_many_arguments, reason = "each reads a part of the request")]
pub async fn get_board_png(
    state: Data<AppState>,
    request: HttpRequest,
    path: GamePath,
    query: Query<DrawBoard>,
    look: Query<Look>,
    size: Query<PngSize>,
    admission: Query<Admission>,
    budget: HeavyBudget,
    if_none_match: IfNoneMatch,
) -> Result<HttpResponse, Problem> {
    let width = size.0.width()?;
    let view = in_pixels(look.0.view(query.0.side, query.0.mirror)?);
    let svg = game_board(&state, &request, path.0, (query.0.ply, view), &admission.0).await?;
    answer::png(&state, &budget, (svg, width), Kept::OF_GAME, &if_none_match).await
}

/// Draw a position
///
/// Any position of a variant, without a game. Unless given, the opening. Unknown parameters are ignored.
#[utoipa::path(
    tag = "pictures",
    operation_id = "get_variant_board_picture",
    params(
        ("variant" = String, Path, description = "The variant's name", example = "kalah"),
        DrawPosition,
        Look,
        ("If-None-Match" = Option<String>, Header, description = "The `ETag` of the picture that the client has"),
    ),
    responses(
        (status = 200, description = "The picture", content((String = "image/svg+xml")),
            headers(("ETag" = String, description = "A digest of the picture"))),
        (status = 304, description = "The client's picture is current",
            headers(("ETag" = String, description = "As the client sent it"))),
        Failures<NotFound>,
    ),
    security((), ("bearer" = []))
)]
#[get("/variants/{variant}/board.svg")]
pub async fn get_variant_board_picture(
    path: VariantPath,
    query: Query<DrawPosition>,
    look: Query<Look>,
    if_none_match: IfNoneMatch,
) -> Result<HttpResponse, Problem> {
    let view = look.0.view(query.0.side, query.0.mirror)?;
    let svg = position_board(path.0, &query.0, view)?;
    Ok(answer::svg(svg, Kept::for_everyone(KEPT_FOR_MINUTES.1), &if_none_match))
}

/// Draw a position as PNG
///
/// The same picture in pixels. Unknown parameters are ignored.
///
/// - `unavailable`: too many pictures are drawn at once; try again after `Retry-After`
#[utoipa::path(
    tag = "pictures",
    operation_id = "get_variant_board_png",
    params(
        ("variant" = String, Path, description = "The variant's name", example = "kalah"),
        DrawPosition,
        Look,
        PngSize,
        ("If-None-Match" = Option<String>, Header, description = "The `ETag` of the picture that the client has"),
    ),
    responses(
        (status = 200, description = "The picture", content((Png = "image/png")),
            headers(("ETag" = String, description = "A digest of the picture"))),
        (status = 304, description = "The client's picture is current",
            headers(("ETag" = String, description = "As the client sent it"))),
        Failures<(NotFound, Unavailable)>,
    ),
    security((), ("bearer" = []))
)]
#[get("/variants/{variant}/board.png")]
pub async fn get_variant_board_png(
    state: Data<AppState>,
    path: VariantPath,
    query: Query<DrawPosition>,
    look: Query<Look>,
    size: Query<PngSize>,
    budget: HeavyBudget,
    if_none_match: IfNoneMatch,
) -> Result<HttpResponse, Problem> {
    let width = size.0.width()?;
    let view = in_pixels(look.0.view(query.0.side, query.0.mirror)?);
    let svg = position_board(path.0, &query.0, view)?;
    answer::png(&state, &budget, (svg, width), Kept::for_everyone(KEPT_FOR_MINUTES.1), &if_none_match).await
}

/// The SVG of a game's board after a ply, or of the present one, if the caller may see the game.
async fn game_board(
    state: &AppState,
    request: &HttpRequest,
    id: GameId,
    (ply, view): (Option<u32>, View),
    admission: &Admission,
) -> Result<String, Problem> {
    let reader = answer::admit(state, request, admission.ticket.as_deref(), id).await?;
    let found = find_visible(state, id, reader).await?;
    let seated = &found.seated;
    match ply {
        None => Ok(draw_board(&present_scene(seated), view)),
        Some(0) => {
            let opening = seated.game.terms().opening();
            Ok(draw_board(&past_scene(seated, 0, &opening, None), view))
        }
        Some(number) if number <= seated.game.ply() => {
            let plies =
                state.reads.run(|db| async move { games::plies(&db, &seated.game, number - 1, 1).await }).await?;
            let ply = plies.into_iter().next().ok_or_else(no_such_ply)?;
            Ok(draw_board(&past_scene(seated, number, &ply.position, Some(&ply)), view))
        }
        Some(_) => Err(no_such_ply()),
    }
}

/// The SVG of a position.
fn position_board(variant: Variant, query: &DrawPosition, view: View) -> Result<String, Problem> {
    let options = written_options(variant, &query.preset, query.options.as_deref().unwrap_or_default())?;
    let position = line::start(&options, query.position.as_deref(), "?position")?;
    let scene = Scene {
        position: &position,
        names: BySide::default(),
        ply: position.plies(),
        last: None,
        status: SceneStatus::of(&position),
    };
    Ok(draw_board(&scene, view))
}

fn no_such_ply() -> Problem {
    Problem::not_found("the game has no such ply")
}
