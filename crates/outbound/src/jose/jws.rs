//! A signed token in its compact form (RFC 7515): its header, its signature, and its claims as they came. Knows no claim.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::Value;
use thiserror::Error;

use super::keys::{Algorithm, KeySet};

/// Why a text is no token that may be verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum JwsError {
    #[error("it is too long")]
    TooLong,
    #[error("it is no three parts in base64url, the first two of them JSON objects")]
    NoJws,
    #[error("a member of its header has the wrong type, or is there twice, or alg is missing")]
    Header,
    #[error("its algorithm is not accepted")]
    Algorithm,
    /// Extensions that every reader must know (section 4.1.11). This one knows none.
    #[error("its header has crit")]
    Critical,
}

/// Why the claims are not those that are expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// The claims are no JSON object.
    NoJson,
    /// A member is missing, has the wrong type, or is there twice.
    Members,
}

/// A token that was read. Nothing of it counts before its signature is verified.
#[derive(Debug)]
pub struct Signed<'a> {
    kid: Option<String>,
    pub algorithm: Algorithm,
    /// The type, as the header has it.
    pub typ: Option<String>,
    /// The signed message: the first two parts.
    message: &'a str,
    signature: Vec<u8>,
    claims: Vec<u8>,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    typ: Option<String>,
    /// The field counts as present even if it is null.
    #[serde(default, deserialize_with = "present")]
    crit: Option<Value>,
}

impl<'a> Signed<'a> {
    /// Reads a token of at most `bytes_max` bytes that is signed with one of these algorithms.
    pub fn read(token: &'a str, bytes_max: usize, accepted: &[Algorithm]) -> Result<Self, JwsError> {
        if token.len() > bytes_max {
            return Err(JwsError::TooLong);
        }
        let (message, signature) = token.rsplit_once('.').ok_or(JwsError::NoJws)?;
        let (header, claims) = message.split_once('.').ok_or(JwsError::NoJws)?;
        let header: Header = parse(&decode(header)?).map_err(|misfit| match misfit {
            Misfit::NoJson => JwsError::NoJws,
            Misfit::Members => JwsError::Header,
        })?;
        if header.crit.is_some() {
            return Err(JwsError::Critical);
        }
        let algorithm = Algorithm::of(&header.alg).filter(|algorithm| accepted.contains(algorithm));
        Ok(Self {
            algorithm: algorithm.ok_or(JwsError::Algorithm)?,
            kid: header.kid,
            typ: header.typ,
            message,
            signature: decode(signature)?,
            claims: decode(claims)?,
        })
    }

    /// Whether a key of the set may have signed the token.
    pub fn is_of(&self, keys: &KeySet) -> bool {
        keys.has_key(self.kid.as_deref(), self.algorithm)
    }

    /// Whether a key of the set has signed the token.
    pub fn is_by(&self, keys: &KeySet) -> bool {
        keys.verifies(self.kid.as_deref(), self.algorithm, self.message.as_bytes(), &self.signature)
    }

    /// The claims.
    pub fn claims<C: DeserializeOwned>(&self) -> Result<C, Misfit> {
        parse(&self.claims)
    }
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// A part of a token.
fn parse<T: DeserializeOwned>(json: &[u8]) -> Result<T, Misfit> {
    // serde would also take a list in the order of the fields.
    if json.trim_ascii_start().first() != Some(&b'{') {
        return Err(Misfit::NoJson);
    }
    serde_json::from_slice(json).map_err(|error| if error.is_data() { Misfit::Members } else { Misfit::NoJson })
}

fn decode(part: &str) -> Result<Vec<u8>, JwsError> {
    BASE64_URL_SAFE_NO_PAD.decode(part).map_err(|_| JwsError::NoJws)
}
