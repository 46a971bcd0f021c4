//! The explorer: what was played in a position, in all public games that ended with a result, and what came of it.

use std::collections::BTreeMap;

use actix_web::{
    HttpResponse, get,
    http::header::{self, ContentType},
    web::Data,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::{
    db::study::explorer::{self, MoveStats, PositionStats},
    domain::PositionKey,
    http::{
        answer::{
            headers::{KEPT_FOR_A_MINUTE, digest_tag},
            problem::Problem,
        },
        request::{
            auth::Reader,
            extract::{IfNoneMatch, Query},
        },
        state::AppState,
        variants::{
            catalog::{standard, written_options},
            line,
        },
        view::{
            options::OptionValueView,
            wire::{ALWAYS_JSON, Timestamp},
        },
    },
    rules::{AnyPosition, Move, Variant},
};

/// Explore a position
///
/// What was played in a position, or in the opening, in all public games that ended with a result, whatever came before it: in how many games, what
/// came of them, and some of them. Every legal move is listed, those that were played most first. A game counts some seconds after it has ended.
#[utoipa::path(
    tag = "games",
    operation_id = "get_explorer",
    params(
        ExplorePosition,
        ("If-None-Match" = Option<String>, Header, description = "The `ETag` of the answer that the client has"),
    ),
    responses(
        (status = 200, description = "What was played there", body = ExploredPosition,
            headers(("ETag" = String, description = "A digest of the answer"))),
        (status = 304, description = "The client's answer is still the present one",
            headers(("ETag" = String, description = "As the client sent it"))),
    ),
    security((), ("bearer" = []))
)]
#[get("/explorer")]
pub async fn get_explorer(
    state: Data<AppState>,
    _: Reader,
    query: Query<ExplorePosition>,
    known: IfNoneMatch,
) -> Result<HttpResponse, Problem> {
    let ExplorePosition { variant, preset, options, position } = query.0;
    let variant: Variant = variant.parse().map_err(|_| Problem::invalid("?variant", "there is no such variant"))?;
    let options = written_options(variant, &preset, options.as_deref().unwrap_or_default())?;
    let position = line::start(&options, position.as_deref(), "?position")?;
    let key = PositionKey::from(&position);
    let explored = ExploredPosition::of(&position, key, &explorer::find(&state.db, key).await?);
    let body = serde_json::to_string(&explored).expect(ALWAYS_JSON);
    let etag = digest_tag(&body);
    let has = known.has(&etag);
    let mut response = if has { HttpResponse::NotModified() } else { HttpResponse::Ok() };
    response.insert_header((header::ETAG, etag)).insert_header(KEPT_FOR_A_MINUTE);
    Ok(if has { response.finish() } else { response.content_type(ContentType::json()).body(body) })
}

/// Which position to explore.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ExplorePosition {
    /// The game.
    #[param(example = "kalah")]
    variant: String,
    /// One of the variant's presets.
    #[serde(default = "standard")]
    #[param(required = false, default = "standard", example = "standard")]
    preset: String,
    /// Where the rules differ from the preset, as records write it.
    #[param(max_length = 500, example = "seeds=4")]
    options: Option<String>,
    /// The position, in text notation; the opening unless given.
    #[param(example = "4,4,0,5,5,5/4,4,4,4,4,4 1-0 S e 1 1S")]
    position: Option<String>,
}

/// What was played in a position.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExploredPosition {
    #[schema(example = "kalah")]
    variant: String,
    /// The rules. Games of every preset count that has these.
    options: BTreeMap<&'static str, OptionValueView>,
    /// In text notation. A `position` in which the rules end the game has been ended.
    #[schema(example = "4,4,4,4,4,4/4,4,4,4,4,4 0-0 S - 0 1S")]
    position: String,
    /// Stands for the position and its rules, in 16 hexadecimal digits: the same as long as the server is.
    #[schema(min_length = 16, max_length = 16, example = "100ca454399fa86a")]
    key: String,
    /// Games that came to it, each counted once.
    #[schema(minimum = 0)]
    games: u64,
    /// Those of them that ended there: by the rules, or because somebody gave up, ran out of time, or both agreed.
    #[schema(minimum = 0)]
    ended: u64,
    /// Every legal move: those that were played in most games first, then in the order of legal moves.
    moves: Vec<ExploredMove>,
}

/// What came of a move.
#[derive(Debug, Serialize, ToSchema)]
struct ExploredMove {
    #[serde(rename = "move")]
    #[schema(example = "C")]
    word: String,
    /// Games in which it was played there, each counted once.
    #[schema(minimum = 0)]
    games: u64,
    /// Those of them that South won.
    #[schema(minimum = 0)]
    south: u64,
    /// Those of them that nobody won.
    #[schema(minimum = 0)]
    draws: u64,
    /// Those of them that North won.
    #[schema(minimum = 0)]
    north: u64,
    /// By how many seeds South's store was ahead of North's in the end, on average, in hundredths; of those games that were played to
    /// their end. Null if none was.
    #[schema(required = true, example = 3.25)]
    average_margin: Option<f64>,
    /// When it was last played there; null if it never was.
    #[schema(required = true)]
    last_played_at: Option<Timestamp>,
    /// The position after it, in text notation.
    #[schema(example = "4,4,0,5,5,5/4,4,4,4,4,4 1-0 S e 1 1S")]
    position: String,
    /// The newest of the games.
    #[schema(max_items = 4)]
    sample_game_ids: Vec<Uuid>,
}

impl ExploredPosition {
    fn of(position: &AnyPosition, key: PositionKey, known: &PositionStats) -> Self {
        let options = position.options();
        // An agreed end is no legal move, as it takes both. A move that cannot be played at all is one of another position with this key.
        let agreed = known.moves.iter().map(|known| known.mv).filter(|mv| *mv == Move::Agree);
        let all = position.legal_moves().into_iter().chain(agreed);
        let mut moves: Vec<_> = all.filter_map(|mv| ExploredMove::of(position, mv, known)).collect();
        moves.sort_by_key(|explored| std::cmp::Reverse(explored.games));
        Self {
            variant: options.variant().to_string(),
            options: options.values().into_iter().map(|(name, value)| (name, value.into())).collect(),
            position: position.to_string(),
            key: key.to_string(),
            games: known.games,
            ended: known.ended,
            moves,
        }
    }
}

impl ExploredMove {
    /// A move with what is known of it; `None` if it cannot be played.
    fn of(position: &AnyPosition, mv: Move, known: &PositionStats) -> Option<Self> {
        let (after, _) = position.play(mv).ok()?;
        let known = known.moves.iter().find(|known| known.mv == mv);
        let count = |of: fn(&MoveStats) -> u64| known.map_or(0, of);
        Some(Self {
            word: mv.to_string(),
            games: count(|known| known.games),
            south: count(|known| known.south_wins),
            draws: count(|known| known.games.saturating_sub(known.south_wins + known.north_wins)),
            north: count(|known| known.north_wins),
            average_margin: known.and_then(|known| known.average_lead).map(|lead| (lead * 100.0).round() / 100.0),
            last_played_at: known.map(|known| Timestamp(known.last_played_at)),
            position: after.to_string(),
            sample_game_ids: known.into_iter().flat_map(|known| &known.sample).map(|game| game.0).collect(),
        })
    }
}
