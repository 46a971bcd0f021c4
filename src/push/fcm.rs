//! Firebase Cloud Messaging (HTTP v1): one request for a device that an app has registered there. Google reads what it is sent.

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
    notification::{Notification, Urgency},
    outcome::Outcome,
    service_account::{AccessTokens, PAUSE, ServiceAccount},
};
use crate::webhook::{EndpointResponse, Post, Sender};

/// Where Google takes messages.
pub const FCM_URL: &str = "https://fcm.googleapis.com";

/// The timeout of an attempt with its access token: as long as that of other attempts, for the lease of a device.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(10);

/// The lengths of registration tokens. Google says none; they have about 160 characters.
const TOKEN_BYTES: std::ops::RangeInclusive<usize> = 16..=1024;

/// Sends to the devices of one Firebase project.
#[derive(Clone)]
pub struct Fcm {
    tokens: Arc<AccessTokens>,
    url: String,
    host: String,
}

/// What follows from an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reply {
    Is(Outcome),
    /// The access token is refused.
    NoAccess,
    /// The account may not send, whichever the device.
    NotAllowed,
}

impl Fcm {
    /// Sends by an account to a service, which is [`FCM_URL`] outside tests; `None` if the URL is none.
    pub fn new(account: ServiceAccount, service: &str) -> Option<Self> {
        let base = Url::parse(service).ok()?;
        let port = base.port().map(|port| format!(":{port}")).unwrap_or_default();
        let host = format!("{}{port}", base.host_str()?);
        let url = base.join(&format!("/v1/projects/{}/messages:send", account.project_id)).ok()?.to_string();
        Some(Self { tokens: Arc::new(AccessTokens::new(account)), url, host })
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
        sender: &Sender,
        token: &str,
        notification: &Notification,
        now: OffsetDateTime,
    ) -> Outcome {
        let body = Bytes::from(message(token, notification, now).to_string());
        let sending = timeout(ATTEMPT_TIMEOUT, self.send_with_access(sender, body, now));
        sending.await.unwrap_or(Outcome::Failed { retry_after_s: None })
    }

    async fn send_with_access(&self, sender: &Sender, body: Bytes, now: OffsetDateTime) -> Outcome {
        let mut refused = None;
        loop {
            let Some(access) = self.tokens.get(sender, refused.as_ref(), now).await else {
                return Outcome::Postponed(PAUSE);
            };
            let post = Post { url: self.url.clone(), headers: headers(access.clone()), body: body.clone() };
            let (answer, text) = match sender.post_and_read(&post).await {
                Ok(answered) => answered,
                Err(error) => return Outcome::of_failure(error),
            };
            match reply_of(answer, &text) {
                Reply::Is(outcome) => return outcome,
                Reply::NoAccess if refused.is_none() => refused = Some(access),
                Reply::NoAccess | Reply::NotAllowed => {
                    self.tokens.pause(answer.status).await;
                    return Outcome::Postponed(PAUSE);
                }
            }
        }
    }
}

fn headers(access: HeaderValue) -> HeaderMap {
    let content_type = (CONTENT_TYPE, HeaderValue::from_static("application/json"));
    HeaderMap::from_iter([(AUTHORIZATION, access), content_type])
}

/// The message. Android shows it itself while the app is closed, and a later one of the game takes its place.
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
    json!({ "message": {
        "token": token,
        "notification": { "title": title, "body": body },
        "data": texts_of(&notification.data()),
        "android": android,
    }})
}

/// The same fields with texts: the service takes no others.
fn texts_of(data: &Value) -> Map<String, Value> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let fields = data.as_object().into_iter().flatten();
    fields.map(|(name, value)| (name.clone(), Value::String(text(value)))).collect()
}

/// What an answer means: a device is forgotten only if the answer says so of its token.
fn reply_of(answer: EndpointResponse, body: &[u8]) -> Reply {
    let error = serde_json::from_slice::<Value>(body).unwrap_or_default()["error"].take();
    let details = error["details"].as_array().map(Vec::as_slice).unwrap_or_default();
    let code = details.iter().find_map(|detail| detail["errorCode"].as_str()).unwrap_or_default();
    Reply::Is(match (answer.status, code) {
        (200, _) => Outcome::Taken,
        (_, "UNREGISTERED" | "SENDER_ID_MISMATCH") => Outcome::Gone,
        (400, _) if is_about_token(&error, details) => Outcome::Gone,
        (400 | 413, _) => Outcome::Refused,
        // Of Apple's service, behind Google's.
        (401, "THIRD_PARTY_AUTH_ERROR") => Outcome::later(answer),
        (401, _) => return Reply::NoAccess,
        (403, _) => return Reply::NotAllowed,
        _ => Outcome::later(answer),
    })
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
