//! The log of operators' acts.

use actix_web::{HttpRequest, HttpResponse, get, http::header, web::Data};
use mancala_db::operators::{self, Act};
use mancala_domain::PlayerId;
use mancala_http::{
    answer::{
        page::{next_link, page_size, place_after, take_page},
        problem::Problem,
    },
    request::extract::Query,
    state::AppState,
};
use mancala_wire::view::wire::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::access::Operator;

/// List what operators did
///
/// The last act first. Acts are only added. When a player is erased, its acts keep the operator, the time and the kind.
#[utoipa::path(
    tag = "operators",
    operation_id = "list_operator_acts",
    params(ListActs),
    responses((status = 200, description = "A page of acts", body = ActPage,
        headers(("Link" = String, description = "The address of the next page, if there is one")))),
    security(("operator" = []))
)]
#[get("/operator/acts")]
pub async fn list_operator_acts(
    state: Data<AppState>,
    _: Operator,
    query: Query<ListActs>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let ListActs { player_id, limit, cursor } = query.0;
    let limit = page_size(limit)?;
    let of_player = player_id.map_or_else(|| "None".to_owned(), |player| format!("Some({player})"));
    let list = format!("operator acts {of_player}");
    let before = place_after(&state.cursors, cursor.as_deref(), &list)?;
    let mut found = operators::list_acts(&state.db, player_id.map(PlayerId), before, limit + 1).await?;
    let last = take_page(&mut found, limit);
    let next_cursor = last.map(|act| state.cursors.seal(&act.id.to_string(), &list));
    let mut response = HttpResponse::Ok();
    if let Some(cursor) = &next_cursor {
        response.insert_header(next_link("/v1/operator/acts", request.query_string(), cursor));
    }
    let items = found.iter().map(ActView::of).collect();
    Ok(response.insert_header((header::CACHE_CONTROL, "no-store")).json(ActPage { items, next_cursor }))
}

/// Which page.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListActs {
    /// Only acts on this player.
    player_id: Option<Uuid>,
    /// How many at most.
    #[param(minimum = 1, maximum = 100, default = 20)]
    limit: Option<u32>,
    /// Where to go on: `next_cursor` of the page before.
    #[param(min_length = 1)]
    cursor: Option<String>,
}

/// What an operator did.
#[derive(Serialize, ToSchema)]
#[schema(as = OperatorAct)]
pub(super) struct ActView {
    id: Uuid,
    /// The operator's name.
    #[schema(example = "kim")]
    operator: String,
    /// What was done.
    #[serde(rename = "type")]
    #[schema(example = "warn")]
    act: String,
    at: Timestamp,
    /// Null if it was done to no player, and once the player is erased.
    #[schema(required = true)]
    player_id: Option<Uuid>,
    /// The report that was closed, or whose game was read.
    #[schema(required = true)]
    report_id: Option<Uuid>,
    #[schema(required = true)]
    reason: Option<String>,
    /// What was changed, as it was before.
    #[schema(required = true)]
    before: Option<Changed>,
    /// The same after the act.
    #[schema(required = true)]
    after: Option<Changed>,
}

/// What an act changes.
#[derive(Default, Deserialize, Serialize, ToSchema)]
#[schema(as = OperatorChange)]
struct Changed {
    /// The player's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    name: Option<String>,
    /// Whether the player is banned.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    is_banned: Option<bool>,
    /// The end of a suspension, in RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    suspended_until: Option<String>,
    /// What becomes of a suspended player's games that have begun: `play_on`, `stop` or `end`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    games: Option<String>,
    /// The reason of the suspension.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    reason: Option<String>,
    /// The operator whose key it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    operator: Option<String>,
    /// How many times the list of refused names was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 1)]
    revision: Option<i64>,
    /// How many words it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 0)]
    entries: Option<u64>,
    /// What was found about a report.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    finding: Option<String>,
    /// The game that was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    game_id: Option<Uuid>,
}

impl ActView {
    pub(super) fn of(act: &Act) -> Self {
        let changed = |value: &Option<serde_json::Value>| {
            value.as_ref().map(|value| serde_json::from_value(value.clone()).unwrap_or_default())
        };
        Self {
            id: act.id,
            operator: act.operator.clone(),
            act: act.act.clone(),
            at: Timestamp(act.at),
            player_id: act.player.map(|player| player.0),
            report_id: act.report,
            reason: act.reason.clone(),
            before: changed(&act.before),
            after: changed(&act.after),
        }
    }
}

/// A page of acts.
#[derive(Serialize, ToSchema)]
#[schema(as = OperatorActPage)]
struct ActPage {
    items: Vec<ActView>,
    /// The `cursor` of the next page; null on the last page.
    #[schema(required = true)]
    next_cursor: Option<String>,
}
