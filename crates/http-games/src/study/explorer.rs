//! The explorer: the moves of public games with a result in one position, and their outcomes. Knows no index: see
//! `db::study::explorer`.

use std::collections::BTreeMap;

use actix_web::{
    HttpRequest, HttpResponse, get,
    http::header::{self, ContentType},
    web::Data,
};
use mancala_db::{
    DbError,
    study::explorer::{self, MoveStats, Origin, PositionStats},
};
use mancala_domain::PositionKey;
use mancala_http::{
    answer::{
        headers::{KEPT_FOR_A_MINUTE, digest_tag},
        problem::Problem,
    },
    layers::limits,
    request::{auth::Reader, conditional::IfNoneMatch, extract::Query},
    state::{AppState, shared_answers::Explored},
};
use mancala_rules::{AnyPosition, Move};
use mancala_wire::view::{
    options::OptionValueView,
    wire::{ALWAYS_JSON, Timestamp},
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::variants::{
    catalog::{chosen_variant, standard, written_options},
    line,
};

/// Plies whose reading costs as much as a call.
const PLIES_PER_CALL: u32 = 100;

/// Explore a position
///
/// The moves that public games with a result played in a position, or in the opening, by any order of moves before it. Each move has
/// the number of its games, their outcomes, and some of the games. Every legal move is listed, those of most games first. A game counts
/// some seconds after its end. Games against oneself and of fewer than 6 plies do not count, nor those that ended by resignation,
/// agreement or time before their 20th ply. Imported games are left out unless `imported=true` requests them alone.
#[utoipa::path(
    tag = "games",
    operation_id = "get_explorer",
    params(
        ExplorePosition,
        ("If-None-Match" = Option<String>, Header, description = "The `ETag` of the answer that the client has"),
    ),
    responses(
        (status = 200, description = "The moves in the position", body = ExploredPosition,
            headers(("ETag" = String, description = "A digest of the answer"))),
        (status = 304, description = "The client's answer is current",
            headers(("ETag" = String, description = "As the client sent it"))),
    ),
    security((), ("bearer" = []))
)]
#[get("/explorer")]
pub async fn get_explorer(
    state: Data<AppState>,
    _: Reader,
    query: Query<ExplorePosition>,
    if_none_match: IfNoneMatch,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let ExplorePosition { variant, preset, options, position, imported } = query.0;
    let variant = chosen_variant("?variant", &variant)?;
    let options = written_options(variant, &preset, options.as_deref().unwrap_or_default())?;
    let position = line::start(&options, position.as_deref(), "?position")?;
    let explored = read(&state, position, imported).await?;
    // The moves of a rare position are read from the logs of its games, which may be long.
    limits::count_more(&request, explored.plies_read / PLIES_PER_CALL)?;
    let Explored { etag, json, .. } = explored;
    let has = if_none_match.has(&etag);
    let mut response = if has { HttpResponse::NotModified() } else { HttpResponse::Ok() };
    response.insert_header((header::ETAG, etag)).insert_header(KEPT_FOR_A_MINUTE);
    Ok(if has { response.finish() } else { response.content_type(ContentType::json()).body(json) })
}

/// Reads the counts of a position, or shares the read of other requests for it.
async fn read(state: &AppState, position: AnyPosition, imported: bool) -> Result<Explored, DbError> {
    let origin = if imported { Origin::Imported } else { Origin::Here };
    let explored = async || {
        let key = PositionKey::from(&position);
        let stats = state.reads.run(|db| async move { explorer::find(&db, key, origin).await }).await?;
        let json = serde_json::to_vec(&ExploredPosition::of(&position, key, &stats)).expect(ALWAYS_JSON);
        Ok(Explored { etag: digest_tag(&json), json: json.into(), plies_read: stats.plies_read })
    };
    state.explored.run((position.clone(), imported), explored).await
}

/// Which position to explore.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ExplorePosition {
    /// The variant's name.
    #[param(example = "kalah")]
    variant: String,
    /// A preset of the variant.
    #[serde(default = "standard")]
    #[param(required = false, default = "standard", example = "standard")]
    preset: String,
    /// Options that differ from the preset, as in text records, such as `seeds=5;pie=true`.
    #[param(max_length = 500)]
    options: Option<String>,
    /// The position, in text notation, such as `4,4,0,5,5,5/4,4,4,4,4,4 1-0 S e 1 1S`; the opening unless given.
    position: Option<String>,
    /// `true`: games that were played elsewhere and imported. `false`: games that were played here.
    #[serde(default)]
    #[param(required = false, default = false)]
    imported: bool,
}

/// The moves of games in a position.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExploredPosition {
    #[schema(example = "kalah")]
    variant: String,
    /// The options. Games of every preset with these options count.
    options: BTreeMap<&'static str, OptionValueView>,
    /// In text notation. If the rules end the game in the requested `position`, this is the position after that end.
    #[schema(example = "4,4,4,4,4,4/4,4,4,4,4,4 0-0 S - 0 1S")]
    position: String,
    /// Identifies the position and its options, in 16 hexadecimal digits. It never changes.
    #[schema(min_length = 16, max_length = 16, example = "100ca454399fa86a")]
    key: String,
    /// The number of games that reached it, each counted once.
    #[schema(minimum = 0)]
    games: u64,
    /// How many of the games ended there: by the rules, by resignation, on time, or by agreement.
    #[schema(minimum = 0)]
    ended: u64,
    /// Every legal move: those of most games first, then in the order of legal moves.
    moves: Vec<ExploredMove>,
}

/// The outcomes of a move.
#[derive(Debug, Serialize, ToSchema)]
struct ExploredMove {
    #[serde(rename = "move")]
    #[schema(example = "C")]
    word: String,
    /// The number of games in which it was played there, each counted once.
    #[schema(minimum = 0)]
    games: u64,
    /// How many of the games South won.
    #[schema(minimum = 0)]
    south: u64,
    /// How many of the games were drawn.
    #[schema(minimum = 0)]
    draws: u64,
    /// How many of the games North won.
    #[schema(minimum = 0)]
    north: u64,
    /// The average lead of South's store over North's at the end, in seeds, rounded to hundredths. Only games that were played
    /// to their end count. Null if there is none.
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
    fn of(position: &AnyPosition, key: PositionKey, stats: &PositionStats) -> Self {
        let options = position.options();
        // An agreed end needs both players, so it is no legal move. A move that cannot be played is of another position with this key.
        let agreed = stats.moves.iter().map(|stats| stats.mv).filter(|mv| *mv == Move::Agree);
        let all = position.legal_moves().into_iter().chain(agreed);
        let mut moves: Vec<_> = all.filter_map(|mv| ExploredMove::of(position, mv, stats)).collect();
        moves.sort_by_key(|explored| std::cmp::Reverse(explored.games));
        Self {
            variant: options.variant().to_string(),
            options: options.values().into_iter().map(|(name, value)| (name, value.into())).collect(),
            position: position.to_string(),
            key: key.to_string(),
            games: stats.games,
            ended: stats.ended,
            moves,
        }
    }
}

impl ExploredMove {
    /// A move with its statistics; `None` if it cannot be played.
    fn of(position: &AnyPosition, mv: Move, stats: &PositionStats) -> Option<Self> {
        let (after, _) = position.play(mv).ok()?;
        let stats = stats.moves.iter().find(|stats| stats.mv == mv);
        let count = |of: fn(&MoveStats) -> u64| stats.map_or(0, of);
        Some(Self {
            word: mv.to_string(),
            games: count(|stats| stats.games),
            south: count(|stats| stats.south_wins),
            draws: count(|stats| stats.games.saturating_sub(stats.south_wins + stats.north_wins)),
            north: count(|stats| stats.north_wins),
            average_margin: stats.and_then(|stats| stats.average_lead).map(|lead| (lead * 100.0).round() / 100.0),
            last_played_at: stats.map(|stats| Timestamp(stats.last_played_at)),
            position: after.to_string(),
            sample_game_ids: stats.into_iter().flat_map(|stats| &stats.sample).map(|game| game.0).collect(),
        })
    }
}
