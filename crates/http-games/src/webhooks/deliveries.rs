//! The log of a webhook's deliveries, tests, and redelivery. Knows no attempt: the jobs deliver.

use std::future::{Ready, ready};

use actix_web::{FromRequest, HttpRequest, HttpResponse, dev::Payload, get, post, web::Data};
use mancala_db::webhooks::{
    Webhook,
    deliveries::{self, Delivery},
};
use mancala_http::{
    answer::{
        code::Code,
        failures::{Failures, NotFound, WebhookDisabled, WebhookNotVerified},
        headers::{NOT_KEPT, VARIES},
        page::{next_link, page_size, place_after, take_page},
        problem::Problem,
    },
    app_caller::WebhookOwner,
    request::{
        extract::{NoQuery, Nothing, OptionalBody, Query},
        player,
    },
    state::AppState,
};
use mancala_process::clock::now;
use mancala_wire::view::wire::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::{
    endpoints::{WebhookPath, disabled, find},
    message::ping,
};

/// Send a test to a webhook
///
/// Queues a message of type `webhook.ping`. If one is still waiting, no other one is made, and that one is attempted now.
#[utoipa::path(
    tag = "webhooks",
    operation_id = "ping_webhook",
    params(("webhook_id" = Uuid, Path, description = "The webhook's id")),
    responses(
        (status = 202, description = "The delivery, which is queued", body = DeliveryView),
        Failures<(NotFound, WebhookDisabled, WebhookNotVerified)>,
    ),
    security(("bearer" = []), ("app_key" = []))
)]
#[post("/webhooks/{webhook_id}/ping")]
pub async fn ping_webhook(
    state: Data<AppState>,
    WebhookOwner(caller): WebhookOwner,
    path: WebhookPath,
    _: Query<NoQuery>,
    _: OptionalBody<Nothing>,
) -> Result<HttpResponse, Problem> {
    player::find(&state, caller).await?;
    let webhook = find(&state, caller, path).await?;
    check_verified(&webhook)?;
    let (id, now) = (Uuid::now_v7(), now());
    let made = deliveries::ping(&state.db, caller.player, webhook.id, id, &ping(webhook.id, now), now).await?;
    Ok(accepted(&made.ok_or_else(disabled)?))
}

/// List a webhook's deliveries
///
/// Newest first, each with its outcome: all that are still waiting, and those of the last seven days that have ended. Of these, a webhook
/// keeps at most 10,000, and that of an app 100,000.
#[utoipa::path(
    tag = "webhooks",
    operation_id = "list_webhook_deliveries",
    params(("webhook_id" = Uuid, Path, description = "The webhook's id"), ListDeliveries),
    responses(
        (status = 200, description = "A page of deliveries", body = DeliveryPage,
            headers(("Link" = String, description = "The address of the next page, if there is one"))),
        Failures<NotFound>,
    ),
    security(("bearer" = []), ("app_key" = []))
)]
#[get("/webhooks/{webhook_id}/deliveries")]
pub async fn list_webhook_deliveries(
    state: Data<AppState>,
    WebhookOwner(caller): WebhookOwner,
    path: WebhookPath,
    query: Query<ListDeliveries>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let limit = page_size(query.0.limit)?;
    let webhook = find(&state, caller, path).await?;
    let list = format!("deliveries {}", webhook.id);
    let before = place_after(&state.cursors, query.0.cursor.as_deref(), &list)?;
    let mut found = deliveries::list(&state.db, webhook.id, before, limit + 1).await?;
    let last = take_page(&mut found, limit).map(|delivery| delivery.id.to_string());
    let page = DeliveryPage {
        items: found.iter().map(DeliveryView::of).collect(),
        next_cursor: last.map(|last| state.cursors.seal(&last, &list)),
    };
    let mut response = HttpResponse::Ok();
    response.insert_header(NOT_KEPT).insert_header(VARIES);
    if let Some(cursor) = &page.next_cursor {
        response.insert_header(next_link(request.path(), request.query_string(), cursor));
    }
    Ok(response.json(page))
}

/// Redeliver a message to a webhook
///
/// A delivered or failed message is sent again, with the same `webhook-id`, and without waiting for other messages of its game. A waiting
/// message is attempted now; if an earlier message of its game is waiting, that one is attempted.
#[utoipa::path(
    tag = "webhooks",
    operation_id = "redeliver_webhook",
    params(
        ("webhook_id" = Uuid, Path, description = "The webhook's id"),
        ("delivery_id" = Uuid, Path, description = "The delivery's id"),
    ),
    responses(
        (status = 202, description = "The delivery, which is queued", body = DeliveryView),
        Failures<(NotFound, WebhookDisabled, WebhookNotVerified)>,
    ),
    security(("bearer" = []), ("app_key" = []))
)]
#[post("/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver")]
pub async fn redeliver_webhook(
    state: Data<AppState>,
    WebhookOwner(caller): WebhookOwner,
    path: WebhookPath,
    delivery: DeliveryPath,
    _: Query<NoQuery>,
    _: OptionalBody<Nothing>,
) -> Result<HttpResponse, Problem> {
    player::find(&state, caller).await?;
    let webhook = find(&state, caller, path).await?;
    if webhook.disabled.is_some() {
        return Err(disabled());
    }
    check_verified(&webhook)?;
    let again = deliveries::send_again(&state.db, caller.player, webhook.id, delivery.0, now()).await?;
    Ok(accepted(&again.ok_or_else(no_delivery)?))
}

fn accepted(delivery: &Delivery) -> HttpResponse {
    HttpResponse::Accepted().insert_header(NOT_KEPT).insert_header(VARIES).json(DeliveryView::of(delivery))
}

/// Refuses to send anything else than challenges to an endpoint that has not agreed.
fn check_verified(webhook: &Webhook) -> Result<(), Problem> {
    match webhook.verified_at {
        Some(_) => Ok(()),
        None => Err(Problem::new(Code::WebhookNotVerified, "the endpoint has not answered its challenge yet")),
    }
}

fn no_delivery() -> Problem {
    Problem::not_found("there is no such delivery")
}

/// The delivery that the address names. An id that is no UUID is answered with 404.
#[derive(Clone, Copy, Debug)]
pub struct DeliveryPath(Uuid);

impl FromRequest for DeliveryPath {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let id = request.match_info().get("delivery_id").and_then(|id| Uuid::try_parse(id).ok());
        ready(id.map(Self).ok_or_else(no_delivery))
    }
}

/// The page to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListDeliveries {
    /// The maximum number of deliveries on a page.
    #[param(minimum = 1, maximum = 100, default = 20)]
    limit: Option<u32>,
    /// `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// A message that was sent to a webhook, or is to be sent.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = WebhookDelivery)]
struct DeliveryView {
    /// The `webhook-id` of every attempt.
    id: Uuid,
    /// The type of the message. Clients ignore values that they do not know.
    #[serde(rename = "type")]
    #[schema(example = "game.your_turn")]
    kind: String,
    /// Null for a test.
    #[schema(required = true)]
    game_id: Option<Uuid>,
    /// The event's `seq`.
    #[schema(required = true, minimum = 1)]
    seq: Option<i32>,
    /// `waiting`, `delivered` or `failed`. Clients ignore values that they do not know.
    #[schema(example = "waiting")]
    status: &'static str,
    created_at: Timestamp,
    /// The number of attempts.
    #[schema(minimum = 0)]
    attempts: i32,
    #[schema(required = true)]
    last_attempt_at: Option<Timestamp>,
    /// The HTTP status of the last attempt; null if there was no answer.
    #[schema(required = true, example = 503)]
    last_status: Option<i32>,
    /// Why the last attempt failed: `status`, `challenge` (it was not repeated), `gone`, `timeout`, `no_connection`,
    /// `tls`, `no_answer`, `name_not_found`, `address_not_allowed`. Clients ignore values that they do not know.
    #[schema(required = true, example = "status")]
    last_error: Option<String>,
    /// The earliest time of the next attempt; null if there is none, or if an earlier message of its game is waiting.
    #[schema(required = true)]
    next_attempt_at: Option<Timestamp>,
    /// When it was delivered, or failed for good.
    #[schema(required = true)]
    ended_at: Option<Timestamp>,
}

impl DeliveryView {
    fn of(delivery: &Delivery) -> Self {
        Self {
            id: delivery.id,
            kind: delivery.kind.clone(),
            game_id: delivery.game,
            seq: delivery.seq,
            status: match delivery.ended_at {
                None => "waiting",
                Some(_) if delivery.is_delivered => "delivered",
                Some(_) => "failed",
            },
            created_at: Timestamp(delivery.created_at),
            attempts: delivery.attempts,
            last_attempt_at: delivery.last_attempt_at.map(Timestamp),
            last_status: delivery.last_status,
            last_error: delivery.last_error.clone(),
            next_attempt_at: delivery.next_attempt_at.map(Timestamp),
            ended_at: delivery.ended_at.map(Timestamp),
        }
    }
}

/// A page of deliveries.
#[derive(Serialize, ToSchema)]
#[schema(as = WebhookDeliveryPage)]
struct DeliveryPage {
    items: Vec<DeliveryView>,
    /// The `cursor` of the next page; null on the last page.
    #[schema(required = true)]
    next_cursor: Option<String>,
}
