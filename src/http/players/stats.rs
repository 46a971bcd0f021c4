//! How players have fared, in figures: what everybody may know.

use std::time::Duration;

use actix_web::{HttpResponse, get, web::Data};
use serde::{Deserialize, Deserializer, Serialize, de::IntoDeserializer};
use tokio::sync::Semaphore;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::profiles::{PlayerPath, no_player};
use crate::{
    db::{
        kinds::OpponentKind,
        players::{
            self,
            stats::{self, Ending, Stats, VariantStats},
        },
    },
    domain::PlayerId,
    http::{
        answer::{
            headers::{NOT_KEPT, VARIES},
            problem::Problem,
        },
        games::list::OpponentFilter,
        layers::permits,
        request::extract::Query,
        state::AppState,
    },
};

/// For how many players at once a process counts: those of many games keep the database busy, and moves come first.
static AT_ONCE: Semaphore = Semaphore::const_new(2);

/// How long a call waits for its turn: as long as for a connection to the database.
const TURN_TIMEOUT: Duration = Duration::from_secs(3);

/// As many kinds of opponents as there are.
const OPPONENT_TYPES_MAX: usize = 6;

/// Get how a player has fared
///
/// By variant, over the 10,000 games that the player finished last. Games of all visibilities count, as in the profile; those against
/// oneself do not.
#[utoipa::path(
    tag = "players",
    operation_id = "get_player_stats",
    params(("player_id" = Uuid, Path, description = "The player's id"), GetPlayerStats),
    responses(
        (status = 200, description = "The figures", body = StatsView),
        (status = 404, description = "`not_found`"),
    ),
    security((), ("bearer" = []))
)]
#[get("/players/{player_id}/stats")]
pub async fn get_player_stats(
    state: Data<AppState>,
    path: PlayerPath,
    query: Query<GetPlayerStats>,
) -> Result<HttpResponse, Problem> {
    let player = players::find(&state.db, path.0).await?.ok_or_else(no_player)?.player.id;
    let opponents = query.0.opponent_type.map(|words| words.into_iter().map(OpponentKind::from).collect::<Vec<_>>());
    let _permit = permits::acquire(&AT_ONCE, TURN_TIMEOUT, "others are being counted; try again").await?;
    let stats = stats::find(&state.db, player, opponents.as_deref()).await?;
    Ok(HttpResponse::Ok().insert_header(NOT_KEPT).insert_header(VARIES).json(StatsView::of(player, &stats)))
}

/// Which games to count.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct GetPlayerStats {
    /// Only games whose second seat was for such opponents, with commas in between: `open,link,player` are people.
    #[serde(default, deserialize_with = "opponent_types")]
    #[param(value_type = Option<Vec<OpponentFilter>>, inline, style = Form, explode = false, min_items = 1, max_items = 6,
        example = json!(["open", "link", "player"]))]
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

/// How a player has fared.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PlayerStats)]
pub struct StatsView {
    player_id: Uuid,
    /// Whether all finished games of the player were looked at, and not just the last 10,000.
    is_complete: bool,
    /// The variants of which games count.
    variants: Vec<VariantStatsView>,
}

/// How a player has fared in one variant.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = VariantStats)]
struct VariantStatsView {
    #[schema(example = "kalah")]
    variant: String,
    /// Those won, drawn and lost.
    #[schema(minimum = 0, example = 12)]
    games: u32,
    #[schema(minimum = 0, example = 7)]
    wins: u32,
    #[schema(minimum = 0, example = 1)]
    draws: u32,
    #[schema(minimum = 0, example = 4)]
    losses: u32,
    /// How many seeds more than the other's were in the own store at the end, on average, to two decimals. Games that ended by
    /// `resignation` or `timeout`, or for an `unknown` reason, are left out; null if there are no others. A draw is 0.
    #[schema(required = true, example = 4.25)]
    average_margin: Option<f64>,
    /// What the games that were finished last have in common.
    current_streak: StreakView,
    /// The most wins in a row.
    #[schema(minimum = 0, example = 5)]
    longest_winning_streak: u32,
}

/// Games in a row that ended alike, the last finished one among them.
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
