//! Analyses of games: asked for, waited for, read.

use actix_web::{
    HttpResponse, HttpResponseBuilder, get,
    http::header::{self, ContentType, HeaderName},
    post,
    web::Data,
};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::{
    clock::now,
    db::study::analyses::{self, AnalysisState, Progress, RequestOutcome, WAITING_MAX},
    domain::{Analysis, Class, Game, JudgedPly, PLIES_ANALYSED_MAX, POINTS_PER_SEED, Value, Visibility},
    http::{
        answer::{
            headers::{KEPT_FOR_MINUTES, NOT_KEPT, VARIES, digest_tag},
            problem::{Code, Problem},
        },
        games::{create::is_contested, find::find_visible},
        request::{
            auth::Reader,
            extract::{GamePath, IfNoneMatch, NoQuery, Nothing, OptionalBody, Query},
        },
        state::{AppState, tokens::Caller},
        view::wire::{ALWAYS_JSON, SideWord, Timestamp},
    },
    rules::Side,
};

/// How long a client waits until it asks again how far an analysis is, in seconds.
const ASK_AGAIN_S: u64 = 2;

/// How long a client waits that finds the queue full, in seconds: several games' work.
const FULL_FOR_S: u64 = 60;

/// Ask for a game's analysis
///
/// Every ply is judged by the engine: what it was worth, what was best, how much it lost. That takes some seconds, and players are served
/// in turn: the answer says where to see how far it is; the game's events say when it is there (`analysed`). Nobody is helped while they
/// play: a running game is refused, unless one person plays both sides. What is there already, or asked for, is not made twice.
#[utoipa::path(
    tag = "records",
    operation_id = "analyse_game",
    params(("id" = Uuid, Path, description = "The game's id")),
    responses(
        (status = 202, description = "It is asked for", body = AnalysisStatus,
            headers(("Location" = String, description = "Where to see how far it is"),
                ("Retry-After" = u64, description = "After how many seconds to look"))),
        (status = 200, description = "It is there", body = AnalysisStatus),
        (status = 404, description = "`not_found`"),
        (status = 409, description = "`game_not_over`, `too_many_analyses`"),
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
        let detail =
            "nobody is helped while they play: games are analysed that are over, or that the caller plays alone";
        return Err(Problem::new(Code::GameNotOver, detail));
    }
    let known = analyses::find(&state.db, game.id()).await?;
    if known.analysis.as_ref().is_some_and(|analysis| analysis.is_up_to_date(game)) {
        return Ok(answer(HttpResponse::Ok(), &AnalysisStatus::of(game, &known)));
    }
    match analyses::request(&state.db, game, caller.player, now()).await? {
        RequestOutcome::Queued => {}
        RequestOutcome::TooMany => {
            let detail =
                format!("a player waits for {WAITING_MAX} analyses at most: ask again when one of them is there");
            return Err(Problem::new(Code::TooManyAnalyses, detail));
        }
        RequestOutcome::Full => {
            return Err(Problem::busy("too many analyses are waited for; try again later").retry_after(FULL_FOR_S));
        }
        RequestOutcome::NoPlayer => return Err(Problem::new(Code::InvalidToken, "the player is deleted")),
    }
    let mut response = HttpResponse::Accepted();
    response.insert_header((header::LOCATION, format!("/v1/games/{}/analysis", game.id().0)));
    response.insert_header((header::RETRY_AFTER, ASK_AGAIN_S));
    Ok(answer(response, &AnalysisStatus::of(game, &analyses::find(&state.db, game.id()).await?)))
}

/// Get a game's analysis
///
/// Or how far it is. Of a game of more than 2,000 plies, the last of them are judged.
#[utoipa::path(
    tag = "records",
    operation_id = "get_analysis",
    params(
        ("id" = Uuid, Path, description = "The game's id"),
        ("If-None-Match" = Option<String>, Header, description = "The `ETag` of the answer that the client has"),
    ),
    responses(
        (status = 200, description = "The analysis, or how far it is", body = AnalysisStatus, headers(
            ("ETag" = String, description = "A digest of the answer"),
            ("Retry-After" = Option<u64>, description = "After how many seconds to look again, until it is there"))),
        (status = 304, description = "The client's answer is still the present one",
            headers(("ETag" = String, description = "As the client sent it"))),
        (status = 404, description = "`not_found`: no such game, or nobody has asked for its analysis"),
    ),
    security((), ("bearer" = []))
)]
#[get("/games/{id}/analysis")]
pub async fn get_analysis(
    state: Data<AppState>,
    reader: Reader,
    path: GamePath,
    known: IfNoneMatch,
    _: Query<NoQuery>,
) -> Result<HttpResponse, Problem> {
    let found = find_visible(&state, path.0, reader.0).await?;
    let game = &found.seated.game;
    let status = AnalysisStatus::of(game, &analyses::find(&state.db, game.id()).await?);
    if status.analysis.is_none() && status.status == StatusWord::Done {
        return Err(Problem::not_found("nobody has asked for the analysis of this game"));
    }
    let json = serde_json::to_string(&status).expect(ALWAYS_JSON);
    let etag = digest_tag(&json);
    let has = known.has(&etag);
    let mut response = if has { HttpResponse::NotModified() } else { HttpResponse::Ok() };
    response.insert_header((header::ETAG, etag)).insert_header(status.kept(game)).insert_header(VARIES);
    if matches!(status.status, StatusWord::Queued | StatusWord::Running) {
        response.insert_header((header::RETRY_AFTER, ASK_AGAIN_S));
    }
    Ok(if has { response.finish() } else { response.content_type(ContentType::json()).body(json) })
}

fn answer(mut response: HttpResponseBuilder, status: &AnalysisStatus) -> HttpResponse {
    response.insert_header(NOT_KEPT).insert_header(VARIES).json(status)
}

/// How far the analysis of a game is, and what it says.
#[derive(Debug, Serialize, ToSchema)]
struct AnalysisStatus {
    game_id: Uuid,
    status: StatusWord,
    /// How many analyses come before it.
    #[schema(minimum = 0, example = 0)]
    ahead: u32,
    /// How many plies are to be judged, and how many are.
    #[schema(minimum = 0, example = 60)]
    plies: u32,
    #[schema(minimum = 0, example = 60)]
    plies_done: u32,
    /// Null until it is there; while one is asked for anew, the one before.
    #[schema(required = true)]
    analysis: Option<AnalysisView>,
}

/// How far an analysis is. Clients ignore values that they do not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = AnalysisProgress)]
enum StatusWord {
    /// It waits for its turn.
    Queued,
    Running,
    /// It is there. A game that one person plays may have gone on since: `analysis.ply` says how far it goes.
    Done,
    /// The engine could not do it. It may be asked for again.
    Failed,
}

impl AnalysisStatus {
    fn of(game: &Game, known: &AnalysisState) -> Self {
        let analysis = known.analysis.as_ref().map(|analysis| AnalysisView::of(game, analysis));
        let judged = known.analysis.as_ref().map_or(0, |analysis| analysis.ply.min(PLIES_ANALYSED_MAX));
        let done = Self {
            game_id: game.id().0,
            status: StatusWord::Done,
            ahead: 0,
            plies: judged,
            plies_done: judged,
            analysis,
        };
        let Some(request) = &known.request else { return done };
        let status = match request.progress {
            // It is told of in a moment.
            _ if known.analysis.as_ref().is_some_and(|analysis| analysis.is_up_to_date(game)) => return done,
            Progress::Queued => StatusWord::Queued,
            Progress::Running => StatusWord::Running,
            Progress::Failed => StatusWord::Failed,
        };
        Self { status, ahead: request.ahead, plies: request.plies, plies_done: request.plies_done, ..done }
    }

    /// Of a game that is over it is always the same, until an engine comes that judges otherwise.
    fn kept(&self, game: &Game) -> (HeaderName, &'static str) {
        let is_public = game.terms().visibility == Visibility::Public;
        let is_last = self.status == StatusWord::Done && game.status().is_over();
        if is_public && is_last { KEPT_FOR_MINUTES } else { NOT_KEPT }
    }
}

/// What a game was worth, ply by ply.
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
    /// Who played how well. Sides as they are at the end, like the game's `seats`.
    sides: JudgedSides,
    /// In the order of play; plies that took others back are left out.
    plies: Vec<JudgedPlyView>,
}

#[derive(Debug, Serialize, ToSchema)]
struct JudgedSides {
    south: JudgedSideView,
    north: JudgedSideView,
}

/// How well somebody played.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = JudgedSide)]
struct JudgedSideView {
    #[schema(required = true)]
    player_id: Option<Uuid>,
    /// From 0 to 100: the mean of 100·exp(−loss/4 seeds) over the plies that were not forced; null if there were none.
    #[schema(required = true, minimum = 0, maximum = 100, example = 87.5)]
    accuracy: Option<f64>,
    /// How many plies are called what.
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

/// What a ply was worth.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = JudgedPly)]
struct JudgedPlyView {
    #[schema(minimum = 1, example = 12)]
    ply: u32,
    side: SideWord,
    #[serde(rename = "move")]
    #[schema(example = "C")]
    mv: String,
    /// What the position after it is worth.
    value: ValueView,
    /// What the best move was worth.
    best_value: ValueView,
    /// The best move, and what would follow by best play as far as it is known; empty where both agreed to end the game.
    #[schema(example = json!(["D", "A", "f"]))]
    best_line: Vec<String>,
    /// How many seeds it lost for whoever moved.
    #[schema(minimum = 0, example = 2.5)]
    loss: f64,
    class: ClassWord,
}

/// The margin at the end of the game by best play, in seeds: what South then has more than North. South and North are who sits there in
/// the position that it is about; a swap changes its sign.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Value)]
struct ValueView {
    #[schema(example = -3.25)]
    seeds: f64,
    /// Whether it is proven; otherwise it is an estimate.
    is_exact: bool,
}

/// What a ply is called by its loss. Clients ignore values that they do not know.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = MoveClass)]
enum ClassWord {
    /// There was no other move, or both agreed to end the game.
    Forced,
    /// No move was better.
    Best,
    /// It lost less than 2 seeds.
    Good,
    /// It lost less than 4 seeds.
    Inaccuracy,
    /// It lost less than 8 seeds.
    Mistake,
    /// It lost 8 seeds or more.
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
    fn of(value: Value) -> Self {
        Self { seeds: seeds(value.points), is_exact: value.is_exact }
    }
}

fn seeds(points: i32) -> f64 {
    f64::from(points) / f64::from(POINTS_PER_SEED)
}
