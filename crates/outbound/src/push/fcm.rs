//! Firebase Cloud Messaging (HTTP v1): one request for a device that an app has registered there. Google can read the notifications.

use std::{fmt, sync::Arc, time::Duration};

use hyper::{
    body::Bytes,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue},
};
use serde_json::{Map, Value, json};
use time::OffsetDateTime;
use tokio::time::timeout;
use url::Url;

use super::{
    apns::AppleFields,
    app_sender::AppSender,
    gate::{Gate, PAUSE, cleaned},
    notification::{Notification, Urgency},
    outcome::Outcome,
    service_account::{AccessTokens, ServiceAccount},
};
use crate::webhook::{EndpointResponse, Post, SendError, host_of};

/// The address at which Google takes messages.
pub const FCM_URL: &str = "https://fcm.googleapis.com";

/// The timeout of an attempt with its access token: as long as that of other attempts, for the lease of a device.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(10);

/// The lengths of registration tokens. Google says none; they have about 160 characters.
const TOKEN_BYTES: std::ops::RangeInclusive<usize> = 16..=1024;

/// How long a device waits while the operator's project has no good key for the service behind Google's.
const THIRD_PARTY_PAUSE: Duration = Duration::from_mins(10);

/// The least seconds that Google asks for before a message is sent again: after 429 for a device, and after 5xx.
const THROTTLED_S: u32 = 60;
const AWAY_S: u32 = 10;

/// Sends to the devices of one Firebase project.
#[derive(Clone)]
pub struct Fcm {
    tokens: Arc<AccessTokens>,
    pub(super) gate: Arc<Gate>,
    url: String,
    host: String,
}

/// The next step after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FcmReply {
    Is(Outcome),
    /// The access token is refused.
    NoAccess,
    /// The account may not send, whichever the device.
    NotAllowed,
    /// The project's key for the service behind Google's is missing or wrong.
    NoThirdParty,
    /// The project sends too much.
    Throttled,
}

impl Fcm {
    /// Sends by an account to a service, which is [`FCM_URL`] outside tests; `None` if the URL is none.
    pub fn new(account: ServiceAccount, service: &str) -> Option<Self> {
        let base = Url::parse(service).ok()?;
        let host = host_of(&base)?;
        let url = base.join(&format!("/v1/projects/{}/messages:send", account.project_id)).ok()?.to_string();
        let gate = Arc::new(Gate::new("FCM"));
        Some(Self { tokens: Arc::new(AccessTokens::new(account)), gate, url, host })
    }

    /// The host that messages go to.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Whether a text may be a registration token.
    pub fn is_token(text: &str) -> bool {
        let is_of_token = |byte: u8| byte.is_ascii_alphanumeric() || b"-_:".contains(&byte);
        TOKEN_BYTES.contains(&text.len()) && text.bytes().all(is_of_token)
    }

    /// Makes one attempt. An access token that is refused is replaced once.
    pub(super) async fn send(
        &self,
        sender: &AppSender,
        token: &str,
        notification: &Notification,
        now: OffsetDateTime,
    ) -> Outcome {
        let body = Bytes::from(message(token, notification, now).to_string());
        let sending = timeout(ATTEMPT_TIMEOUT, self.send_with_access(sender, body, now));
        sending.await.unwrap_or(Outcome::of_failure(SendError::Timeout))
    }

    async fn send_with_access(&self, sender: &AppSender, body: Bytes, now: OffsetDateTime) -> Outcome {
        let mut refused = None;
        loop {
            let Some(access) = self.tokens.get(&sender.sender, &self.gate, refused.as_ref(), now).await else {
                return self.gate.left(now).unwrap_or(Outcome::Postponed(PAUSE));
            };
            let post = Post { url: self.url.clone(), headers: headers(access.clone()), body: body.clone() };
            let (answer, text) = match sender.post(&post).await {
                Ok(answered) => answered,
                Err(error) => return Outcome::of_failure(error),
            };
            let error = serde_json::from_slice::<Value>(&text).unwrap_or_default()["error"].take();
            match reply_of(answer, &error) {
                FcmReply::Is(outcome) => {
                    if outcome == Outcome::Taken {
                        self.gate.taken(now);
                    }
                    return outcome;
                }
                FcmReply::NoAccess if refused.is_none() => refused = Some(access),
                FcmReply::NoAccess | FcmReply::NotAllowed => return self.gate.refused(&reason(answer, &error), now),
                FcmReply::NoThirdParty => return self.gate.wait(THIRD_PARTY_PAUSE, &reason(answer, &error)),
                FcmReply::Throttled => {
                    let pause = answer.retry_after_s.map_or(PAUSE, |seconds| Duration::from_secs(seconds.into()));
                    return self.gate.shut(pause, &reason(answer, &error), now);
                }
            }
        }
    }
}

fn headers(access: HeaderValue) -> HeaderMap {
    let content_type = (CONTENT_TYPE, HeaderValue::from_static("application/json"));
    HeaderMap::from_iter([(AUTHORIZATION, access), content_type])
}

/// The message. Android and iOS show it themselves while the app is closed, and a later one of the game takes its place.
fn message(token: &str, notification: &Notification, now: OffsetDateTime) -> Value {
    let (title, body) = notification.texts();
    let tag = notification.tag();
    let priority = match notification.urgency {
        Urgency::Normal => "NORMAL",
        Urgency::High => "HIGH",
    };
    let ttl = format!("{}s", notification.ttl_s(now));
    let android = json!({
        "collapse_key": tag, "priority": priority, "ttl": ttl, "notification": { "tag": tag },
    });
    let AppleFields { headers, aps } = AppleFields::of(notification, now);
    let headers: Map<String, Value> =
        headers.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
    json!({ "message": {
        "token": token,
        "notification": { "title": title, "body": body },
        "data": texts_of(&notification.data()),
        "android": android,
        "apns": { "headers": headers, "payload": { "aps": aps } },
    }})
}

/// The same fields with texts: the service takes no others.
fn texts_of(data: &Value) -> Map<String, Value> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let fields = data.as_object().into_iter().flatten();
    fields.map(|(name, value)| (name.clone(), Value::String(text(value)))).collect()
}

/// The meaning of an answer: a device is forgotten only if the answer says so about its token.
fn reply_of(answer: EndpointResponse, error: &Value) -> FcmReply {
    let details = details(error);
    let code = details.iter().find_map(|detail| detail["errorCode"].as_str()).unwrap_or_default();
    // Reasons come from Apple's service, behind Google's.
    let says = |reason: &str| details.iter().any(|detail| detail["reason"] == reason);
    FcmReply::Is(match (answer.status, code) {
        (200, _) => Outcome::Taken,
        (_, "UNREGISTERED") => Outcome::Gone,
        (_, "SENDER_ID_MISMATCH") => Outcome::Foreign,
        (_, "THIRD_PARTY_AUTH_ERROR") => return FcmReply::NoThirdParty,
        (400, _) if says("Unregistered") || is_about_token(error, details) => Outcome::Gone,
        (400, _) if says("BadDeviceToken") || says("DeviceTokenNotForTopic") => Outcome::Foreign,
        (400 | 413, _) => Outcome::Refused,
        (401, _) => return FcmReply::NoAccess,
        (403, _) => return FcmReply::NotAllowed,
        (429, _) if is_about_device(details) => Outcome::later_than(answer, THROTTLED_S),
        (429, _) => return FcmReply::Throttled,
        (500.., _) => Outcome::later_than(answer, AWAY_S),
        _ => Outcome::later(answer),
    })
}

fn details(error: &Value) -> &[Value] {
    error["details"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// An answer as the log shows it: its status, and Google's words for it.
fn reason(answer: EndpointResponse, error: &Value) -> String {
    let reason = |detail: &Value| detail["reason"].as_str().or(detail["errorCode"].as_str()).map(cleaned);
    let texts = error["status"].as_str().map(cleaned).into_iter().chain(details(error).iter().filter_map(reason));
    texts.fold(answer.status.to_string(), |line, text| format!("{line} {text}"))
}

/// Whether the limit that was reached is that of one device, and not of the whole project.
fn is_about_device(details: &[Value]) -> bool {
    let violations = details.iter().filter_map(|detail| detail["violations"].as_array()).flatten();
    let names_device = |text: &Value| text.as_str().is_some_and(|text| text.to_ascii_lowercase().contains("device"));
    violations.into_iter().any(|one| names_device(&one["subject"]) || names_device(&one["description"]))
}

/// Whether a malformed field is the registration token.
fn is_about_token(error: &Value, details: &[Value]) -> bool {
    let fields = details.iter().filter_map(|detail| detail["fieldViolations"].as_array()).flatten();
    let says = |text: &str| error["message"].as_str().is_some_and(|message| message.contains(text));
    fields.into_iter().any(|field| field["field"] == "message.token") || says("not a valid FCM registration token")
}

impl fmt::Debug for Fcm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fcm").field("account", &self.tokens.account).field("host", &self.host).finish_non_exhaustive()
    }
}
