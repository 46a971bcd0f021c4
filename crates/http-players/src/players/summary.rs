//! The counts of what waits for the caller.

use std::hash::{DefaultHasher, Hash};

use actix_web::{HttpResponse, get, http::header, web::Data};
use mancala_db::players::summary::{self, Summary};
use mancala_http::{
    answer::{
        headers::{NOT_KEPT, VARIES, hash_tag},
        problem::Problem,
    },
    request::{
        conditional::IfNoneMatch,
        extract::{NoQuery, Query},
    },
    state::{AppState, tokens::Caller},
};
use mancala_wire::view::wire::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// Get what waits for the caller
///
/// For the number on an app's icon: how many games, invitations and offers wait. Cheap to ask again with `If-None-Match`.
#[utoipa::path(
    tag = "players",
    operation_id = "get_summary",
    params(("If-None-Match" = Option<String>, Header, description = "The `ETag` of the answer that the client has")),
    responses(
        (status = 200, description = "The numbers", body = SummaryView,
            headers(("ETag" = String, description = "A digest of just these numbers"))),
        (status = 304, description = "They are still the same"),
    ),
    security(("bearer" = []))
)]
#[get("/me/summary")]
pub async fn get_summary(
    state: Data<AppState>,
    caller: Caller,
    known: IfNoneMatch,
    _: Query<NoQuery>,
) -> Result<HttpResponse, Problem> {
    let summary = state.reads.run(|db| async move { summary::find(&db, caller.player).await }).await?;
    let mut hasher = DefaultHasher::new();
    summary.hash(&mut hasher);
    let etag = hash_tag(&hasher);
    let is_news = !known.has(&etag);
    let mut response = if is_news { HttpResponse::Ok() } else { HttpResponse::NotModified() };
    response.insert_header((header::ETAG, etag)).insert_header(NOT_KEPT).insert_header(VARIES);
    Ok(if is_news { response.json(SummaryView::of(summary)) } else { response.finish() })
}

/// What waits for the caller.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Summary)]
pub struct SummaryView {
    /// Active games in which the caller is to move.
    #[schema(minimum = 0)]
    to_move: i64,
    /// All active games of the caller.
    #[schema(minimum = 0)]
    active: i64,
    /// Games of the caller that wait for an opponent.
    #[schema(minimum = 0)]
    open: i64,
    /// Games to which the caller is invited by players that it does not mute; 1,000 stands for any larger number.
    #[schema(minimum = 0, maximum = 1000)]
    invitations: i64,
    /// Offers that wait for the caller's answer, but for those of players that it mutes. They are in active games, or
    /// of a rematch in the last 50 finished ones of each seat.
    #[schema(minimum = 0)]
    offers: i64,
    /// The ids of the games in which they wait, the newest 100.
    #[schema(max_items = 100)]
    offered_in: Vec<Uuid>,
    /// When the caller next runs out of time without a move.
    #[schema(required = true)]
    next_deadline: Option<Timestamp>,
}

impl SummaryView {
    fn of(summary: Summary) -> Self {
        let Summary { to_move, active, open, invitations, offers, offered_in, next_deadline } = summary;
        Self { to_move, active, open, invitations, offers, offered_in, next_deadline: next_deadline.map(Timestamp) }
    }
}
