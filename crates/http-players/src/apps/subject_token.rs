//! A signed token of another issuer (RFC 7515, RFC 7519): its claims and its times. Knows no key set's address.

use mancala_outbound::jose::{Algorithm, Audiences, JwsError, KeySet, Misfit, Signed, Times, Untimely};
use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;
use time::OffsetDateTime;

/// The accepted algorithms: those of providers that companies sign in by.
const ACCEPTED: [Algorithm; 4] = [Algorithm::Rs256, Algorithm::Ps256, Algorithm::Es256, Algorithm::EdDsa];

/// The longest token that is read, in bytes: those of providers that put groups and rights into it.
pub const TOKEN_BYTES_MAX: usize = 8192;

/// The most audiences of a token.
const AUDIENCES_MAX: usize = 16;

/// The longest `iss` and `aud`, in bytes, as the operator names them.
const NAME_BYTES_MAX: usize = 255;

/// The accepted values of the header's `typ`: a token without a type is accepted, and a JWT, and an access token (RFC 9068). Refused are
/// logout tokens and tokens for other uses.
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
    signed: Signed<'a>,
    pub issuer: String,
    pub audiences: Vec<String>,
    pub subject: String,
    pub name: Option<String>,
    times: Times,
}

#[derive(Deserialize)]
struct Claims {
    iss: String,
    aud: Audiences,
    sub: String,
    exp: f64,
    nbf: Option<f64>,
    iat: Option<f64>,
    /// The player's name, of any JSON type: a token may do without one.
    name: Option<Value>,
}

impl<'a> SubjectToken<'a> {
    /// Reads a token. Nothing of it is verified.
    pub fn read(token: &'a str) -> Result<Self, TokenError> {
        let signed = Signed::read(token, TOKEN_BYTES_MAX, &ACCEPTED).map_err(|error| match error {
            JwsError::TooLong => TokenError::TooLong,
            JwsError::NoJws => TokenError::NoJwt,
            JwsError::Header => TokenError::Header,
            JwsError::Algorithm => TokenError::Algorithm,
            JwsError::Critical => TokenError::Critical,
        })?;
        check_type(signed.typ.as_deref())?;
        let claims: Claims = signed.claims().map_err(|misfit| match misfit {
            Misfit::NoJson => TokenError::NoJwt,
            Misfit::Members => TokenError::Claims,
        })?;
        let Audiences(audiences) = claims.aud;
        let is_short = |name: &String| name.len() <= NAME_BYTES_MAX && !name.contains('\0');
        if audiences.len() > AUDIENCES_MAX || !audiences.iter().chain([&claims.iss]).all(is_short) {
            return Err(TokenError::Claims);
        }
        Ok(Self {
            signed,
            issuer: claims.iss,
            audiences,
            subject: claims.sub,
            name: claims.name.as_ref().and_then(Value::as_str).map(ToOwned::to_owned),
            times: Times { expires_at: claims.exp, not_before: claims.nbf, issued_at: claims.iat },
        })
    }

    /// Whether a key of the set may have signed the token.
    pub fn is_of(&self, keys: &KeySet) -> bool {
        self.signed.is_of(keys)
    }

    /// Checks that a key of the set has signed the token, and that it is valid now.
    pub fn verify(&self, keys: &KeySet, now: OffsetDateTime) -> Result<(), TokenError> {
        if !self.signed.is_by(keys) {
            return Err(TokenError::Signature);
        }
        self.times.check(now).map_err(|untimely| match untimely {
            Untimely::Expired => TokenError::Expired,
            Untimely::Early => TokenError::Early,
        })
    }
}

/// Refuses a token for another use.
fn check_type(typ: Option<&str>) -> Result<(), TokenError> {
    let is_known = |typ: &str| {
        let typ = typ.to_ascii_lowercase();
        TYPES.contains(&typ.strip_prefix("application/").unwrap_or(&typ))
    };
    if typ.is_none_or(is_known) { Ok(()) } else { Err(TokenError::Type) }
}
