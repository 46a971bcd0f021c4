//! ID tokens (OpenID Connect Core 1.0, section 3.1.3.7). A token is believed if its issuer signed it for this client, for this sign-in, and
//! a moment ago.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use time::OffsetDateTime;

use crate::jose::{Algorithm, Audiences, JwsError, KeySet, Signed, Times, Untimely, seconds};

/// The accepted algorithms: those of known issuers. `none`, and those with a shared secret, are not among them: a public key is no secret.
const ACCEPTED: [Algorithm; 2] = [Algorithm::Rs256, Algorithm::Es256];

/// The longest token that is read.
const TOKEN_BYTES_MAX: usize = 16 * 1024;

/// The longest `sub` (OpenID Connect Core 1.0, section 2).
const SUBJECT_BYTES_MAX: usize = 255;

/// How long ago a token may have been issued, in seconds: it was made for this very exchange.
const AGE_S_MAX: f64 = 600.0;

/// The claims that a token must have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected<'a> {
    pub issuer: &'a str,
    pub client_id: &'a str,
    pub nonce: &'a str,
    /// The access token that came with it.
    pub access_token: Option<&'a str>,
    pub now: OffsetDateTime,
}

#[derive(Deserialize)]
struct Claims {
    iss: String,
    sub: String,
    aud: Audiences,
    azp: Option<String>,
    exp: f64,
    iat: f64,
    nbf: Option<f64>,
    nonce: Option<String>,
    at_hash: Option<String>,
}

/// Reads a token. Nothing of it counts yet.
pub(super) fn read(token: &str) -> Result<Signed<'_>, &'static str> {
    Signed::read(token, TOKEN_BYTES_MAX, &ACCEPTED).map_err(|error| match error {
        JwsError::Algorithm => "the ID token's algorithm is not accepted",
        JwsError::TooLong | JwsError::NoJws | JwsError::Header | JwsError::Critical => "the ID token is malformed",
    })
}

/// The subject of a token: the issuer's own, lasting id of a person.
pub(super) fn verify(token: &Signed<'_>, keys: &KeySet, expected: Expected<'_>) -> Result<String, &'static str> {
    if !token.is_of(keys) {
        return Err("no key of the issuer has signed the ID token");
    }
    if !token.is_by(keys) {
        return Err("the ID token's signature is wrong");
    }
    let claims: Claims = token.claims().map_err(|_| "the ID token is malformed")?;
    claims.check(expected)?;
    Ok(claims.sub)
}

impl Claims {
    fn check(&self, expected: Expected<'_>) -> Result<(), &'static str> {
        if self.iss != expected.issuer {
            return Err("the ID token is of another issuer");
        }
        let Audiences(audiences) = &self.aud;
        // A token with several audiences must name its client as the authorized party.
        let is_for_us = audiences.iter().any(|audience| audience == expected.client_id)
            && (audiences.len() == 1 || self.azp.is_some());
        if !is_for_us || self.azp.as_ref().is_some_and(|party| party != expected.client_id) {
            return Err("the ID token is for another client");
        }
        let times = Times { expires_at: self.exp, not_before: self.nbf, issued_at: Some(self.iat) };
        let is_old = self.iat < seconds(expected.now) - AGE_S_MAX;
        match times.check(expected.now) {
            Err(Untimely::Expired) => return Err("the ID token has expired"),
            Err(Untimely::Early) => return Err("the ID token is of another time"),
            Ok(()) if is_old => return Err("the ID token is of another time"),
            Ok(()) => {}
        }
        if self.nonce.as_deref() != Some(expected.nonce) {
            return Err("the ID token is of another sign-in");
        }
        if let Some(hash) = &self.at_hash
            && expected.access_token.is_none_or(|token| *hash != left_half(token))
        {
            return Err("the ID token came with another access token");
        }
        let is_subject =
            !self.sub.is_empty() && self.sub.len() <= SUBJECT_BYTES_MAX && !self.sub.contains(char::is_control);
        if is_subject { Ok(()) } else { Err("the ID token's subject is empty or too long") }
    }
}

/// The left half of a SHA-256, as `at_hash` has it (section 3.1.3.6). All accepted algorithms use SHA-256.
fn left_half(token: &str) -> String {
    let hash: [u8; 32] = Sha256::digest(token).into();
    BASE64_URL_SAFE_NO_PAD.encode(&hash[..16])
}
