//! The public keys of an issuer (RFC 7517), and the signatures that they verify: RS256 and ES256, and nothing else.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use ring::signature::{ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey};
use serde::Deserialize;

/// How many keys of an issuer are read. Known ones have two to ten.
const KEYS_MAX: usize = 64;

/// The bytes of a coordinate of P-256.
const COORDINATE_BYTES: usize = 32;

/// An accepted algorithm. `none`, and those with a shared secret, are not among them: a public key is no secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(super) enum Algorithm {
    #[serde(rename = "RS256")]
    Rs256,
    #[serde(rename = "ES256")]
    Es256,
}

/// The keys of an issuer that may sign ID tokens.
#[derive(Debug)]
pub(super) struct Keys(Vec<Key>);

#[derive(Debug)]
struct Key {
    kid: Option<String>,
    material: Material,
}

/// The kind of a key decides which algorithm it verifies, whatever a token says.
#[derive(Debug)]
enum Material {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    P256 { point: Vec<u8> },
}

#[derive(Deserialize)]
struct JwkSet {
    keys: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    alg: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl Keys {
    /// The keys of a document; `None` if it is none. Keys of other kinds are left out.
    pub(super) fn parse(document: &[u8]) -> Option<Self> {
        let set: JwkSet = serde_json::from_slice(document).ok()?;
        let jwks = set.keys.into_iter().take(KEYS_MAX).filter_map(|key| serde_json::from_value::<Jwk>(key).ok());
        Some(Self(jwks.filter_map(|jwk| Key::of(&jwk)).collect()))
    }

    /// Whether a key has signed a message; `None` if no key of this name is known.
    pub(super) fn verify(
        &self,
        algorithm: Algorithm,
        kid: Option<&str>,
        message: &[u8],
        signature: &[u8],
    ) -> Option<bool> {
        let fitting: Vec<&Key> = self.0.iter().filter(|key| key.material.algorithm() == algorithm).collect();
        let key = match kid {
            Some(kid) => fitting.into_iter().find(|key| key.kid.as_deref() == Some(kid))?,
            // Without a name there must be no choice.
            None if fitting.len() == 1 => fitting[0],
            None => return None,
        };
        Some(key.material.verify(message, signature))
    }
}

impl Key {
    fn of(jwk: &Jwk) -> Option<Self> {
        let bytes = |text: &Option<String>| BASE64_URL_SAFE_NO_PAD.decode(text.as_deref()?).ok();
        let material = match (jwk.kty.as_str(), jwk.crv.as_deref()) {
            ("RSA", _) => Material::Rsa { n: bytes(&jwk.n)?, e: bytes(&jwk.e)? },
            ("EC", Some("P-256")) => {
                let (x, y) = (bytes(&jwk.x)?, bytes(&jwk.y)?);
                let is_whole = x.len() == COORDINATE_BYTES && y.len() == COORDINATE_BYTES;
                Material::P256 { point: is_whole.then(|| [&[4], &x[..], &y[..]].concat())? }
            }
            _ => return None,
        };
        let is_for_signatures = jwk.usage.as_deref().is_none_or(|usage| usage == "sig");
        let is_for_algorithm = jwk.alg.as_deref().is_none_or(|alg| alg == material.algorithm().as_str());
        (is_for_signatures && is_for_algorithm).then(|| Self { kid: jwk.kid.clone(), material })
    }
}

impl Algorithm {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Es256 => "ES256",
        }
    }
}

impl Material {
    const fn algorithm(&self) -> Algorithm {
        match self {
            Self::Rsa { .. } => Algorithm::Rs256,
            Self::P256 { .. } => Algorithm::Es256,
        }
    }

    fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        match self {
            // The library refuses keys of less than 2,048 bits.
            Self::Rsa { n, e } => {
                RsaPublicKeyComponents { n, e }.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature).is_ok()
            }
            Self::P256 { point } => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature).is_ok()
            }
        }
    }
}
