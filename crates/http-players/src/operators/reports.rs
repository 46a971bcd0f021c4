//! Reports of players, for operators: listed and closed.

use std::future::{Ready, ready};

use actix_web::{FromRequest, HttpRequest, HttpResponse, dev::Payload, get, http::header, post, web::Data};
use mancala_db::{
    Reads, games,
    operators::{
        Finding,
        acts::{self, Acted, Reading},
    },
    players::reports::{self, Report, Which},
};
use mancala_domain::{PlayerId, Remark};
use mancala_http::{
    answer::{
        code::Code,
        failures::{Failures, Forbidden, NotFound},
        page::{next_link, page_size, place_after, take_page},
        problem::Problem,
    },
    request::{
        body::MEDIUM_BODY,
        extract::{Body, NoQuery, Query, some_text, word},
    },
    state::{
        AppState,
        heavy::{HeavyClass, Turns},
    },
};
use mancala_process::clock::now;
use mancala_wire::view::exported_game::ExportedGame;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::{access::Operator, acts::ActView};
use crate::players::reports::{ReportView, ReportedPlayer};

/// List reports
///
/// Open reports, the oldest first, unless `status` or `player_id` asks for others: these come newest first.
#[utoipa::path(
    tag = "operators",
    operation_id = "list_reports",
    params(ListReports),
    responses((status = 200, description = "A page of reports", body = ReportPage,
        headers(("Link" = String, description = "The address of the next page, if there is one")))),
    security(("operator" = []))
)]
#[get("/operator/reports")]
pub async fn list_reports(
    state: Data<AppState>,
    _: Operator,
    query: Query<ListReports>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let ListReports { status, player_id, limit, cursor } = query.0;
    let limit = page_size(limit)?;
    let which = match (player_id, status) {
        (Some(_), Some(_)) => return Err(Problem::invalid("?status", "not together with `player_id`")),
        (Some(player), None) => Which::About(PlayerId(player)),
        (None, Some(ReportStatus::Closed)) => Which::Closed,
        (None, Some(ReportStatus::Open) | None) => Which::Open,
    };
    // The list's name has the order, so that a cursor of another order is refused.
    let order = if which == Which::Open { "as they came" } else { "last first" };
    // Cursors are bound to the words: they never change.
    let word = match which {
        Which::Open => "Open".to_owned(),
        Which::Closed => "Closed".to_owned(),
        Which::About(PlayerId(player)) => format!("About(PlayerId({player}))"),
    };
    let list = format!("operator reports {word} {order}");
    let behind = place_after(&state.cursors, cursor.as_deref(), &list)?;
    let mut found = reports::list(&state.db, which, behind, limit + 1).await?;
    let last = take_page(&mut found, limit);
    let next_cursor = last.map(|report| state.cursors.seal(&report.id.to_string(), &list));
    let mut response = HttpResponse::Ok();
    if let Some(cursor) = &next_cursor {
        response.insert_header(next_link("/v1/operator/reports", request.query_string(), cursor));
    }
    let items = found.iter().map(OperatorReportView::of).collect();
    Ok(response.insert_header((header::CACHE_CONTROL, "no-store")).json(ReportPage { items, next_cursor }))
}

/// Read the game that a report names
///
/// With its moves, also if it is private, for as long as the report is open. The log of acts has each reading, as `read_game`.
///
/// - `forbidden`: the report is closed
/// - `not_found`: there is no such report, or it names no game that there is
#[utoipa::path(
    tag = "operators",
    operation_id = "get_reported_game",
    params(("report_id" = Uuid, Path, description = "The report's id")),
    responses(
        (status = 200, description = "The game, as it is now", body = ExportedGame),
        Failures<(Forbidden, NotFound)>,
    ),
    security(("operator" = []))
)]
#[get("/operator/reports/{report_id}/game")]
pub async fn get_reported_game(
    state: Data<AppState>,
    operator: Operator,
    path: ReportPath,
    _: Query<NoQuery>,
) -> Result<HttpResponse, Problem> {
    let game = match acts::read_game(&state.db, &operator.0, path.0, now()).await? {
        Reading::Allowed(game) => game,
        Reading::Unknown => return Err(no_report()),
        Reading::NoGame => return Err(Problem::not_found("the report names no game")),
        Reading::Closed => return Err(Problem::new(Code::Forbidden, "the report is closed")),
    };
    let read = move |reads: Reads| async move {
        let found = reads.run(|db| async move { games::find(&db, game).await }).await?;
        let seated = &found.ok_or_else(|| Problem::not_found("the game was deleted"))?;
        let plies = reads.run(|db| async move { games::plies(&db, &seated.game, 0, seated.game.ply()).await }).await?;
        Ok(ExportedGame::of(seated, &plies, None))
    };
    let exported = state.heavy.run(HeavyClass::Export, Turns::default(), read).await?;
    Ok(HttpResponse::Ok().insert_header((header::CACHE_CONTROL, "no-store")).json(exported))
}

/// Close a report
///
/// The body says what was found. The report stays, and its reporter sees that it is closed.
///
/// - `forbidden`: the report is closed already
#[utoipa::path(
    tag = "operators",
    operation_id = "close_report",
    params(("report_id" = Uuid, Path, description = "The report's id")),
    request_body(content = CloseReport, example = json!({"finding": "upheld", "remark": "Warned."})),
    responses(
        (status = 201, description = "The act", body = ActView),
        Failures<(Forbidden, NotFound)>,
    ),
    security(("operator" = []))
)]
#[post("/operator/reports/{report_id}/close")]
pub async fn close_report(
    state: Data<AppState>,
    operator: Operator,
    path: ReportPath,
    _: Query<NoQuery>,
    body: Body<CloseReport, MEDIUM_BODY>,
) -> Result<HttpResponse, Problem> {
    let remark = body.0.remark.map(|remark| remark.parse::<Remark>()).transpose();
    let remark = remark.map_err(|error| Problem::invalid("/remark", error.to_string()))?;
    let finding = match body.0.finding {
        FindingWord::Upheld => Finding::Upheld,
        FindingWord::Rejected => Finding::Rejected,
    };
    match acts::close_report(&state.db, &operator.0, path.0, finding, remark.as_ref(), now()).await? {
        Acted::Done(act, _) => {
            Ok(HttpResponse::Created().insert_header((header::CACHE_CONTROL, "no-store")).json(ActView::of(&act)))
        }
        Acted::Unknown => Err(no_report()),
        Acted::Nothing | Acted::NoPerson | Acted::NameTaken => {
            Err(Problem::new(Code::Forbidden, "the report is closed already"))
        }
    }
}

/// The report that the path names. A value that is no UUID is 404.
#[derive(Clone, Copy, Debug)]
pub struct ReportPath(Uuid);

impl FromRequest for ReportPath {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let id = request.match_info().get("report_id").and_then(|id| Uuid::try_parse(id).ok());
        ready(id.map(Self).ok_or_else(no_report))
    }
}

fn no_report() -> Problem {
    Problem::not_found("there is no such report")
}

/// Which page.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListReports {
    #[param(inline)]
    status: Option<ReportStatus>,
    /// Reports about this player, open and closed.
    player_id: Option<Uuid>,
    /// How many at most.
    #[param(minimum = 1, maximum = 100, default = 20)]
    limit: Option<u32>,
    /// Where to go on: `next_cursor` of the page before.
    #[param(min_length = 1)]
    cursor: Option<String>,
}

/// Whether reports are open.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum ReportStatus {
    Open,
    Closed,
}

/// What was found about a report.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CloseReport {
    #[serde(deserialize_with = "word")]
    #[schema(inline)]
    finding: FindingWord,
    /// For other operators.
    #[serde(default, deserialize_with = "some_text")]
    #[schema(nullable = false, min_length = 1, max_length = 1000)]
    remark: Option<String>,
}

/// `upheld`: the report is right. `rejected`: the report is wrong, or calls for no action.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum FindingWord {
    Upheld,
    Rejected,
}

/// A report, as operators see it.
#[derive(Serialize, ToSchema)]
#[schema(as = OperatorReport)]
pub(super) struct OperatorReportView {
    #[serde(flatten)]
    report: ReportView,
    reporter: ReportedPlayer,
    /// `upheld` or `rejected`; null while it is open.
    #[schema(required = true)]
    finding: Option<String>,
    #[schema(required = true)]
    remark: Option<String>,
}

impl OperatorReportView {
    pub(super) fn of(report: &Report) -> Self {
        Self {
            report: ReportView::of(report),
            reporter: ReportedPlayer::of(&report.reporter),
            finding: report.finding.clone(),
            remark: report.remark.clone(),
        }
    }
}

/// A page of reports.
#[derive(Serialize, ToSchema)]
#[schema(as = OperatorReportPage)]
struct ReportPage {
    items: Vec<OperatorReportView>,
    /// The `cursor` of the next page; null on the last page.
    #[schema(required = true)]
    next_cursor: Option<String>,
}
