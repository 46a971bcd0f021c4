//! Creations that may be sent again: the header `Idempotency-Key`, and the answer that is kept under it.

use std::future::{Ready, ready};

pub use crate::db::idempotency::StoredAnswer as Answer;
use actix_web::{
    FromRequest, HttpRequest, HttpResponse,
    dev::Payload,
    http::header::{self, ContentType, HeaderName, HeaderValue},
};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::{
    clock::now,
    db::idempotency::{self, Keyed},
    domain::PlayerId,
    http::{
        answer::{
            headers::{NOT_KEPT, VARIES},
            problem::{Code, Problem},
        },
        state::AppState,
        view::wire::ALWAYS_JSON,
    },
};

static IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

static IDEMPOTENT_REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// The longest key, in characters: any UUID, hash or sentence.
const KEY_CHARS_MAX: usize = 255;

/// The key of a request that may be sent again, if it has one.
#[derive(Clone, Debug)]
pub struct IdempotencyKey(Option<String>);

impl FromRequest for IdempotencyKey {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let mut values = request.headers().get_all(&IDEMPOTENCY_KEY);
        let Some(value) = values.next() else { return ready(Ok(Self(None))) };
        let key = value.to_str().unwrap_or_default().trim();
        let is_key = (1..=KEY_CHARS_MAX).contains(&key.len()) && values.next().is_none();
        ready(is_key.then(|| Self(Some(key.to_owned()))).ok_or_else(|| {
            Problem::invalid(
                "Idempotency-Key",
                format!("a key has 1 to {KEY_CHARS_MAX} ASCII characters, and comes once"),
            )
        }))
    }
}

/// A creation under a key.
#[derive(Clone, Debug)]
pub struct KeyedRequest {
    player: PlayerId,
    key: String,
    request_hash: [u8; 32],
}

impl KeyedRequest {
    /// The request that says `asked` at `path`, if it has a key.
    pub fn of(key: IdempotencyKey, player: PlayerId, path: &str, asked: &impl Serialize) -> Option<Self> {
        let asked = serde_json::to_vec(&(path, asked)).expect(ALWAYS_JSON);
        key.0.map(|key| Self { player, key, request_hash: Sha256::digest(asked).into() })
    }

    /// What was answered before to this request, if anything. Something else under the same key is refused.
    pub async fn replay(&self, state: &AppState) -> Result<Option<HttpResponse>, Problem> {
        Ok(self.known(state).await?.map(|answer| replayed(&answer)))
    }

    /// The answer that is kept for this request, if any.
    pub async fn known(&self, state: &AppState) -> Result<Option<Answer>, Problem> {
        let Some((answer, request_hash)) = idempotency::find(&state.db, self.player, &self.key, now()).await? else {
            return Ok(None);
        };
        if request_hash != self.request_hash {
            let detail = "this key was used for another request; a new request needs a new key";
            return Err(Problem::new(Code::IdempotencyKeyReused, detail));
        }
        Ok(Some(answer))
    }

    /// The request with its answer, as it is stored.
    pub fn keep(&self, answer: &Answer) -> Keyed {
        let Self { player, key, request_hash } = self.clone();
        Keyed { player, key, request_hash, answer: answer.clone() }
    }
}

/// The answer to a creation that was answered before.
pub fn replayed(answer: &Answer) -> HttpResponse {
    let mut response = created(answer);
    response.headers_mut().insert(IDEMPOTENT_REPLAYED.clone(), HeaderValue::from_static("true"));
    response
}

/// The answer to a creation, the first time and every other.
pub fn created(answer: &Answer) -> HttpResponse {
    // What made several things is at no address.
    let mut response = if answer.location.is_empty() { HttpResponse::Ok() } else { HttpResponse::Created() };
    response.insert_header(ContentType::json());
    if !answer.location.is_empty() {
        response.insert_header((header::LOCATION, answer.location.as_str()));
    }
    // What is not asked for again by its state has no tag.
    if !answer.etag.is_empty() {
        response.insert_header((header::ETAG, answer.etag.as_str()));
    }
    response.insert_header(NOT_KEPT).insert_header(VARIES).body(answer.body.clone())
}
