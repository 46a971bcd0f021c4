//! Access tokens: JWTs signed with Ed25519, the keys that sign and verify them, and the caller that a token names.

use std::{collections::HashMap, fmt, fs, io, ops::Not, path::Path};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use ed25519_dalek::{
    SigningKey, VerifyingKey,
    pkcs8::{
        DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey, KeypairBytes, spki::der::pem::LineEnding,
    },
};
use jsonwebtoken::{
    Algorithm, DecodingKey, EncodingKey, Header, Validation,
    jwk::{
        AlgorithmParameters, CommonParameters, EllipticCurve, Jwk, JwkSet, KeyAlgorithm, OctetKeyPairParameters,
        OctetKeyPairType, PublicKeyUse, ThumbprintHash,
    },
};
use mancala_db::players::kept_suspensions::PersonKey;
use mancala_domain::PlayerId;
use quick_cache::sync::Cache;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use sha2::{Digest, Sha256};
use thiserror::Error;
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use super::{
    key_file::{self, KeyFileError, Links},
    signatures,
};

/// How long an access token is valid.
pub const ACCESS_TOKEN_LIFETIME: Duration = Duration::minutes(15);

/// The tolerated difference between the clocks of two servers, in seconds: each goes by the database's clock, unless it has not
/// answered since the start.
const CLOCK_LEEWAY_S: u64 = 60;

/// The longest token that is read; ours are shorter.
const TOKEN_BYTES_MAX: usize = 2048;

/// The size of the cache of verified tokens: those of all current callers, at some 100 bytes each.
const VERIFIED_MAX: usize = 16_384;

/// Signs and verifies access tokens.
pub struct Tokens {
    signing: EncodingKey,
    /// The keys that are accepted, by their `kid`.
    verifying: HashMap<String, DecodingKey>,
    /// The callers of verified tokens, by the tokens' SHA-256. Verifying a signature takes longer than the rest of this process's
    /// work for a move.
    verified: Cache<[u8; 32], Verified>,
    public_keys: JwkSet,
    header: Header,
    validation: Validation,
    issuer: String,
    audience: String,
    cursor_key: [u8; 32],
    network_key: [u8; 32],
    mail_key: [u8; 32],
    person_key: [u8; 32],
}

/// The player who calls. As an extractor, it refuses requests without a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    pub player: PlayerId,
    /// The version of the player's credentials when the token was issued: see `request::player::find`.
    pub credentials_version: i32,
    /// Whether the player was a guest when the token was issued, so that limits are chosen without a query. A guest who sets a
    /// password gets new tokens.
    pub is_guest: bool,
    /// Whether the player was a new account, which shares limits like a guest. Tokens that are issued later no longer say so.
    pub is_new: bool,
    /// The sign-in of the token; `None` for players of apps, and for tokens of releases that named none.
    pub sign_in: Option<Uuid>,
    /// When the player last proved who it is, as a Unix timestamp: when the sign-in began. `None` as above.
    pub auth_time: Option<i64>,
}

impl Caller {
    /// Whether the player is free, so that all such players of an address share limits.
    pub const fn shares_limits(self) -> bool {
        self.is_guest || self.is_new
    }
}

/// A public key whose tokens are accepted.
#[derive(Clone)]
pub struct PublicKey(VerifyingKey);

/// Why a key cannot be used.
#[derive(Debug, Error)]
pub enum KeyError {
    #[error("the signing key {path} cannot be used: {source}")]
    Unreadable { path: String, source: KeyFileError },
    #[error("{variable} names a file, and is not the key itself: there is no such file")]
    NoFile { variable: &'static str },
    #[error(
        "the signing key {path} is no Ed25519 private key in PKCS #8 PEM; leave that file as it is, and make one in a file that does \
         not exist yet: openssl genpkey -algorithm ed25519 -out mancala-jwt.pem"
    )]
    NotEd25519 { path: String },
    #[error("the signing key {path} cannot be made: {source}")]
    Unwritable { path: String, source: io::Error },
    #[error("the public key {path} cannot be read: {source}")]
    PublicUnreadable { path: String, source: io::Error },
    #[error(
        "the public key {path} is no Ed25519 public key in PEM (SPKI); get it from its private key with: openssl pkey -in \
         private.pem -pubout -out public.pem"
    )]
    NotPublicEd25519 { path: String },
}

/// The claims of a token.
#[derive(Debug, Serialize, Deserialize)]
struct Claims {
    iss: String,
    aud: String,
    sub: Uuid,
    /// The version of the player's credentials at the time of issue. A token older than the password cannot change the account.
    #[serde(default)]
    cv: i32,
    /// Tokens of earlier releases have none: they count as those of guests.
    #[serde(default)]
    kind: Kind,
    /// Whether the account is new. Tokens of earlier releases do not say so.
    #[serde(default, skip_serializing_if = "Not::not")]
    new: bool,
    /// The sign-in. Tokens of earlier releases, and of players of apps, have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sid: Option<Uuid>,
    /// When the sign-in began, as in OpenID Connect: a refresh keeps it. Tokens of earlier releases, and of players of apps, have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    auth_time: Option<i64>,
    iat: i64,
    exp: i64,
}

/// The kind of the player that a token names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    #[default]
    Guest,
    Account,
}

impl Kind {
    pub const fn of(caller: Caller) -> Self {
        if caller.is_guest { Self::Guest } else { Self::Account }
    }

    pub const fn is_guest(self) -> bool {
        matches!(self, Self::Guest)
    }
}

/// The caller of a verified token, and its last valid second as a Unix timestamp.
#[derive(Clone, Copy)]
struct Verified {
    caller: Caller,
    until: i64,
}

impl Tokens {
    /// Signs with the key in a PEM file, which only the server's user and root may open.
    pub fn from_file(path: &Path, issuer: &str, audience: &str) -> Result<Self, KeyError> {
        Self::read_from(path, Links::Followed, issuer, audience)
    }

    /// Signs with the server's own key in a PEM file. Creates a missing file, readable by its owner only.
    pub fn from_file_or_new(path: &Path, issuer: &str, audience: &str) -> Result<Self, KeyError> {
        match key_file::write_new(path, &new_key()) {
            Err(source) if source.kind() != io::ErrorKind::AlreadyExists => {
                Err(KeyError::Unwritable { path: path.display().to_string(), source })
            }
            Ok(()) | Err(_) => Self::read_from(path, Links::Refused, issuer, audience),
        }
    }

    fn read_from(path: &Path, links: Links, issuer: &str, audience: &str) -> Result<Self, KeyError> {
        let name = || path.display().to_string();
        let pem = key_file::read(path, links).map_err(|source| {
            let no_file = KeyError::NoFile { variable: "JWT_PRIVATE_KEY_FILE" };
            if may_be_shown(path) { KeyError::Unreadable { path: name(), source } } else { no_file }
        })?;
        Self::from_pem(&pem, issuer, audience).ok_or_else(|| KeyError::NotEd25519 { path: name() })
    }

    /// Signs with a private key in PKCS #8 PEM; `None` if it is no Ed25519 key.
    pub fn from_pem(pem: &str, issuer: &str, audience: &str) -> Option<Self> {
        signatures::install();
        let key = SigningKey::from_pkcs8_pem(pem).ok()?;
        let (kid, jwk, verifying) = PublicKey(key.verifying_key()).published()?;
        let signing = EncodingKey::from_ed_der(without_public_key(&key).to_pkcs8_der().ok()?.as_bytes());
        let mut validation = Validation::new(Algorithm::EdDSA);
        // The library checks times by the machine's clock; `is_current` checks them by the server's clock.
        validation.validate_exp = false;
        validation.set_issuer(&[issuer]);
        validation.set_audience(&[audience]);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        let derived =
            |purpose: &str| Sha256::new().chain_update(purpose).chain_update(key.to_bytes()).finalize().into();
        Some(Self {
            verifying: HashMap::from([(kid.clone(), verifying)]),
            verified: Cache::new(VERIFIED_MAX),
            public_keys: JwkSet { keys: vec![jwk] },
            header: Header { kid: Some(kid), ..Header::new(Algorithm::EdDSA) },
            signing,
            validation,
            issuer: issuer.to_owned(),
            audience: audience.to_owned(),
            cursor_key: derived("mancala-server cursors\0"),
            network_key: derived("mancala-server networks\0"),
            mail_key: derived("mancala-server mail\0"),
            person_key: derived("mancala-server persons\0"),
        })
    }

    /// Also accepts tokens of these keys, for key rotation.
    #[must_use]
    pub fn accepting(mut self, keys: &[PublicKey]) -> Self {
        for key in keys {
            let (kid, jwk, verifying) = key.published().expect("an Ed25519 key always has a JWK");
            if self.verifying.insert(kid, verifying).is_none() {
                self.public_keys.keys.push(jwk);
            }
        }
        self
    }

    /// A token for a caller, valid for 15 minutes.
    pub fn issue(&self, caller: Caller, now: OffsetDateTime) -> String {
        let claims = Claims {
            iss: self.issuer.clone(),
            aud: self.audience.clone(),
            sub: caller.player.0,
            cv: caller.credentials_version,
            kind: Kind::of(caller),
            new: caller.is_new,
            sid: caller.sign_in,
            auth_time: caller.auth_time,
            iat: now.unix_timestamp(),
            exp: (now + ACCESS_TOKEN_LIFETIME).unix_timestamp(),
        };
        jsonwebtoken::encode(&self.header, &claims, &self.signing).expect("the key was checked when it was read")
    }

    /// The key that encrypts cursors, which all servers with the same signing key share.
    pub const fn cursor_key(&self) -> [u8; 32] {
        self.cursor_key
    }

    /// The key that hashes the networks of guests, which all servers with the same signing key share.
    pub const fn network_key(&self) -> [u8; 32] {
        self.network_key
    }

    /// The key that hashes the recipients of mails, which all servers with the same signing key share.
    pub const fn mail_key(&self) -> [u8; 32] {
        self.mail_key
    }

    /// The key that hashes the persons of erased players who were suspended, which all servers with the same signing key share.
    pub const fn person_key(&self) -> PersonKey {
        PersonKey(self.person_key)
    }

    /// The public keys with which other services verify tokens (RFC 7517).
    pub const fn public_keys(&self) -> &JwkSet {
        &self.public_keys
    }

    /// The caller that a token names, if an accepted key signed it with this algorithm and it has not expired.
    pub fn verify(&self, token: &[u8], now: OffsetDateTime) -> Option<Caller> {
        if token.len() > TOKEN_BYTES_MAX {
            return None;
        }
        let hash = Sha256::digest(token).into();
        if let Some(Verified { caller, until }) = self.verified.get(&hash) {
            return (now.unix_timestamp() <= until).then_some(caller);
        }
        let claims: Claims = self.claims(token, jsonwebtoken::decode_header(token).ok()?, &self.validation, now)?;
        let caller = Caller {
            player: PlayerId(claims.sub),
            credentials_version: claims.cv,
            is_guest: claims.kind.is_guest(),
            is_new: claims.new,
            sign_in: claims.sid,
            auth_time: claims.auth_time,
        };
        self.verified.insert(hash, Verified { caller, until: claims.exp.saturating_add_unsigned(CLOCK_LEEWAY_S) });
        Some(caller)
    }

    /// The claims of a token that an accepted key signed, and that is valid now: neither expired nor issued in the future.
    fn claims<C: DeserializeOwned>(
        &self,
        token: &[u8],
        header: Header,
        validation: &Validation,
        now: OffsetDateTime,
    ) -> Option<C> {
        // `crit` names extensions that every reader must know (RFC 7515, section 4.1.11). This one knows none.
        if header.crit.is_some() {
            return None;
        }
        let key = self.verifying.get(&header.kid?)?;
        let claims = jsonwebtoken::decode::<Value>(token, key, validation).ok()?.claims;
        if is_current(&claims, now) { serde_json::from_value(claims).ok() } else { None }
    }
}

/// Whether a token's times include the present one: it has not expired, was not issued in the future, and is valid already.
fn is_current(claims: &Value, now: OffsetDateTime) -> bool {
    let (earliest, latest) = (
        now.unix_timestamp().saturating_sub_unsigned(CLOCK_LEEWAY_S),
        now.unix_timestamp().saturating_add_unsigned(CLOCK_LEEWAY_S),
    );
    let is_past = |claim: &str| claims.get(claim).is_none_or(|at| at.as_i64().is_some_and(|at| at <= latest));
    let expires_at = claims.get("exp").and_then(Value::as_i64);
    expires_at.is_some_and(|at| at >= earliest) && is_past("iat") && is_past("nbf")
}

/// Tokens of other kinds, signed with the same keys.
impl Tokens {
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// The audience of tokens of another kind, which differs from that of access tokens.
    pub fn audience_of(&self, kind: &str) -> String {
        format!("{}/{kind}", self.audience)
    }

    pub fn sign(&self, kind: &str, claims: &impl Serialize) -> String {
        let header = Header { typ: Some(kind.to_owned()), ..self.header.clone() };
        jsonwebtoken::encode(&header, claims, &self.signing).expect("the key was checked when it was read")
    }

    /// The claims of a token of another kind, if an accepted key signed it for this audience and it has not expired.
    pub fn verify_other<C: DeserializeOwned>(
        &self,
        token: &[u8],
        kind: &str,
        audience: &str,
        now: OffsetDateTime,
    ) -> Option<C> {
        if token.len() > TOKEN_BYTES_MAX {
            return None;
        }
        let header = jsonwebtoken::decode_header(token).ok().filter(|header| header.typ.as_deref() == Some(kind))?;
        let mut validation = self.validation.clone();
        validation.set_audience(&[audience]);
        self.claims(token, header, &validation, now)
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens").field("issuer", &self.issuer).field("audience", &self.audience).finish_non_exhaustive()
    }
}

impl PublicKey {
    /// The key in a PEM file.
    pub fn from_file(path: &Path) -> Result<Self, KeyError> {
        let name = || path.display().to_string();
        let pem = fs::read_to_string(path).map_err(|source| {
            let no_file = KeyError::NoFile { variable: "JWT_PUBLIC_KEY_FILES" };
            if may_be_shown(path) { KeyError::PublicUnreadable { path: name(), source } } else { no_file }
        })?;
        Self::from_pem(&pem).ok_or_else(|| KeyError::NotPublicEd25519 { path: name() })
    }

    /// A public key in SPKI PEM; `None` if it is no Ed25519 key, or a weak one that verifies forged signatures.
    pub fn from_pem(pem: &str) -> Option<Self> {
        let key = VerifyingKey::from_public_key_pem(pem).ok()?;
        (!key.is_weak()).then_some(Self(key))
    }

    /// The public key of a private key in PKCS #8 PEM, in SPKI PEM.
    pub fn pem_of(private_pem: &str) -> Option<String> {
        SigningKey::from_pkcs8_pem(private_pem).ok()?.verifying_key().to_public_key_pem(LineEnding::LF).ok()
    }

    /// Its id, its published form, and the key that verifies.
    fn published(&self) -> Option<(String, Jwk, DecodingKey)> {
        signatures::install();
        let x = BASE64_URL_SAFE_NO_PAD.encode(self.0.as_bytes());
        let mut jwk = Jwk {
            common: CommonParameters {
                public_key_use: Some(PublicKeyUse::Signature),
                key_algorithm: Some(KeyAlgorithm::EdDSA),
                ..CommonParameters::default()
            },
            algorithm: AlgorithmParameters::OctetKeyPair(OctetKeyPairParameters {
                key_type: OctetKeyPairType::OctetKeyPair,
                curve: EllipticCurve::Ed25519,
                x,
            }),
        };
        let kid = jwk.thumbprint(ThumbprintHash::SHA256).ok()?;
        jwk.common.key_id = Some(kid.clone());
        let verifying = DecodingKey::from_jwk(&jwk).ok()?;
        Some((kid, jwk, verifying))
    }
}

/// Whether an unreadable path may be shown in an error. A secret in the wrong place must not be: a key, with
/// or without its PEM lines, or a URL with a password.
fn may_be_shown(path: &Path) -> bool {
    let text = path.to_string_lossy();
    let is_one_line = !text.contains(|c: char| c.is_control());
    is_one_line && !["-----BEGIN", "MC4CAQAw", "://", "@"].iter().any(|sign| text.contains(sign))
}

/// Makes an Ed25519 private key in PKCS #8 PEM.
pub fn new_key() -> String {
    let key = SigningKey::from_bytes(&rand::random());
    without_public_key(&key).to_pkcs8_pem(LineEnding::LF).expect("an Ed25519 key always has a PKCS #8 form").to_string()
}

/// The first version of PKCS #8, which holds the private key alone and which every reader knows.
fn without_public_key(key: &SigningKey) -> KeypairBytes {
    KeypairBytes { secret_key: key.to_bytes(), public_key: None }
}
