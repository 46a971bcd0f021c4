//! The public statistics of players.

use std::time::Duration;

use actix_web::{HttpResponse, get, web::Data};
use mancala_db::{
    kinds::OpponentKind,
    players::{
        self,
        stats::{self, Ending, Stats, VariantStats},
    },
};
use mancala_domain::PlayerId;
use mancala_http::{
    answer::{
        failures::{Failures, NotFound},
        headers::{NOT_KEPT, VARIES},
        problem::Problem,
    },
    request::extract::Query,
    state::{AppState, permits},
};
use mancala_http_games::games::list_query::OpponentFilter;
use serde::{Deserialize, Deserializer, Serialize, de::IntoDeserializer};
use tokio::sync::Semaphore;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::profiles::{PlayerPath, no_player};

/// The most players whose games a process counts at the same time. Players with many games keep the database busy, and moves
/// have priority.
static AT_ONCE: Semaphore = Semaphore::const_new(2);

/// How long a call waits for a permit: as long as for a database connection.
const TURN_TIMEOUT: Duration = Duration::from_secs(3);

/// The number of kinds of opponents.
const OPPONENT_TYPES_MAX: usize = 6;

/// Get a player's statistics
///
/// By variant, over the last 10,000 games that the player finished. Games of all visibilities count, as in the profile. Games against
/// oneself do not.
#[utoipa::path(
    tag = "players",
    operation_id = "get_player_stats",
    params(("player_id" = Uuid, Path, description = "The player's id"), GetPlayerStats),
    responses(
        (status = 200, description = "The statistics", body = StatsView),
        Failures<NotFound>,
    ),
    security((), ("bearer" = []))
)]
#[get("/players/{player_id}/stats")]
pub async fn get_player_stats(
    state: Data<AppState>,
    path: PlayerPath,
    query: Query<GetPlayerStats>,
) -> Result<HttpResponse, Problem> {
    let found = state.reads.run(|db| async move { players::find(&db, path.0).await }).await?;
    let player = found.ok_or_else(no_player)?.player.id;
    let opponents = query.0.opponent_type.map(|words| words.into_iter().map(OpponentKind::from).collect::<Vec<_>>());
    let _permit = permits::acquire(&AT_ONCE, TURN_TIMEOUT, "too many statistics are being computed; try again").await?;
    let opponents = opponents.as_deref();
    let stats = state.reads.run(|db| async move { stats::find(&db, player, opponents).await }).await?;
    Ok(HttpResponse::Ok().insert_header(NOT_KEPT).insert_header(VARIES).json(StatsView::of(player, &stats)))
}

/// Which games to count.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct GetPlayerStats {
    /// Only games whose second seat was for these kinds of opponents, separated by commas: `open,link,player` are people.
    #[serde(default, deserialize_with = "opponent_types")]
    #[param(value_type = Option<Vec<OpponentFilter>>, inline, style = Form, explode = false, min_items = 1, max_items = 6)]
    opponent_type: Option<Vec<OpponentFilter>>,
}

fn opponent_types<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<OpponentFilter>>, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.split(',').count() > OPPONENT_TYPES_MAX {
        return Err(serde::de::Error::custom(format!("1 to {OPPONENT_TYPES_MAX} types")));
    }
    text.split(',')
        .map(|word| OpponentFilter::deserialize(word.into_deserializer()))
        .collect::<Result<_, _>>()
        .map(Some)
}

/// The statistics of a player.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PlayerStats)]
pub struct StatsView {
    player_id: Uuid,
    /// Whether all finished games of the player are counted, and not just the last 10,000.
    is_complete: bool,
    /// The variants with at least one such game.
    variants: Vec<VariantStatsView>,
}

/// The statistics of a player in one variant.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = VariantStats)]
struct VariantStatsView {
    #[schema(example = "kalah")]
    variant: String,
    /// The games won, drawn and lost.
    #[schema(minimum = 0, example = 12)]
    games: u32,
    #[schema(minimum = 0, example = 7)]
    wins: u32,
    #[schema(minimum = 0, example = 1)]
    draws: u32,
    #[schema(minimum = 0, example = 4)]
    losses: u32,
    /// The average difference between the player's store and the opponent's at the end, in seeds, to two decimals. A draw is 0.
    /// Games that ended by `resignation` or `timeout`, or for an `unknown` reason, are left out; null if there are no others.
    #[schema(required = true, example = 4.25)]
    average_margin: Option<f64>,
    /// The streak that the last finished game belongs to.
    current_streak: StreakView,
    /// The most wins in a row.
    #[schema(minimum = 0, example = 5)]
    longest_winning_streak: u32,
}

/// Games in a row with the same result, up to the last finished one.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Streak)]
struct StreakView {
    result: EndingWord,
    #[schema(minimum = 1, example = 3)]
    length: u32,
}

/// How a game ended for the player.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Ending)]
enum EndingWord {
    Win,
    Draw,
    Loss,
}

impl From<Ending> for EndingWord {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Win => EndingWord::Win,
            Ending::Draw => EndingWord::Draw,
            Ending::Loss => EndingWord::Loss,
        }
    }
}

impl StatsView {
    fn of(player: PlayerId, stats: &Stats) -> Self {
        let variants = stats.variants.iter().map(VariantStatsView::of).collect();
        Self { player_id: player.0, is_complete: stats.is_complete, variants }
    }
}

impl VariantStatsView {
    fn of(stats: &VariantStats) -> Self {
        let (ending, length) = stats.current_streak;
        Self {
            variant: stats.variant.to_string(),
            games: stats.games,
            wins: stats.wins,
            draws: stats.draws,
            losses: stats.losses,
            average_margin: stats.average_margin,
            current_streak: StreakView { result: ending.into(), length },
            longest_winning_streak: stats.longest_winning_streak,
        }
    }
}
