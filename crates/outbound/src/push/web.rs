//! Web Push (RFC 8030): one request to the push service that a browser has named.

use std::{fmt, sync::Arc};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use hyper::{
    body::Bytes,
    header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};
use serde_json::json;
use sha2::{Digest, Sha256};
use time::{Duration, OffsetDateTime};
use url::Url;

use super::{
    encryption::Subscription,
    notification::{Notification, Urgency},
    outcome::Outcome,
    vapid::VapidKey,
};
use crate::webhook::{EndpointResponse, Post};

/// How long a token is valid: less than the day that RFC 8292 allows, for clocks that differ.
const TOKEN_LIFE: Duration = Duration::hours(12);

/// Sends to browsers.
#[derive(Clone)]
pub struct WebPush {
    key: Arc<VapidKey>,
    /// Where the operator is reached: `mailto:` or `https:`.
    contact: String,
}

impl WebPush {
    pub fn new(key: VapidKey, contact: String) -> Self {
        Self { key: Arc::new(key), contact }
    }

    /// The key with which browsers subscribe (`applicationServerKey`).
    pub fn public_key(&self) -> String {
        self.key.public_key()
    }

    /// The request for a notification; `None` if the address or the keys are of no use.
    pub fn request(
        &self,
        address: &str,
        keys: &Subscription,
        notification: &Notification,
        now: OffsetDateTime,
    ) -> Option<Post> {
        let (title, body) = notification.texts();
        let mut message = json!({ "title": title, "body": body, "tag": notification.tag() });
        message["data"] = notification.data();
        let sealed = keys.seal(message.to_string().as_bytes()).ok()?;
        let urgency = match notification.urgency {
            Urgency::Normal => "normal",
            Urgency::High => "high",
        };
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, self.authorization(address, now)?);
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("aes128gcm"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
        headers.insert(HeaderName::from_static("ttl"), HeaderValue::from(notification.ttl_s(now)));
        headers.insert(HeaderName::from_static("urgency"), HeaderValue::from_static(urgency));
        headers.insert(HeaderName::from_static("topic"), HeaderValue::try_from(topic(address, notification)).ok()?);
        Some(Post { url: address.to_owned(), headers, body: Bytes::from(sealed) })
    }

    fn authorization(&self, address: &str, now: OffsetDateTime) -> Option<HeaderValue> {
        let origin = Url::parse(address).ok()?.origin().ascii_serialization();
        let claims = json!({ "aud": origin, "exp": (now + TOKEN_LIFE).unix_timestamp(), "sub": self.contact });
        let token = self.key.sign(&json!({}), &claims);
        let mut header = HeaderValue::try_from(format!("vapid t={token}, k={}", self.key.public_key())).ok()?;
        header.set_sensitive(true);
        Some(header)
    }
}

/// The topic by which a later notification replaces an earlier one that the browser has not got. A push service reads it, so it
/// tells nothing of the game, and differs from that of the opponent. It has at most 32 characters of Base64 for URLs.
fn topic(address: &str, notification: &Notification) -> String {
    let hash = Sha256::new().chain_update(address).chain_update([0]).chain_update(notification.tag()).finalize();
    BASE64_URL_SAFE_NO_PAD.encode(&hash[..24])
}

/// The meaning of a push service's answer. Any other answer counts as a temporary failure, because a player may name any address.
pub fn outcome_of(answer: EndpointResponse) -> Outcome {
    match answer.status {
        201 | 202 => Outcome::Taken,
        404 | 410 => Outcome::Gone,
        // The message is too large, or malformed to the push service.
        400 | 413 => Outcome::Refused,
        _ => Outcome::later(answer),
    }
}

impl fmt::Debug for WebPush {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebPush").field("contact", &self.contact).finish_non_exhaustive()
    }
}
