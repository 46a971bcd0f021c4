//! Idempotent creations: the header `Idempotency-Key`, and the answer that is stored under it.

use std::future::{Ready, ready};

use actix_web::{
    FromRequest, HttpRequest, HttpResponse,
    dev::Payload,
    http::header::{self, ContentType, HeaderName, HeaderValue},
};
use mancala_db::{
    idempotency::{self, Keyed},
    players::player_keys::PlayerKey,
};
use mancala_process::clock::now;
use mancala_wire::view::wire::ALWAYS_JSON;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::{
    answer::{
        code::Code,
        headers::{NOT_KEPT, VARIES},
        problem::Problem,
    },
    request::player,
    state::{AppState, tokens::Caller},
};

pub use mancala_db::idempotency::StoredAnswer as Answer;

static IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The header of an answer that was given before under the same key.
pub const REPLAYED: (&str, &str) = ("idempotent-replayed", "true");

/// The longest key, in characters: long enough for a UUID, a hash or a sentence.
const KEY_CHARS_MAX: usize = 255;

/// The request's idempotency key, if it has one.
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

/// The fewest characters of a key for a new player: it proves who the player is, so it is hard to guess.
const PLAYER_KEY_CHARS_MIN: usize = 32;

impl IdempotencyKey {
    /// The key of a request that creates a player, who is not known yet. The request may have a password, so the hash of it
    /// depends on the key, which is not stored.
    pub fn of_player(&self, body: &impl Serialize) -> Result<Option<PlayerKey>, Problem> {
        let Some(key) = &self.0 else { return Ok(None) };
        if key.len() < PLAYER_KEY_CHARS_MIN {
            let detail = format!("for a new player a key has at least {PLAYER_KEY_CHARS_MIN} random characters");
            return Err(Problem::invalid("Idempotency-Key", detail));
        }
        let hash = |kind: &str, rest: &[u8]| {
            Sha256::new().chain_update(kind).chain_update([0]).chain_update(key).chain_update([0]).chain_update(rest)
        };
        let body = serde_json::to_vec(body).expect(ALWAYS_JSON);
        Ok(Some(PlayerKey {
            key_hash: hash("player key", &[]).finalize().into(),
            request_hash: hash("player request", &body).finalize().into(),
        }))
    }

    /// Whether the request has a key.
    pub const fn is_given(&self) -> bool {
        self.0.is_some()
    }
}

/// A creation with an idempotency key.
#[derive(Clone, Debug)]
pub struct KeyedRequest {
    caller: Caller,
    key: String,
    request_hash: [u8; 32],
}

impl KeyedRequest {
    /// The request with `body` at `path`, if it has a key.
    pub fn of(key: IdempotencyKey, caller: Caller, path: &str, body: &impl Serialize) -> Option<Self> {
        let request = serde_json::to_vec(&(path, body)).expect(ALWAYS_JSON);
        key.0.map(|key| Self { caller, key, request_hash: Sha256::digest(request).into() })
    }

    /// The earlier answer to this request, if there is one. Another request under the same key is refused.
    pub async fn replay(&self, state: &AppState) -> Result<Option<HttpResponse>, Problem> {
        Ok(self.stored_answer(state).await?.map(|answer| replayed(&answer)))
    }

    /// The stored answer to this request, if there is one. The caller is checked first, because the answer may show a
    /// secret. Another reason is an erasure, which has the same effect as a key that is in use: the creation is not
    /// stored.
    pub async fn stored_answer(&self, state: &AppState) -> Result<Option<Answer>, Problem> {
        player::find(state, self.caller).await?;
        let Some((answer, request_hash)) = idempotency::find(&state.db, self.caller.player, &self.key, now()).await?
        else {
            return Ok(None);
        };
        if request_hash != self.request_hash {
            let detail = "this key was used for another request; a new request needs a new key";
            return Err(Problem::new(Code::IdempotencyKeyReused, detail));
        }
        Ok(Some(answer))
    }

    /// The request with its answer, for storing.
    pub fn keep(&self, answer: &Answer) -> Keyed {
        let Self { caller, key, request_hash } = self.clone();
        Keyed { player: caller.player, key, request_hash, answer: answer.clone() }
    }
}

/// The stored answer to a creation, marked as a replay.
pub fn replayed(answer: &Answer) -> HttpResponse {
    let mut response = created(answer);
    let (name, value) = REPLAYED;
    response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    response
}

/// The answer to a creation, the first one or a replay.
pub fn created(answer: &Answer) -> HttpResponse {
    // A request that creates several resources has no location.
    let mut response = if answer.location.is_empty() { HttpResponse::Ok() } else { HttpResponse::Created() };
    response.insert_header(ContentType::json());
    if !answer.location.is_empty() {
        response.insert_header((header::LOCATION, answer.location.as_str()));
    }
    // Answers without a version have no tag.
    if !answer.etag.is_empty() {
        response.insert_header((header::ETAG, answer.etag.as_str()));
    }
    response.insert_header(NOT_KEPT).insert_header(VARIES).body(answer.body.clone())
}
