//! Reports of players by players. What operators do with them is in `operators`.

use actix_web::{HttpRequest, HttpResponse, post, web::Data};
use mancala_db::players::{
    report_quotas::{ACCOUNT_REPORTS_KEPT, NETWORK_REPORTS_KEPT_MAX, NETWORK_REPORTS_MAX, REPORTS_MAX},
    reports::{self, Named, NewReport, Report, Reporting},
};
use mancala_domain::{GameId, PlayerId, Remark, ReportReason};
use mancala_http::{
    answer::{
        code::Code,
        failures::{Failures, Forbidden, NotFound},
        headers::{NOT_KEPT, VARIES},
        problem::Problem,
    },
    layers::{client_address::client_address, limits},
    request::{
        body::MEDIUM_BODY,
        extract::{Body, NoQuery, Query, some_text, word},
        player,
    },
    state::{AppState, tokens::Caller},
};
use mancala_http_games::games::find::find_visible;
use mancala_process::clock::now;
use mancala_wire::view::wire::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::profiles::{PlayerPath, no_player};

/// A report counts as five calls: it is a transaction with locks.
const MORE_CALLS: u32 = 4;

/// Report a player
///
/// Tells the operators of the server. The report keeps the names of both at this time, and of the game its id and its version.
/// So a new name and further moves hide nothing. The reported player is not notified. While the caller's report about the same
/// player and game is open, a repetition is answered with it, as it was stored first.
///
/// - `forbidden`: the caller itself, or neither a guest nor an account
#[utoipa::path(
    tag = "players",
    operation_id = "create_report",
    params(("player_id" = Uuid, Path, description = "The player's id")),
    request_body(content = CreateReport, example = json!({"reason": "name", "note": "The name is an insult."})),
    responses(
        (status = 201, description = "The report", body = ReportView),
        (status = 200, description = "The report that was open already", body = ReportView),
        Failures<(Forbidden, NotFound)>,
    ),
    security(("bearer" = []))
)]
#[post("/players/{player_id}/reports")]
pub async fn create_report(
    state: Data<AppState>,
    caller: Caller,
    path: PlayerPath,
    _: Query<NoQuery>,
    body: Body<CreateReport, MEDIUM_BODY>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let CreateReport { reason, note, game_id } = body.0;
    let note = note.map(|note| note.parse::<Remark>()).transpose();
    let note = note.map_err(|error| Problem::invalid("/note", error.to_string()))?;
    limits::count_more(&request, MORE_CALLS)?;
    player::find(&state, caller).await?;
    if path.0 == caller.player {
        return Err(Problem::new(Code::Forbidden, "players cannot report themselves"));
    }
    let game = match game_id {
        Some(id) => Some(find_evidence(&state, caller.player, path.0, id).await?),
        None => None,
    };
    let new = NewReport {
        id: Uuid::now_v7(),
        reporter: caller.player,
        reported: path.0,
        reason: reason.into(),
        note,
        game,
        network: state.networks.of(client_address(&request)),
        now: now(),
    };
    let (mut response, report) = match reports::insert(&state.db, &new).await? {
        Reporting::Stored(report) => (HttpResponse::Created(), report),
        Reporting::Open(report) => (HttpResponse::Ok(), report),
        Reporting::TooMany(until) => {
            let detail = format!(
                "a player makes at most {REPORTS_MAX} reports a day, and the players of a network {NETWORK_REPORTS_MAX}. Beyond these an \
                 account reports until it has made {ACCOUNT_REPORTS_KEPT}, and the network until it has made {NETWORK_REPORTS_KEPT_MAX}"
            );
            let seconds = (until - new.now).whole_seconds().max(0).unsigned_abs() + 1;
            return Err(Problem::new(Code::RateLimited, detail).retry_after(seconds));
        }
        Reporting::NoReporter => return Err(player::gone()),
        Reporting::NoPlayer => return Err(no_player()),
        Reporting::NoPerson => {
            return Err(Problem::new(Code::Forbidden, "only guests and accounts can be reported"));
        }
    };
    Ok(response.insert_header(NOT_KEPT).insert_header(VARIES).json(ReportView::of(&report)))
}

/// The game that a report names, and its version: one that the reporter may see, and in which the reported player sits.
async fn find_evidence(
    state: &AppState,
    reporter: PlayerId,
    reported: PlayerId,
    id: Uuid,
) -> Result<(GameId, u32), Problem> {
    let none = || Problem::invalid("/game_id", "the caller may see no such game in which the player sits");
    match find_visible(state, GameId(id), Some(reporter)).await {
        Ok(found) if found.seated.game.seats(reported) => Ok((found.seated.game.id(), found.seated.game.version())),
        Ok(_) => Err(none()),
        Err(problem) if problem.is_not_found() => Err(none()),
        Err(problem) => Err(problem),
    }
}

/// What is reported.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateReport {
    #[serde(deserialize_with = "word")]
    reason: ReportReasonWord,
    /// More about it, for the operators.
    #[serde(default, deserialize_with = "some_text")]
    #[schema(nullable = false, min_length = 1, max_length = 1000)]
    note: Option<String>,
    /// A game that shows it: one that the caller may see, and in which the player sits.
    #[serde(default, deserialize_with = "mancala_http::request::extract::some")]
    #[schema(nullable = false)]
    game_id: Option<Uuid>,
}

/// Why a player is reported: `cheating`, such as moves of a program; `harassment`, such as insults and threats; `name`,
/// one that offends or pretends to be another's; `stalling`, games that are held up on purpose; `spam`, such as
/// invitations without end; `other`, what the note says.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ReportReason)]
enum ReportReasonWord {
    Cheating,
    Harassment,
    Name,
    Stalling,
    Spam,
    Other,
}

impl From<ReportReasonWord> for ReportReason {
    fn from(word: ReportReasonWord) -> Self {
        match word {
            ReportReasonWord::Cheating => ReportReason::Cheating,
            ReportReasonWord::Harassment => ReportReason::Harassment,
            ReportReasonWord::Name => ReportReason::Name,
            ReportReasonWord::Stalling => ReportReason::Stalling,
            ReportReasonWord::Spam => ReportReason::Spam,
            ReportReasonWord::Other => ReportReason::Other,
        }
    }
}

/// A report, as its reporter sees it.
#[derive(Serialize, ToSchema)]
#[schema(as = Report)]
pub struct ReportView {
    id: Uuid,
    player: ReportedPlayer,
    /// Why.
    #[schema(value_type = String, example = "name")]
    reason: &'static str,
    #[schema(required = true)]
    note: Option<String>,
    #[schema(required = true)]
    game_id: Option<Uuid>,
    /// The version of the game at the time of the report.
    #[schema(required = true, minimum = 1)]
    game_version: Option<u32>,
    created_at: Timestamp,
    /// When the operators closed it; null while it is open.
    #[schema(required = true)]
    closed_at: Option<Timestamp>,
}

/// The player of a report.
#[derive(Serialize, ToSchema)]
pub struct ReportedPlayer {
    id: Uuid,
    /// The name at the time of the report.
    #[schema(example = "Bo")]
    name_then: String,
}

impl ReportedPlayer {
    pub fn of(player: &Named) -> Self {
        Self { id: player.id.0, name_then: player.name.clone() }
    }
}

impl ReportView {
    pub fn of(report: &Report) -> Self {
        Self {
            id: report.id,
            player: ReportedPlayer::of(&report.reported),
            reason: report.reason.as_str(),
            note: report.note.as_ref().map(ToString::to_string),
            game_id: report.game.map(|(game, _)| game.0),
            game_version: report.game.map(|(_, version)| version),
            created_at: Timestamp(report.created_at),
            closed_at: report.closed_at.map(Timestamp),
        }
    }
}
