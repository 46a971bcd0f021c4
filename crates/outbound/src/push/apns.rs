//! Apple's service (APNs): one request for a device that an app has registered there. Apple can read the notifications.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use hyper::{
    body::Bytes,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};
use serde::Deserialize;
use serde_json::{Value, json};
use time::OffsetDateTime;
use url::Url;

use super::{
    app_sender::AppSender,
    gate::{Gate, PAUSE, cleaned},
    notification::{Notification, Urgency},
    outcome::Outcome,
    vapid::VapidKey,
};
use crate::webhook::{EndpointResponse, Post, host_of};

/// How long a provider token is used: Apple wants new ones after 20 to 60 minutes. All processes change theirs at the
/// same moments, because Apple does not tell the tokens of one team apart.
const TOKEN_LIFE_S: i64 = 30 * 60;

/// The length of the ids of teams and keys.
const APPLE_ID_BYTES: usize = 10;

/// The longest topic that is taken: a bundle id.
const TOPIC_BYTES_MAX: usize = 255;

/// The lengths of device tokens in hexadecimal. They have 64 digits; Apple says that they may become longer.
const TOKEN_DIGITS: std::ops::RangeInclusive<usize> = 64..=200;

/// The operator's file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ApnsFile {
    team_id: String,
    key_id: String,
    /// The `.p8` file, from the folder of this one.
    key_file: String,
    topic: String,
    #[serde(default)]
    environment: Environment,
}

/// Which of Apple's services.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Environment {
    #[default]
    Production,
    /// For apps that are installed by Xcode.
    Sandbox,
}

/// The app and the key that the operator has of Apple.
pub struct ApnsSettings {
    team_id: String,
    key_id: String,
    key: VapidKey,
    topic: String,
    environment: Environment,
}

impl ApnsSettings {
    /// Parses the settings of a file, or returns their fault, without secrets. `read_key` reads the file of the key.
    pub fn parse(text: &str, read_key: impl FnOnce(&str) -> Result<String, String>) -> Result<Self, String> {
        let file: ApnsFile = serde_json::from_str(text)
            .map_err(|error| format!("it is no JSON as documented, at line {}", error.line()))?;
        let is_id = |id: &str| id.len() == APPLE_ID_BYTES && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !is_id(&file.team_id) || !is_id(&file.key_id) {
            return Err(format!("team_id and key_id must have {APPLE_ID_BYTES} letters and digits"));
        }
        let is_of_topic = |byte: u8| byte.is_ascii_alphanumeric() || b"-.".contains(&byte);
        if !(1..=TOPIC_BYTES_MAX).contains(&file.topic.len()) || !file.topic.bytes().all(is_of_topic) {
            return Err("topic must be the app's bundle id".to_owned());
        }
        let pem = read_key(&file.key_file).map_err(|error| format!("key_file: {error}"))?;
        let key = VapidKey::from_pem(&pem);
        Ok(Self {
            team_id: file.team_id,
            key_id: file.key_id,
            key: key.ok_or("key_file must be the .p8 file of Apple: a P-256 private key in PKCS #8 PEM")?,
            topic: file.topic,
            environment: file.environment,
        })
    }

    /// Apple's service.
    pub const fn service(&self) -> &'static str {
        match self.environment {
            Environment::Production => "https://api.push.apple.com",
            Environment::Sandbox => "https://api.sandbox.push.apple.com",
        }
    }

    fn sign(&self, issued_at: i64) -> Option<HeaderValue> {
        let claims = json!({ "iss": self.team_id, "iat": issued_at });
        let token = self.key.sign(&json!({ "kid": self.key_id }), &claims);
        let mut header = HeaderValue::try_from(format!("bearer {token}")).ok()?;
        header.set_sensitive(true);
        Some(header)
    }
}

/// Sends to the devices of one app.
#[derive(Clone)]
pub struct Apns {
    settings: Arc<ApnsSettings>,
    base: Url,
    host: String,
    /// The value of `Authorization`, and the moment of its claims.
    token: Arc<Mutex<Option<(HeaderValue, i64)>>>,
    pub(super) gate: Arc<Gate>,
}

/// The next step after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ApnsReply {
    Is(Outcome),
    /// The key or the app is refused, whichever the device.
    NotAllowed,
}

impl Apns {
    /// Sends by these settings to a service, which is theirs outside tests; `None` if the URL is none.
    pub fn new(settings: ApnsSettings, service: &str) -> Option<Self> {
        let base = Url::parse(service).ok()?;
        let host = host_of(&base)?;
        let gate = Arc::new(Gate::new("APNs"));
        Some(Self { settings: Arc::new(settings), base, host, token: Arc::default(), gate })
    }

    /// The host that notifications go to.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Whether a text may be a device token.
    pub fn is_token(text: &str) -> bool {
        TOKEN_DIGITS.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    }

    /// Makes one attempt.
    pub(super) async fn send(
        &self,
        sender: &AppSender,
        token: &str,
        notification: &Notification,
        now: OffsetDateTime,
    ) -> Outcome {
        if let Some(postponed) = self.gate.left(now) {
            return postponed;
        }
        let Some(authorization) = self.authorization(now) else { return Outcome::Postponed(PAUSE) };
        let Some(post) = self.request(authorization, token, notification, now) else { return Outcome::Gone };
        let (answer, text) = match sender.post(&post).await {
            Ok(answered) => answered,
            Err(error) => return Outcome::of_failure(error),
        };
        let body = serde_json::from_slice::<Value>(&text).unwrap_or_default();
        let reason = body["reason"].as_str().unwrap_or_default();
        match reply_of(answer, reason) {
            ApnsReply::Is(outcome) => {
                if outcome == Outcome::Taken {
                    self.gate.taken(now);
                }
                outcome
            }
            ApnsReply::NotAllowed => self.gate.refused(&format!("{} {}", answer.status, cleaned(reason)), now),
        }
    }

    /// The provider token, with the start of the present half hour as its time.
    fn authorization(&self, now: OffsetDateTime) -> Option<HeaderValue> {
        let now_s = now.unix_timestamp();
        let issued_at = now_s - now_s.rem_euclid(TOKEN_LIFE_S);
        let mut held = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        match &*held {
            Some((token, of)) if *of == issued_at => Some(token.clone()),
            _ => Some(held.insert((self.settings.sign(issued_at)?, issued_at)).0.clone()),
        }
    }

    fn request(
        &self,
        authorization: HeaderValue,
        token: &str,
        notification: &Notification,
        now: OffsetDateTime,
    ) -> Option<Post> {
        let url = self.base.join(&format!("/3/device/{token}")).ok()?.to_string();
        let (title, body) = notification.texts();
        let AppleFields { headers: fields, mut aps } = AppleFields::of(notification, now);
        aps["alert"] = json!({ "title": title, "body": body });
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, authorization);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(HeaderName::from_static("apns-topic"), HeaderValue::from_str(&self.settings.topic).ok()?);
        headers.insert(HeaderName::from_static("apns-push-type"), HeaderValue::from_static("alert"));
        for (name, value) in fields {
            headers.insert(HeaderName::from_static(name), HeaderValue::try_from(value).ok()?);
        }
        let payload = json!({ "aps": aps, "data": notification.data() });
        Some(Post { url, headers, body: Bytes::from(payload.to_string()) })
    }
}

/// The fields of a notification for Apple's service beside its texts, also by way of Google.
pub(super) struct AppleFields {
    pub(super) headers: [(&'static str, String); 3],
    pub(super) aps: Value,
}

impl AppleFields {
    pub(super) fn of(notification: &Notification, now: OffsetDateTime) -> Self {
        let tag = notification.tag();
        let expiration = now.unix_timestamp() + notification.ttl_s(now);
        let mut aps = json!({ "thread-id": tag });
        let priority = match notification.urgency {
            Urgency::Normal => "5",
            Urgency::High => "10",
        };
        if notification.urgency == Urgency::High {
            aps["sound"] = json!("default");
        }
        let headers = [
            // At most 64 bytes.
            ("apns-collapse-id", tag),
            ("apns-expiration", expiration.to_string()),
            ("apns-priority", priority.to_owned()),
        ];
        Self { headers, aps }
    }
}

/// The meaning of an answer: a device is forgotten only if the answer says so about its token.
fn reply_of(answer: EndpointResponse, reason: &str) -> ApnsReply {
    ApnsReply::Is(match (answer.status, reason) {
        (200, _) => Outcome::Taken,
        (410, _) => Outcome::Gone,
        (400, "BadDeviceToken" | "DeviceTokenNotForTopic") => Outcome::Foreign,
        (403, _) | (400, "BadTopic" | "TopicDisallowed") | (429, "TooManyProviderTokenUpdates") => {
            return ApnsReply::NotAllowed;
        }
        (400 | 413, _) => Outcome::Refused,
        _ => Outcome::later(answer),
    })
}

/// Leaves out the key.
impl fmt::Debug for Apns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Apns").field("topic", &self.settings.topic).field("host", &self.host).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
    use time::{Duration, macros::datetime};

    use super::{super::vapid::new_vapid_key, *};

    #[test]
    fn all_processes_have_the_same_claims_for_half_an_hour() {
        let file = json!({ "team_id": "ABCDE12345", "key_id": "FGHIJ67890", "key_file": "a", "topic": "com.example" });
        let settings = ApnsSettings::parse(&file.to_string(), |_| Ok(new_vapid_key())).expect("settings");
        let apns = Apns::new(settings, "https://apns.example").expect("a service");
        let noon = datetime!(2026-11-26 12:00 UTC);
        let at = |minutes: i64| apns.authorization(noon + Duration::minutes(minutes)).expect("a token");
        let issued_at = |token: &HeaderValue| {
            let claims = token.to_str().ok().and_then(|text| text.split('.').nth(1)).expect("claims");
            let claims = BASE64_URL_SAFE_NO_PAD.decode(claims).expect("Base64");
            serde_json::from_slice::<Value>(&claims).expect("JSON")["iat"].as_i64().expect("a time")
                - noon.unix_timestamp()
        };
        let first = at(4);
        assert_eq!((at(29), issued_at(&first)), (first.clone(), 0));
        assert_eq!(issued_at(&at(30)), 1800);
        // A clock that is set back.
        assert_eq!(issued_at(&at(-1)), -1800);
    }
}
