//! A signed token of another issuer (RFC 7515, RFC 7519): its parts, its claims, its signature and its times. Knows no key set's address.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::Value;
use thiserror::Error;
use time::OffsetDateTime;

use super::keys::{Algorithm, KeySet};

/// The longest token that is read, in bytes: those of providers that put groups and rights into it.
pub const TOKEN_BYTES_MAX: usize = 8192;

/// The most audiences of a token.
const AUDIENCES_MAX: usize = 16;

/// The longest `iss` and `aud`, in bytes, as the operator names them.
const NAME_BYTES_MAX: usize = 255;

/// The tolerated difference between the clocks of the issuer and of this server, in seconds.
const CLOCK_LEEWAY_S: f64 = 60.0;

/// What the header's `typ` may be: a token without a type, a JWT, or an access token (RFC 9068). Not a logout token, nor a token for another use.
const TYPES: [&str; 2] = ["jwt", "at+jwt"];

/// Why a token is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TokenError {
    #[error("the subject token has more than {TOKEN_BYTES_MAX} bytes")]
    TooLong,
    #[error("the subject token is no signed JWT: three parts in base64url, the first two of them JSON objects")]
    NoJwt,
    #[error("a member of the subject token's header has the wrong type, or is there twice, or alg is missing")]
    Header,
    #[error("the subject token's alg is none of RS256, PS256, ES256, EdDSA")]
    Algorithm,
    #[error("the subject token's typ is neither JWT nor at+jwt")]
    Type,
    #[error("the subject token's header has crit: this server knows no extension")]
    Critical,
    #[error(
        "the subject token lacks a claim, or one has the wrong type or is too long: iss, aud, sub and exp are needed"
    )]
    Claims,
    #[error("the subject token's signature is not by a key of its issuer")]
    Signature,
    #[error("the subject token has expired")]
    Expired,
    #[error("the subject token is not valid yet: its nbf or iat is in the future")]
    Early,
}

/// A token that was read. Its claims count only once its signature is verified.
#[derive(Debug)]
pub struct SubjectToken<'a> {
    kid: Option<String>,
    algorithm: Algorithm,
    /// What is signed: the first two parts.
    message: &'a str,
    signature: Vec<u8>,
    pub issuer: String,
    pub audiences: Vec<String>,
    pub subject: String,
    pub name: Option<String>,
    expires_at: f64,
    not_before: Option<f64>,
    issued_at: Option<f64>,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    typ: Option<String>,
    /// Extensions that every reader must know (RFC 7515, section 4.1.11). Present also if it is null.
    #[serde(default, deserialize_with = "present")]
    crit: Option<Value>,
}

#[derive(Deserialize)]
struct Claims {
    iss: String,
    aud: Audiences,
    sub: String,
    exp: f64,
    nbf: Option<f64>,
    iat: Option<f64>,
    /// Of any type: a name is not needed.
    name: Option<Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Audiences {
    One(String),
    Many(Vec<String>),
}

impl<'a> SubjectToken<'a> {
    /// Reads a token. Nothing of it is verified.
    pub fn read(token: &'a str) -> Result<Self, TokenError> {
        if token.len() > TOKEN_BYTES_MAX {
            return Err(TokenError::TooLong);
        }
        let (message, signature) = token.rsplit_once('.').ok_or(TokenError::NoJwt)?;
        let (header, claims) = message.split_once('.').ok_or(TokenError::NoJwt)?;
        let header: Header = parse(header, TokenError::Header)?;
        let algorithm = header.check()?;
        let claims: Claims = parse(claims, TokenError::Claims)?;
        let audiences = match claims.aud {
            Audiences::One(audience) => vec![audience],
            Audiences::Many(audiences) => audiences,
        };
        let is_short = |name: &String| name.len() <= NAME_BYTES_MAX && !name.contains('\0');
        if audiences.len() > AUDIENCES_MAX || !audiences.iter().chain([&claims.iss]).all(is_short) {
            return Err(TokenError::Claims);
        }
        Ok(Self {
            algorithm,
            kid: header.kid,
            message,
            signature: decode(signature)?,
            issuer: claims.iss,
            audiences,
            subject: claims.sub,
            name: claims.name.as_ref().and_then(Value::as_str).map(ToOwned::to_owned),
            expires_at: claims.exp,
            not_before: claims.nbf,
            issued_at: claims.iat,
        })
    }

    /// Whether a key of the set may have signed the token.
    pub fn is_of(&self, keys: &KeySet) -> bool {
        keys.has_key(self.kid.as_deref(), self.algorithm)
    }

    /// Checks that a key of the set has signed the token, and that it is valid now.
    pub fn verify(&self, keys: &KeySet, now: OffsetDateTime) -> Result<(), TokenError> {
        if !keys.verifies(self.kid.as_deref(), self.algorithm, self.message.as_bytes(), &self.signature) {
            return Err(TokenError::Signature);
        }
        #[expect(clippy::cast_precision_loss, reason = "a second of some thousand years is exact")]
        let now = now.unix_timestamp() as f64;
        if self.expires_at <= now - CLOCK_LEEWAY_S {
            return Err(TokenError::Expired);
        }
        let is_future = |at: f64| at > now + CLOCK_LEEWAY_S;
        if self.not_before.is_some_and(is_future) || self.issued_at.is_some_and(is_future) {
            return Err(TokenError::Early);
        }
        Ok(())
    }
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

fn decode(part: &str) -> Result<Vec<u8>, TokenError> {
    BASE64_URL_SAFE_NO_PAD.decode(part).map_err(|_| TokenError::NoJwt)
}

/// A part of a token. `misfit` says that it is JSON, and not what it must be: a member is there twice, for example.
fn parse<T: DeserializeOwned>(part: &str, misfit: TokenError) -> Result<T, TokenError> {
    let json = decode(part)?;
    // serde would also take a list in the order of the fields.
    if json.trim_ascii_start().first() != Some(&b'{') {
        return Err(TokenError::NoJwt);
    }
    serde_json::from_slice(&json).map_err(|error| if error.is_data() { misfit } else { TokenError::NoJwt })
}

impl Header {
    fn check(&self) -> Result<Algorithm, TokenError> {
        let is_known = |typ: &str| {
            let typ = typ.to_ascii_lowercase();
            TYPES.contains(&typ.strip_prefix("application/").unwrap_or(&typ))
        };
        if self.crit.is_some() {
            return Err(TokenError::Critical);
        }
        if !self.typ.as_deref().is_none_or(is_known) {
            return Err(TokenError::Type);
        }
        Algorithm::of(&self.alg).ok_or(TokenError::Algorithm)
    }
}
