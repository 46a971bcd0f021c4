//! The wire types of endpoints: the bodies that create or change one, and the answers.

use base64::{Engine, prelude::BASE64_STANDARD};
use mancala_db::webhooks::{EventFilter, Webhook};
use mancala_domain::NoticeKind;
use mancala_http::request::extract;
use mancala_process::clock::now;
use mancala_wire::view::wire::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// The prefix of a secret, by Standard Webhooks.
const SECRET_PREFIX: &str = "whsec_";

/// The webhook to create.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateWebhook {
    /// A public address that begins with `https://`, without user, password and fragment, at port 443 unless the server allows
    /// others.
    #[schema(max_length = 2048, example = "https://push.example/mancala")]
    pub(super) url: String,
    /// The types to send. Unless given, all types, also those that are added later.
    #[serde(default, deserialize_with = "event_choices")]
    #[schema(min_items = 1, max_items = 20)]
    pub(super) events: Option<Vec<EventChoice>>,
}

/// The changes of a webhook.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateWebhook {
    /// The new address.
    #[schema(max_length = 2048, nullable = false, example = "https://push.example/mancala")]
    pub(super) url: Option<String>,
    /// The new types; `null` for all.
    #[serde(default, deserialize_with = "event_filter")]
    #[schema(value_type = Option<Vec<EventChoice>>, min_items = 1, max_items = 20)]
    pub(super) events: Option<EventFilter>,
    /// Whether anything is sent.
    #[schema(nullable = false)]
    pub(super) enabled: Option<bool>,
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
pub enum EventChoice {
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
    /// The player is to move, and the deadline is near.
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
    /// The end of the time in which a previous secret signs as well.
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
pub struct WebhookWithSecret {
    #[serde(flatten)]
    webhook: WebhookView,
    /// `whsec_` and Base64, as the libraries of Standard Webhooks expect it.
    #[schema(example = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")]
    secret: String,
}

impl WebhookWithSecret {
    pub fn of(webhook: &Webhook) -> Self {
        let secret = format!("{SECRET_PREFIX}{}", BASE64_STANDARD.encode(&webhook.secret));
        Self { webhook: WebhookView::of(webhook), secret }
    }
}

/// All webhooks of the caller.
#[derive(Serialize, ToSchema)]
pub struct WebhookPage {
    pub(super) items: Vec<WebhookView>,
    /// Always null: all fit on one page.
    #[schema(required = true)]
    pub(super) next_cursor: Option<String>,
}
/// The wire words of the chosen types, each once.
pub fn kind_words(events: &[EventChoice]) -> Vec<String> {
    let kinds = NoticeKind::ALL.into_iter().filter(|kind| events.iter().any(|event| NoticeKind::from(*event) == *kind));
    kinds.map(|kind| kind.as_str().to_owned()).collect()
}
