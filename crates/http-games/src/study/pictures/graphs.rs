//! The graph of a game: the lead in seeds, or once the game is analysed its value.

use std::{collections::HashMap, sync::Arc};

use actix_web::{HttpRequest, HttpResponse, get, http::header::EntityTag, web::Data};
use mancala_db::{
    Reads,
    games::{self, SeatedGame},
};
use mancala_domain::{Analysis, Class, Game, GameId, JudgedPly, Ply, PlyAction, seat_at};
use mancala_http::{
    answer::{
        failures::{Failures, NotFound},
        headers::digest_tag,
        problem::Problem,
    },
    layers::limits::HeavyBudget,
    request::{
        conditional::IfNoneMatch,
        extract::{GamePath, Query},
    },
    state::{AppState, heavy::HeavyClass, recent::Remembered},
};
use mancala_picture::{Course, Fault, Measure, POINTS_MAX, Point, View, draw_graph};
use mancala_rules::{AnyPosition, Side};

use super::{
    answer::{self, Kept, Png, RELEASE},
    query::{Admission, DrawGraph, Look, PngSize, in_pixels},
    scene::names,
};
use crate::{games::find::find_visible, study::analyses::find_standing};

/// Draw a game's graph
///
/// The lead of one store over the other in seeds, ply by ply. Once the game is analysed, its value for a side: the margin at the end by
/// best play. Mistakes and blunders are marked then, those of both players by different shapes and colours. In a game of more than 2,000
/// plies, the graph shows the last 2,000. Unknown parameters are ignored.
#[utoipa::path(
    tag = "pictures",
    operation_id = "get_game_graph",
    params(
        ("id" = Uuid, Path, description = "The game's id"),
        DrawGraph,
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
#[get("/games/{id}/graph.svg")]
#[expect(clippy::too_many_arguments, reason = "each reads a part of the request")]
pub async fn get_game_graph(
    state: Data<AppState>,
    request: HttpRequest,
    path: GamePath,
    query: Query<DrawGraph>,
    look: Query<Look>,
    admission: Query<Admission>,
    budget: HeavyBudget,
    if_none_match: IfNoneMatch,
) -> Result<HttpResponse, Problem> {
    let wanted = Wanted { view: look.0.view(query.0.side, None)?, width: None };
    let found = find(&state, &request, path.0, &admission.0).await?;
    wanted.answer(&state, &found, &budget, &if_none_match).await
}

/// Draw a game's graph as PNG
///
/// The same picture in pixels. Unknown parameters are ignored.
#[utoipa::path(
    tag = "pictures",
    operation_id = "get_game_graph_png",
    params(
        ("id" = Uuid, Path, description = "The game's id"),
        DrawGraph,
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
#[get("/games/{id}/graph.png")]
#[expect(clippy::too_many_arguments, reason = "each reads a part of the request")]
pub async fn get_game_graph_png(
    state: Data<AppState>,
    request: HttpRequest,
    path: GamePath,
    query: Query<DrawGraph>,
    look: Query<Look>,
    size: Query<PngSize>,
    admission: Query<Admission>,
    budget: HeavyBudget,
    if_none_match: IfNoneMatch,
) -> Result<HttpResponse, Problem> {
    let wanted = Wanted { width: Some(size.0.width()?), view: in_pixels(look.0.view(query.0.side, None)?) };
    let found = find(&state, &request, path.0, &admission.0).await?;
    wanted.answer(&state, &found, &budget, &if_none_match).await
}

async fn find(
    state: &AppState,
    request: &HttpRequest,
    id: GameId,
    admission: &Admission,
) -> Result<Arc<Remembered>, Problem> {
    let reader = answer::admit(state, request, admission.ticket.as_deref(), id).await?;
    find_visible(state, id, reader).await
}

/// The requested graph: its view, and the width of a PNG.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    view: View,
    /// The width of a PNG; `None` for an SVG.
    width: Option<u32>,
}

impl Wanted {
    /// The graph, unless the client has it.
    async fn answer(
        self,
        state: &AppState,
        found: &Arc<Remembered>,
        budget: &HeavyBudget,
        if_none_match: &IfNoneMatch,
    ) -> Result<HttpResponse, Problem> {
        let etag = self.tag(&found.seated);
        if if_none_match.has(&etag) {
            return Ok(answer::unchanged(etag, Kept::OF_GAME));
        }
        let svg = self.draw(state, found, budget).await?;
        Ok(match self.width {
            None => answer::drawn_svg(svg, etag, Kept::OF_GAME),
            Some(width) => answer::drawn_png(answer::pixels(state, budget, svg, width).await?, etag, Kept::OF_GAME),
        })
    }

    /// The graph follows from these, so a client that has it costs no drawing. In a database that was set back, a version can come
    /// again with other moves, at another time.
    fn tag(self, seated: &SeatedGame) -> EntityTag {
        let (game, names) = (&seated.game, names(seated, seated.game.position()));
        let drawn = (game.id().0, game.version(), game.updated_at());
        let Self { view, width } = self;
        digest_tag(format!("{RELEASE} {drawn:?} {names:?} {view:?} {width:?}"))
    }

    async fn draw(self, state: &AppState, found: &Arc<Remembered>, budget: &HeavyBudget) -> Result<String, Problem> {
        budget.charge(found.seated.game.ply().min(PLIES_DRAWN_MAX))?;
        let (drawn, view) = (found.clone(), self.view);
        let draw = move |reads: Reads| async move { graph(&reads, &drawn.seated, view).await };
        state.heavy.run(HeavyClass::Picture, budget.turns(), draw).await
    }
}

/// The plies of a game that its graph shows.
#[expect(clippy::cast_possible_truncation, reason = "some thousand")]
const PLIES_DRAWN_MAX: u32 = POINTS_MAX as u32;

async fn graph(reads: &Reads, seated: &SeatedGame, view: View) -> Result<String, Problem> {
    let game = &seated.game;
    let before = game.ply().saturating_sub(PLIES_DRAWN_MAX);
    let plies = reads.run(|db| async move { games::plies(&db, game, before, PLIES_DRAWN_MAX).await }).await?;
    let analysis =
        if game.analysed_at().is_some() { find_standing(reads.primary(), game).await?.analysis } else { None };
    let judged = analysis.map(|analysis| Judged::of(game, &analysis, &plies));
    let point = |ply: u32, position: &AnyPosition| {
        let point = Point::of(ply, position);
        judged.as_ref().map_or(point, |judged| judged.add_to(point, ply, position))
    };
    let opening = (before == 0).then(|| point(0, &game.terms().opening()));
    let course = Course {
        variant: game.terms().options.variant(),
        names: names(seated, game.position()),
        measure: if judged.is_some() { Measure::Value } else { Measure::Stores },
        points: opening.into_iter().chain(plies.iter().map(|ply| point(ply.number, &ply.position))).collect(),
    };
    Ok(draw_graph(&course, view))
}

/// The analysed values of the positions after plies, by the numbers of the plies.
struct Judged<'a> {
    game: &'a Game,
    /// The value for South in that position, in hundredths of a seed.
    values: HashMap<u32, i32>,
    /// The mistakes and blunders, with the present side of the player who made each.
    faults: HashMap<u32, (Fault, Side)>,
}

impl<'a> Judged<'a> {
    fn of(game: &'a Game, analysis: &Analysis, plies: &[Ply]) -> Self {
        let mut values: HashMap<u32, i32> = analysis.plies.iter().map(|ply| (ply.number, ply.value.points)).collect();
        // The position before the first ply has the value of its best move.
        if let Some(first) = analysis.plies.first() {
            values.insert(first.number.saturating_sub(1), first.best.points);
        }
        // A takeback has no value of its own: the position after an earlier ply stands again.
        for ply in plies {
            if let PlyAction::Takeback { to_ply, .. } = ply.mv
                && ply.number <= analysis.ply
                && let Some(value) = values.get(&to_ply).copied()
            {
                values.insert(ply.number, value);
            }
        }
        let faults = analysis.plies.iter().filter_map(|ply| fault(game, ply)).collect();
        Self { game, values, faults }
    }

    /// A point with its value and its fault. The graph is for people: after a swap South's player is another one.
    fn add_to(&self, point: Point, ply: u32, position: &AnyPosition) -> Point {
        let is_same_player = seat_at(position, Side::South) == self.game.seat_at(Side::South);
        let value = self.values.get(&ply).map(|value| if is_same_player { *value } else { -value });
        let point = value.map_or(point, |value| point.with_value(value));
        self.faults.get(&ply).map_or(point, |(fault, by)| point.with_fault(*fault, *by))
    }
}

fn fault(game: &Game, ply: &JudgedPly) -> Option<(u32, (Fault, Side))> {
    let fault = match ply.class {
        Class::Mistake => Fault::Mistake,
        Class::Blunder => Fault::Blunder,
        Class::Forced | Class::Best | Class::Good | Class::Inaccuracy => return None,
    };
    let by = if game.seat_at(Side::South) == ply.seat { Side::South } else { Side::North };
    Some((ply.number, (fault, by)))
}
