//! Analyses of games: requests for them, their progress, and the analyses themselves. Knows no engine: a job analyses.

use actix_web::{
    HttpResponse, HttpResponseBuilder, get,
    http::header::{self, ContentType, HeaderName},
    post,
    web::Data,
};
use mancala_db::{
    DbError,
    study::analyses::{self, AnalysisState, NETWORK_WAITING_MAX, Progress, RequestOutcome},
};
use mancala_domain::{Analysis, Class, Game, JudgedPly, PLIES_ANALYSED_MAX, POINTS_PER_SEED, Value, Visibility};
use mancala_http::{
    answer::{
        code::Code,
        failures::{Failures, GameNotOver, NotFound, TooManyAnalyses},
        headers::{KEPT_FOR_MINUTES, NOT_KEPT, VARIES, digest_tag},
        problem::Problem,
    },
    request::{
        auth::Reader,
        conditional::IfNoneMatch,
        extract::{GamePath, NoQuery, Nothing, OptionalBody, Query},
    },
    state::{AppState, tokens::Caller},
};
use mancala_process::clock::now;
use mancala_rules::Side;
use mancala_wire::view::wire::{ALWAYS_JSON, SideWord, Timestamp};
use serde::Serialize;
use sqlx::PgPool;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::games::{contested::is_contested, find::find_visible};

/// The interval at which a client polls the progress of an analysis, in seconds.
const POLL_AFTER_S: u64 = 2;

/// The `Retry-After` of a full queue, in seconds: several games' work.
const QUEUE_FULL_RETRY_S: u64 = 60;

/// Request a game's analysis
///
/// The engine judges every ply: its value, the best move, the seeds that it lost. That takes some seconds, and players
/// are served in rounds. `Location` names the address of the progress; the game's event `analysed` reports the end. A
/// running game is refused, so that no player gets help during play, unless one person plays both sides, or practises
/// against the computer. The request is idempotent: an analysis that exists or is queued is not made again.
#[utoipa::path(
    tag = "records",
    operation_id = "analyse_game",
    params(("id" = Uuid, Path, description = "The game's id")),
    responses(
        (status = 202, description = "The analysis is queued", body = AnalysisStatus,
            headers(("Location" = String, description = "The address of the progress"),
                ("Retry-After" = u64, description = "The seconds until the next poll"))),
        (status = 200, description = "The analysis exists", body = AnalysisStatus),
        Failures<(NotFound, GameNotOver, TooManyAnalyses)>,
    ),
    security(("bearer" = []))
)]
#[post("/games/{id}/analysis")]
pub async fn analyse_game(
    state: Data<AppState>,
    caller: Caller,
    path: GamePath,
    _: Query<NoQuery>,
    _: OptionalBody<Nothing>,
) -> Result<HttpResponse, Problem> {
    let found = find_visible(&state, path.0, Some(caller.player)).await?;
    let game = &found.seated.game;
    if !game.may_be_analysed_for(caller.player) || is_contested(&state, game).await? {
        let detail = "the engine gives no help during play: only games that are over, or that the caller plays alone or as practice, are analysed";
        return Err(Problem::new(Code::GameNotOver, detail));
    }
    let stored = find_standing(&state.db, game).await?;
    if stored.analysis.as_ref().is_some_and(|analysis| analysis.is_up_to_date(game)) {
        return Ok(answer(HttpResponse::Ok(), &AnalysisStatus::of(game, &stored)));
    }
    match analyses::request(&state.db, game, caller.player, now()).await? {
        RequestOutcome::Queued => {}
        RequestOutcome::TooMany(max) => {
            let detail = format!("the player has at most {max} analyses in the queue: retry when one of them is done");
            return Err(Problem::new(Code::TooManyAnalyses, detail));
        }
        RequestOutcome::TooManyOfNetwork => {
            let detail = format!(
                "the guests and new accounts of one network have at most {NETWORK_WAITING_MAX} analyses in the queue together: \
                 retry when one of them is done"
            );
            return Err(Problem::new(Code::TooManyAnalyses, detail));
        }
        RequestOutcome::Full => {
            return Err(Problem::busy("the queue of analyses is full; try again later").retry_after(QUEUE_FULL_RETRY_S));
        }
        RequestOutcome::NoPlayer => return Err(Problem::new(Code::InvalidToken, "the player is deleted")),
    }
    let mut response = HttpResponse::Accepted();
    response.insert_header((header::LOCATION, format!("/v1/games/{}/analysis", game.id().0)));
    response.insert_header((header::RETRY_AFTER, POLL_AFTER_S));
    Ok(answer(response, &AnalysisStatus::of(game, &find_standing(&state.db, game).await?)))
}

/// Get a game's analysis
///
/// The analysis, or its progress. In a game of more than 2,000 plies, the last 2,000 are judged.
///
/// - `not_found`: no such game, or no request for its analysis
#[utoipa::path(
    tag = "records",
    operation_id = "get_analysis",
    params(
        ("id" = Uuid, Path, description = "The game's id"),
        ("If-None-Match" = Option<String>, Header, description = "The `ETag` of the answer that the client has"),
    ),
    responses(
        (status = 200, description = "The analysis, or its progress", body = AnalysisStatus, headers(
            ("ETag" = String, description = "A digest of the answer"),
            ("Retry-After" = Option<u64>, description = "The seconds until the next poll, while it is queued or running"))),
        (status = 304, description = "The client's answer is current",
            headers(("ETag" = String, description = "As the client sent it"))),
        Failures<NotFound>,
    ),
    security((), ("bearer" = []))
)]
#[get("/games/{id}/analysis")]
pub async fn get_analysis(
    state: Data<AppState>,
    reader: Reader,
    path: GamePath,
    if_none_match: IfNoneMatch,
    _: Query<NoQuery>,
) -> Result<HttpResponse, Problem> {
    let found = find_visible(&state, path.0, reader.0).await?;
    let game = &found.seated.game;
    let status = AnalysisStatus::of(game, &find_standing(&state.db, game).await?);
    if status.analysis.is_none() && status.status == StatusWord::Done {
        return Err(Problem::not_found("the analysis of this game was not requested"));
    }
    let json = serde_json::to_string(&status).expect(ALWAYS_JSON);
    let etag = digest_tag(&json);
    let has = if_none_match.has(&etag);
    let mut response = if has { HttpResponse::NotModified() } else { HttpResponse::Ok() };
    response.insert_header((header::ETAG, etag)).insert_header(status.cache_control(game)).insert_header(VARIES);
    if matches!(status.status, StatusWord::Queued | StatusWord::Running) {
        response.insert_header((header::RETRY_AFTER, POLL_AFTER_S));
    }
    Ok(if has { response.finish() } else { response.content_type(ContentType::json()).body(json) })
}

/// Finds the analysis of a game, and the request for one. In practice, plies that a takeback undid are left out, because the game
/// continues.
pub(super) async fn find_standing(db: &PgPool, game: &Game) -> Result<AnalysisState, DbError> {
    let mut stored = analyses::find(db, game.id()).await?;
    if game.is_practice()
        && let Some(analysis) = &mut stored.analysis
    {
        analysis.retain_standing(&analyses::takebacks(db, game.id()).await?);
    }
    Ok(stored)
}

fn answer(mut response: HttpResponseBuilder, status: &AnalysisStatus) -> HttpResponse {
    response.insert_header(NOT_KEPT).insert_header(VARIES).json(status)
}

/// The progress of a game's analysis, and the analysis.
#[derive(Debug, Serialize, ToSchema)]
struct AnalysisStatus {
    game_id: Uuid,
    status: StatusWord,
    /// The number of analyses before it in the queue.
    #[schema(minimum = 0, example = 0)]
    ahead: u32,
    /// The number of plies to judge.
    #[schema(minimum = 0, example = 60)]
    plies: u32,
    /// The number of plies that are judged.
    #[schema(minimum = 0, example = 60)]
    plies_done: u32,
    /// Null until it is done; while a new one is queued or running, the previous one.
    #[schema(required = true)]
    analysis: Option<AnalysisView>,
}

/// The progress of an analysis. Clients ignore values that they do not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = AnalysisProgress)]
enum StatusWord {
    /// The analysis waits in the queue.
    Queued,
    Running,
    /// The analysis exists. A game that one person plays, or practice, may have gone on since: `analysis.ply` is the
    /// last ply that it covers.
    Done,
    /// The engine failed. It can be requested again.
    Failed,
}

impl AnalysisStatus {
    fn of(game: &Game, stored: &AnalysisState) -> Self {
        let analysis = stored.analysis.as_ref().map(|analysis| AnalysisView::of(game, analysis));
        let judged = stored.analysis.as_ref().map_or(0, |analysis| analysis.ply.min(PLIES_ANALYSED_MAX));
        let done = Self {
            game_id: game.id().0,
            status: StatusWord::Done,
            ahead: 0,
            plies: judged,
            plies_done: judged,
            analysis,
        };
        let Some(request) = &stored.request else { return done };
        let status = match request.progress {
            // The analysis is stored; the job removes the request in a moment.
            _ if stored.analysis.as_ref().is_some_and(|analysis| analysis.is_up_to_date(game)) => return done,
            Progress::Queued => StatusWord::Queued,
            Progress::Running => StatusWord::Running,
            Progress::Failed => StatusWord::Failed,
        };
        Self { status, ahead: request.ahead, plies: request.plies, plies_done: request.plies_done, ..done }
    }

    /// The analysis of a public game that is over can be cached: only a new edition of the engine changes it.
    fn cache_control(&self, game: &Game) -> (HeaderName, &'static str) {
        let is_public = game.terms().visibility == Visibility::Public;
        let is_last = self.status == StatusWord::Done && game.status().is_over();
        if is_public && is_last { KEPT_FOR_MINUTES } else { NOT_KEPT }
    }
}

/// The values of a game, ply by ply.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Analysis)]
struct AnalysisView {
    analysed_at: Timestamp,
    /// The last ply of the game when it was analysed.
    #[schema(minimum = 0, example = 60)]
    ply: u32,
    /// The edition of the engine and its judgement.
    #[schema(minimum = 1, example = 1)]
    edition: u16,
    /// How well each player played. Sides as at the end of the game, like its `seats`.
    sides: JudgedSides,
    /// In the order of play, without takebacks. For practice, without the plies that were taken back.
    plies: Vec<JudgedPlyView>,
}

#[derive(Debug, Serialize, ToSchema)]
struct JudgedSides {
    south: JudgedSideView,
    north: JudgedSideView,
}

/// How well one player played.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = JudgedSide)]
struct JudgedSideView {
    #[schema(required = true)]
    player_id: Option<Uuid>,
    /// From 0 to 100: the mean of 100·exp(−loss/4 seeds) over the plies that were not forced; null if there were none.
    #[schema(required = true, minimum = 0, maximum = 100, example = 87.5)]
    accuracy: Option<f64>,
    /// The number of plies of each class.
    classes: ClassCounts,
}

#[derive(Debug, Serialize, ToSchema)]
struct ClassCounts {
    forced: usize,
    best: usize,
    good: usize,
    inaccuracy: usize,
    mistake: usize,
    blunder: usize,
}

/// The value of a ply.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = JudgedPly)]
struct JudgedPlyView {
    #[schema(minimum = 1, example = 12)]
    ply: u32,
    side: SideWord,
    #[serde(rename = "move")]
    #[schema(example = "C")]
    mv: String,
    /// The value of the position after it.
    value: ValueView,
    /// The value of the best move.
    best_value: ValueView,
    /// The best move and the best play after it, as far as it is known; empty if both players agreed to end the game.
    #[schema(example = json!(["D", "A", "f"]))]
    best_line: Vec<String>,
    /// The seeds that it lost for the player who moved.
    #[schema(minimum = 0, example = 2.5)]
    loss: f64,
    class: ClassWord,
}

/// The margin at the end of the game by best play, in seeds: South's seeds less North's. The sides are those of the position that is
/// judged; a swap changes the sign.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Value)]
pub(super) struct ValueView {
    #[schema(example = -3.25)]
    seeds: f64,
    /// Whether it is proven. If false, it is an estimate.
    is_exact: bool,
}

/// The class of a ply by its loss. Clients ignore values that they do not know.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = MoveClass)]
enum ClassWord {
    /// There was no other move, or both agreed to end the game.
    Forced,
    /// No move was better.
    Best,
    /// The move lost less than 2 seeds.
    Good,
    /// The move lost less than 4 seeds.
    Inaccuracy,
    /// The move lost less than 8 seeds.
    Mistake,
    /// The move lost 8 seeds or more.
    Blunder,
}

impl AnalysisView {
    fn of(game: &Game, analysis: &Analysis) -> Self {
        let accuracy = analysis.accuracy();
        let side = |side| {
            let seat = game.seat_at(side);
            let count = |class| analysis.count(seat, class);
            JudgedSideView {
                player_id: game.players()[seat].map(|player| player.0),
                accuracy: accuracy[seat].map(|accuracy| (accuracy * 100.0).round() / 100.0),
                classes: ClassCounts {
                    forced: count(Class::Forced),
                    best: count(Class::Best),
                    good: count(Class::Good),
                    inaccuracy: count(Class::Inaccuracy),
                    mistake: count(Class::Mistake),
                    blunder: count(Class::Blunder),
                },
            }
        };
        Self {
            analysed_at: Timestamp(analysis.at),
            ply: analysis.ply,
            edition: analysis.edition,
            sides: JudgedSides { south: side(Side::South), north: side(Side::North) },
            plies: analysis.plies.iter().map(JudgedPlyView::of).collect(),
        }
    }
}

impl JudgedPlyView {
    fn of(ply: &JudgedPly) -> Self {
        Self {
            ply: ply.number,
            side: ply.side.into(),
            mv: ply.mv.to_string(),
            value: ValueView::of(ply.value),
            best_value: ValueView::of(ply.best),
            best_line: ply.line.iter().map(ToString::to_string).collect(),
            loss: seeds(ply.loss),
            class: match ply.class {
                Class::Forced => ClassWord::Forced,
                Class::Best => ClassWord::Best,
                Class::Good => ClassWord::Good,
                Class::Inaccuracy => ClassWord::Inaccuracy,
                Class::Mistake => ClassWord::Mistake,
                Class::Blunder => ClassWord::Blunder,
            },
        }
    }
}

impl ValueView {
    pub(super) fn of(value: Value) -> Self {
        Self { seeds: seeds(value.points), is_exact: value.is_exact }
    }
}

pub(super) fn seeds(points: i32) -> f64 {
    f64::from(points) / f64::from(POINTS_PER_SEED)
}
