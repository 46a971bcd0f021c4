//! Webhooks: the endpoints to which a player's messages are sent.

use std::future::{Ready, ready};

use actix_web::{
    FromRequest, HttpRequest, HttpResponse, delete, dev::Payload, get, http::header, patch, post, web::Data,
};
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use mancala_db::webhooks::{self, Challenge, Changes, Made, Webhook};
use mancala_http::{
    answer::{
        code::Code,
        failures::{Failures, Forbidden, NotFound, TooManyWebhooks, WebhookDisabled},
        headers::{NOT_KEPT, VARIES},
        problem::Problem,
    },
    app_caller::WebhookOwner,
    layers::limits,
    request::{
        body::MEDIUM_BODY,
        extract::{Body, NoQuery, Nothing, OptionalBody, Query},
        idempotency::{self, Answer, IdempotencyKey, KeyedRequest},
        player,
    },
    state::{AppState, tokens::Caller},
};
use mancala_outbound::webhook::{Endpoint, Reach};
use mancala_process::clock::now;
use mancala_wire::view::wire::ALWAYS_JSON;
use serde::Serialize;
use time::OffsetDateTime;
use uuid::Uuid;

use super::{
    endpoint_view::{CreateWebhook, UpdateWebhook, WebhookPage, WebhookView, WebhookWithSecret, kind_words},
    message,
};

/// The length of a secret in random bytes: that of the signature.
const SECRET_BYTES: usize = 32;

/// Random bytes of a challenge.
const CHALLENGE_BYTES: usize = 24;

/// The further calls that a challenge costs of the rate limit. It makes the server send a request to any address.
const CHALLENGE_CALLS: u32 = 9;

/// Create a webhook
///
/// The events of the caller's games from now on are sent to `url`, signed by the scheme of Standard Webhooks. The answer has the
/// `secret` that verifies the signatures, which is not shown again. First the endpoint gets a message of type `webhook.challenge`, and
/// must answer it with 2xx and the same `challenge` in the body. Until then `verified_at` is null and nothing else is sent. For the
/// rate limit, it counts as ten calls. By an app's key, it is a webhook for the games of all players of the app.
///
/// - `forbidden`: a player of an app, or the app is disabled
#[utoipa::path(
    tag = "webhooks",
    operation_id = "create_webhook",
    request_body(content = CreateWebhook, examples(
        ("everything" = (value = json!({"url": "https://push.example/mancala"}))),
        ("some types" = (value = json!({"url": "https://push.example/mancala?key=1", "events": ["game.your_turn", "game.invited"]}))),
    )),
    params(("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 255,
        description = "For a day, a retry with the same key and body gets the same answer, and creates no second webhook")),
    responses(
        (status = 201, description = "The webhook with its secret", body = WebhookWithSecret,
            headers(("Location" = String, description = "The webhook's address"),
                ("Idempotent-Replayed" = Option<String>, description = "`true`: the stored answer to an earlier request with this key"))),
        Failures<(Forbidden, TooManyWebhooks)>,
    ),
    security(("bearer" = []), ("app_key" = []))
)]
#[post("/webhooks")]
pub async fn create_webhook(
    state: Data<AppState>,
    WebhookOwner(caller): WebhookOwner,
    key: IdempotencyKey,
    _: Query<NoQuery>,
    body: Body<CreateWebhook, MEDIUM_BODY>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let keyed = KeyedRequest::of(key, caller, "/v1/webhooks", &body.0);
    if let Some(keyed) = &keyed
        && let Some(replayed) = keyed.replay(&state).await?
    {
        return Ok(no_store(replayed));
    }
    let CreateWebhook { url, events } = body.0;
    let webhook = Webhook {
        id: Uuid::now_v7(),
        player: caller.player,
        created_at: now(),
        url: parse_url(&url, state.settings.webhook_reach)?,
        events: events.map(|events| kind_words(&events)),
        secret: new_secret(),
        previous_until: vec![],
        failing_since: None,
        verified_at: None,
        disabled: None,
    };
    player::find(&state, caller).await?;
    player::refuse_if_of_app(&state, caller.player, "the app has the webhooks of its players").await?;
    limits::count_more(&request, CHALLENGE_CALLS)?;
    let challenge = new_challenge(webhook.id, webhook.created_at);
    let body = serde_json::to_string(&WebhookWithSecret::of(&webhook)).expect(ALWAYS_JSON);
    let answer = Answer { location: format!("/v1/webhooks/{}", webhook.id), etag: String::new(), body };
    let stored_answer = keyed.as_ref().map(|keyed| keyed.keep(&answer));
    match (
        webhooks::insert(&state.db, &webhook, &challenge, caller.credentials_version, stored_answer.as_ref()).await?,
        keyed,
    ) {
        // A concurrent request with this key has stored its answer first.
        (Made::KeyUsed, Some(keyed)) => {
            let replayed = keyed.replay(&state).await?;
            replayed.map(no_store).ok_or_else(|| Problem::internal("a key that is used has no answer"))
        }
        (Made::TooMany, _) => {
            let detail = format!("a player has at most {} webhooks", webhooks::WEBHOOKS_MAX);
            Err(Problem::new(Code::TooManyWebhooks, detail))
        }
        (Made::TooManyOfNetwork, _) => {
            let max = webhooks::NETWORK_WEBHOOKS_MAX;
            let detail = format!("the guests and new accounts of one network have at most {max} webhooks together");
            Err(Problem::new(Code::TooManyWebhooks, detail))
        }
        (Made::NoPlayer, _) => Err(player::gone()),
        _ => Ok(no_store(idempotency::created(&answer))),
    }
}

/// Forbids caches to keep an answer with a secret.
fn no_store(mut answer: HttpResponse) -> HttpResponse {
    answer.headers_mut().insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-store"));
    answer
}

/// List webhooks
///
/// All webhooks of the caller, at most ten, newest first.
#[utoipa::path(
    tag = "webhooks",
    operation_id = "list_webhooks",
    responses((status = 200, description = "All webhooks", body = WebhookPage)),
    security(("bearer" = []), ("app_key" = []))
)]
#[get("/webhooks")]
pub async fn list_webhooks(
    state: Data<AppState>,
    WebhookOwner(caller): WebhookOwner,
    _: Query<NoQuery>,
) -> Result<HttpResponse, Problem> {
    let items = webhooks::list(&state.db, caller.player).await?.iter().map(WebhookView::of).collect();
    Ok(json_response(&WebhookPage { items, next_cursor: None }))
}

/// Get a webhook
#[utoipa::path(
    tag = "webhooks",
    operation_id = "get_webhook",
    params(("webhook_id" = Uuid, Path, description = "The webhook's id")),
    responses(
        (status = 200, description = "The webhook", body = WebhookView),
        Failures<NotFound>,
    ),
    security(("bearer" = []), ("app_key" = []))
)]
#[get("/webhooks/{webhook_id}")]
pub async fn get_webhook(
    state: Data<AppState>,
    WebhookOwner(caller): WebhookOwner,
    path: WebhookPath,
    _: Query<NoQuery>,
) -> Result<HttpResponse, Problem> {
    Ok(json_response(&WebhookView::of(&find(&state, caller, path).await?)))
}

/// Change a webhook
///
/// Fields that are left out stay unchanged. `{"enabled": true}` enables a disabled webhook again: waiting messages are sent then. The
/// endpoint of another `url` is challenged first, and counts as ten calls.
#[utoipa::path(
    tag = "webhooks",
    operation_id = "update_webhook",
    params(("webhook_id" = Uuid, Path, description = "The webhook's id")),
    request_body(content = UpdateWebhook, examples(
        ("enabled again" = (value = json!({"enabled": true}))),
        ("somewhere else" = (value = json!({"url": "https://push.example/mancala"}))),
    )),
    responses(
        (status = 200, description = "The webhook", body = WebhookView),
        Failures<NotFound>,
    ),
    security(("bearer" = []), ("app_key" = []))
)]
#[patch("/webhooks/{webhook_id}")]
pub async fn update_webhook(
    state: Data<AppState>,
    WebhookOwner(caller): WebhookOwner,
    path: WebhookPath,
    _: Query<NoQuery>,
    body: Body<UpdateWebhook, MEDIUM_BODY>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let UpdateWebhook { url, events, enabled } = body.0;
    let changes =
        Changes { url: url.map(|url| parse_url(&url, state.settings.webhook_reach)).transpose()?, events, enabled };
    player::find(&state, caller).await?;
    if changes.url.is_some() || changes.enabled == Some(true) {
        limits::count_more(&request, CHALLENGE_CALLS)?;
    }
    let (now, challenge) = (now(), new_challenge(path.0, now()));
    let updated = webhooks::update(&state.db, caller.player, path.0, &changes, &challenge, now).await?;
    Ok(json_response(&WebhookView::of(&updated.ok_or_else(no_webhook)?)))
}

/// Verify a webhook
///
/// Sends another challenge to an endpoint that has not repeated the last one, and enables the webhook if that was why it was disabled.
/// A verified webhook stays as it is. It counts as ten calls.
#[utoipa::path(
    tag = "webhooks",
    operation_id = "verify_webhook",
    params(("webhook_id" = Uuid, Path, description = "The webhook's id")),
    responses(
        (status = 202, description = "The webhook: a challenge is queued, unless it is verified", body = WebhookView),
        Failures<(NotFound, WebhookDisabled)>,
    ),
    security(("bearer" = []), ("app_key" = []))
)]
#[post("/webhooks/{webhook_id}/verify")]
pub async fn verify_webhook(
    state: Data<AppState>,
    WebhookOwner(caller): WebhookOwner,
    path: WebhookPath,
    _: Query<NoQuery>,
    _: OptionalBody<Nothing>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    player::find(&state, caller).await?;
    limits::count_more(&request, CHALLENGE_CALLS)?;
    let (now, challenge) = (now(), new_challenge(path.0, now()));
    let found = webhooks::challenge(&state.db, caller.player, path.0, &challenge, now).await?;
    let webhook = found.ok_or_else(no_webhook)?;
    if webhook.verified_at.is_none() && webhook.disabled.is_some() {
        return Err(disabled());
    }
    let view = WebhookView::of(&webhook);
    Ok(HttpResponse::Accepted().insert_header(NOT_KEPT).insert_header(VARIES).json(view))
}

/// Delete a webhook
///
/// No more messages are sent to it. Waiting messages are dropped.
#[utoipa::path(
    tag = "webhooks",
    operation_id = "delete_webhook",
    params(("webhook_id" = Uuid, Path, description = "The webhook's id")),
    responses(
        (status = 204, description = "The webhook is deleted"),
        Failures<NotFound>,
    ),
    security(("bearer" = []), ("app_key" = []))
)]
#[delete("/webhooks/{webhook_id}")]
pub async fn delete_webhook(
    state: Data<AppState>,
    WebhookOwner(caller): WebhookOwner,
    path: WebhookPath,
    _: Query<NoQuery>,
) -> Result<HttpResponse, Problem> {
    player::find(&state, caller).await?;
    if !webhooks::delete(&state.db, caller.player, path.0, now()).await? {
        return Err(no_webhook());
    }
    Ok(HttpResponse::NoContent().finish())
}

/// Rotate a webhook's secret
///
/// The answer has the new secret, which is not shown again. For 24 hours previous secrets, at most the last four, sign as well: each
/// request then has several signatures.
#[utoipa::path(
    tag = "webhooks",
    operation_id = "rotate_webhook_secret",
    params(("webhook_id" = Uuid, Path, description = "The webhook's id")),
    responses(
        (status = 200, description = "The webhook with its new secret", body = WebhookWithSecret),
        Failures<NotFound>,
    ),
    security(("bearer" = []), ("app_key" = []))
)]
#[post("/webhooks/{webhook_id}/rotate-secret")]
pub async fn rotate_webhook_secret(
    state: Data<AppState>,
    WebhookOwner(caller): WebhookOwner,
    path: WebhookPath,
    _: Query<NoQuery>,
    _: OptionalBody<Nothing>,
) -> Result<HttpResponse, Problem> {
    player::find(&state, caller).await?;
    let rotated = webhooks::rotate(&state.db, caller.player, path.0, &new_secret(), now()).await?;
    let view = WebhookWithSecret::of(&rotated.ok_or_else(no_webhook)?);
    Ok(no_store(HttpResponse::Ok().json(view)))
}

/// A webhook of the caller.
pub async fn find(state: &AppState, caller: Caller, path: WebhookPath) -> Result<Webhook, Problem> {
    webhooks::find(&state.db, caller.player, path.0).await?.ok_or_else(no_webhook)
}

pub fn disabled() -> Problem {
    Problem::new(Code::WebhookDisabled, "the webhook is disabled: enable it first")
}

pub fn no_webhook() -> Problem {
    Problem::not_found("there is no such webhook")
}

pub fn json_response(view: &impl Serialize) -> HttpResponse {
    HttpResponse::Ok().insert_header(NOT_KEPT).insert_header(VARIES).json(view)
}

fn parse_url(url: &str, reach: Reach) -> Result<String, Problem> {
    let endpoint = Endpoint::parse(url, reach).map_err(|error| Problem::invalid("/url", error.to_string()))?;
    Ok(endpoint.url().to_string())
}

fn new_challenge(webhook: Uuid, now: OffsetDateTime) -> Challenge {
    let text = BASE64_URL_SAFE_NO_PAD.encode(rand::random::<[u8; CHALLENGE_BYTES]>());
    Challenge { delivery: Uuid::now_v7(), payload: message::challenge(webhook, &text, now), text }
}

fn new_secret() -> Vec<u8> {
    rand::random::<[u8; SECRET_BYTES]>().to_vec()
}

/// The webhook that the address names. An id that is no UUID is answered with 404.
#[derive(Clone, Copy, Debug)]
pub struct WebhookPath(pub Uuid);

impl FromRequest for WebhookPath {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let id = request.match_info().get("webhook_id").and_then(|id| Uuid::try_parse(id).ok());
        ready(id.map(Self).ok_or_else(no_webhook))
    }
}
