//! Webhooks: the endpoints to which a player's messages are sent.

use std::future::{Ready, ready};

use actix_web::{
    FromRequest, HttpRequest, HttpResponse, delete, dev::Payload, get, http::header, patch, post, web::Data,
};
use base64::{
    Engine,
    prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD},
};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use utoipa::ToSchema;
use uuid::Uuid;

use super::message;
use crate::{
    clock::now,
    db::webhooks::{self, Challenge, Changes, EventFilter, Made, Webhook},
    domain::NoticeKind,
    http::{
        answer::{
            code::Code,
            headers::{NOT_KEPT, VARIES},
            problem::Problem,
        },
        apps::caller::WebhookOwner,
        layers::limits,
        request::{
            body::MEDIUM_BODY,
            extract::{self, Body, NoQuery, Nothing, OptionalBody, Query},
            idempotency::{self, Answer, IdempotencyKey, KeyedRequest},
            player,
        },
        state::{AppState, tokens::Caller},
        view::wire::{ALWAYS_JSON, Timestamp},
    },
    webhook::{Endpoint, Reach},
};

/// The length of a secret in random bytes: that of the signature.
const SECRET_BYTES: usize = 32;

/// The prefix of a secret, by Standard Webhooks.
const SECRET_PREFIX: &str = "whsec_";

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
        (status = 403, description = "`forbidden`: a player of an app, or the app is disabled"),
        (status = 409, description = "`too_many_webhooks`"),
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
        url: parse_url(&url, state.webhook_reach)?,
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
        (status = 404, description = "`not_found`"),
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
        (status = 404, description = "`not_found`"),
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
    let changes = Changes { url: url.map(|url| parse_url(&url, state.webhook_reach)).transpose()?, events, enabled };
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
        (status = 404, description = "`not_found`"),
        (status = 409, description = "`webhook_disabled`"),
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
        (status = 404, description = "`not_found`"),
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
        (status = 404, description = "`not_found`"),
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
pub(crate) async fn find(state: &AppState, caller: Caller, path: WebhookPath) -> Result<Webhook, Problem> {
    webhooks::find(&state.db, caller.player, path.0).await?.ok_or_else(no_webhook)
}

pub(crate) fn disabled() -> Problem {
    Problem::new(Code::WebhookDisabled, "the webhook is disabled: enable it first")
}

pub(crate) fn no_webhook() -> Problem {
    Problem::not_found("there is no such webhook")
}

pub(crate) fn json_response(view: &impl Serialize) -> HttpResponse {
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

/// The wire words of the chosen types, each once.
fn kind_words(events: &[EventChoice]) -> Vec<String> {
    let kinds = NoticeKind::ALL.into_iter().filter(|kind| events.iter().any(|event| NoticeKind::from(*event) == *kind));
    kinds.map(|kind| kind.as_str().to_owned()).collect()
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

/// The webhook to create.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateWebhook {
    /// A public address that begins with `https://`, without user, password and fragment, at port 443 unless the server allows
    /// others.
    #[schema(max_length = 2048, example = "https://push.example/mancala")]
    url: String,
    /// The types to send. Unless given, all types, also those that are added later.
    #[serde(default, deserialize_with = "event_choices")]
    #[schema(min_items = 1, max_items = 20)]
    events: Option<Vec<EventChoice>>,
}

/// The changes of a webhook.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateWebhook {
    /// The new address.
    #[schema(max_length = 2048, nullable = false, example = "https://push.example/mancala")]
    url: Option<String>,
    /// The new types; `null` for all.
    #[serde(default, deserialize_with = "event_filter")]
    #[schema(value_type = Option<Vec<EventChoice>>, min_items = 1, max_items = 20)]
    events: Option<EventFilter>,
    /// Whether anything is sent.
    #[schema(nullable = false)]
    enabled: Option<bool>,
}

/// The longest list of types. Repetitions are allowed and have no effect.
const EVENTS_MAX: usize = 20;

fn event_choices<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<EventChoice>>, D::Error> {
    let Some(words) = Option::<Vec<Word>>::deserialize(deserializer)? else { return Ok(None) };
    if words.is_empty() || words.len() > EVENTS_MAX {
        return Err(serde::de::Error::custom(format!("1 to {EVENTS_MAX} types")));
    }
    Ok(Some(words.into_iter().map(|Word(word)| word).collect()))
}

/// A list of types, or `null` for all; a field that is left out is no change.
fn event_filter<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<EventFilter>, D::Error> {
    let events = event_choices(deserializer)?;
    Ok(Some(events.map_or(EventFilter::All, |events| EventFilter::Only(kind_words(&events)))))
}

#[derive(Deserialize)]
struct Word(#[serde(deserialize_with = "extract::word")] EventChoice);

/// A type of message.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = WebhookEvent)]
enum EventChoice {
    /// The player's turn has begun.
    #[serde(rename = "game.your_turn")]
    YourTurn,
    /// A ply was played in a game of the player.
    #[serde(rename = "game.move")]
    Move,
    /// The other player offered something, or answered an offer.
    #[serde(rename = "game.offer")]
    Offer,
    /// A game of the player has ended, with a result or without.
    #[serde(rename = "game.finished")]
    Finished,
    /// A game was created for the player.
    #[serde(rename = "game.invited")]
    Invited,
    /// It is the player's turn, and the deadline is near.
    #[serde(rename = "game.deadline_soon")]
    DeadlineSoon,
    /// The analysis of a game of the player is done.
    #[serde(rename = "game.analysed")]
    Analysed,
}

impl From<EventChoice> for NoticeKind {
    fn from(choice: EventChoice) -> Self {
        match choice {
            EventChoice::YourTurn => NoticeKind::YourTurn,
            EventChoice::Move => NoticeKind::Move,
            EventChoice::Offer => NoticeKind::Offer,
            EventChoice::Finished => NoticeKind::Finished,
            EventChoice::Invited => NoticeKind::Invited,
            EventChoice::DeadlineSoon => NoticeKind::DeadlineSoon,
            EventChoice::Analysed => NoticeKind::Analysed,
        }
    }
}

/// A webhook.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Webhook)]
pub struct WebhookView {
    id: Uuid,
    #[schema(example = "https://push.example/mancala")]
    url: String,
    /// The types that are sent; null: all. Clients ignore values that they do not know.
    #[schema(required = true, example = json!(["game.your_turn"]))]
    events: Option<Vec<String>>,
    /// Whether anything is sent.
    enabled: bool,
    /// Why it is disabled. `by_request`: by an update; `gone`: it answered 410; `failing`: all attempts failed for five days; `overflow`:
    /// 10,000 messages were waiting for it; `unverified`: it did not repeat its challenge for a day. Clients ignore values that they do not know.
    #[schema(required = true, example = "failing")]
    disabled_reason: Option<String>,
    #[schema(required = true)]
    disabled_at: Option<Timestamp>,
    /// When the endpoint repeated its challenge; null: it has not yet, and gets nothing else.
    #[schema(required = true)]
    verified_at: Option<Timestamp>,
    /// Since when every attempt has failed; null if the last one succeeded.
    #[schema(required = true)]
    failing_since: Option<Timestamp>,
    /// Until when a previous secret signs as well.
    #[schema(required = true)]
    previous_secret_until: Option<Timestamp>,
    created_at: Timestamp,
}

impl WebhookView {
    pub fn of(webhook: &Webhook) -> Self {
        let (disabled_at, disabled_reason) = webhook.disabled.clone().unzip();
        Self {
            id: webhook.id,
            url: webhook.url.clone(),
            events: webhook.events.clone(),
            enabled: webhook.disabled.is_none(),
            disabled_reason,
            disabled_at: disabled_at.map(Timestamp),
            verified_at: webhook.verified_at.map(Timestamp),
            failing_since: webhook.failing_since.map(Timestamp),
            previous_secret_until: webhook
                .previous_until
                .first()
                .copied()
                .filter(|until| *until > now())
                .map(Timestamp),
            created_at: Timestamp(webhook.created_at),
        }
    }
}

/// A webhook, and the secret that verifies its messages.
#[derive(Serialize, ToSchema)]
struct WebhookWithSecret {
    #[serde(flatten)]
    webhook: WebhookView,
    /// `whsec_` and Base64, as the libraries of Standard Webhooks expect it.
    #[schema(example = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")]
    secret: String,
}

impl WebhookWithSecret {
    fn of(webhook: &Webhook) -> Self {
        let secret = format!("{SECRET_PREFIX}{}", BASE64_STANDARD.encode(&webhook.secret));
        Self { webhook: WebhookView::of(webhook), secret }
    }
}

/// All webhooks of the caller.
#[derive(Serialize, ToSchema)]
struct WebhookPage {
    items: Vec<WebhookView>,
    /// Always null: all fit on one page.
    #[schema(required = true)]
    next_cursor: Option<String>,
}
