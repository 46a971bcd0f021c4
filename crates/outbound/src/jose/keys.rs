//! The public keys of an issuer (RFC 7517), and signatures by them: RSA, P-256 and Ed25519. Symmetric keys and unsigned tokens have no place here.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use ed25519_dalek::{Signature, VerifyingKey};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RSA_PSS_2048_8192_SHA256, RsaPublicKeyComponents,
    UnparsedPublicKey,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The longest key set that is read, in bytes: several times the longest of known providers.
pub const KEY_SET_BYTES_MAX: usize = 64 * 1024;

/// The most keys of a set that are used.
const KEYS_MAX: usize = 64;

/// The bytes of the modulus of an RSA key: 2,048 to 8,192 bits.
const MODULUS_BYTES: std::ops::RangeInclusive<usize> = 256..=1024;

/// The bytes of a coordinate of P-256.
const COORDINATE_BYTES: usize = 32;

/// The members of a key that are read.
const PUBLIC: [&str; 10] = ["kty", "kid", "alg", "use", "key_ops", "crv", "n", "e", "x", "y"];

/// The members of private keys and of symmetric ones.
const SECRET: [&str; 8] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/// The algorithms of signatures that are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    Rs256,
    Ps256,
    Es256,
    EdDsa,
}

impl Algorithm {
    /// The algorithm of a header's `alg`.
    pub fn of(word: &str) -> Option<Self> {
        match word {
            "RS256" => Some(Self::Rs256),
            "PS256" => Some(Self::Ps256),
            "ES256" => Some(Self::Es256),
            // The second name is that of RFC 9864.
            "EdDSA" | "Ed25519" => Some(Self::EdDsa),
            _ => None,
        }
    }
}

/// The public keys of an issuer that can verify tokens.
#[derive(Clone, Debug)]
pub struct KeySet(Vec<Key>);

#[derive(Clone, Debug)]
struct Key {
    kid: Option<String>,
    /// The only algorithm for which the key may be used, if it says so.
    algorithm: Option<Algorithm>,
    material: Material,
}

#[derive(Clone, Debug)]
enum Material {
    Rsa {
        n: Vec<u8>,
        e: Vec<u8>,
    },
    /// A point, uncompressed.
    P256(Vec<u8>),
    Ed25519(VerifyingKey),
}

/// A published key.
#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    key_ops: Option<Vec<String>>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl KeySet {
    /// Parses the keys of a JSON Web Key Set that can verify tokens. `None` if the text is no key set, or has no such key.
    pub fn parse(text: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        struct Published {
            keys: Vec<Value>,
        }
        if text.len() > KEY_SET_BYTES_MAX {
            return None;
        }
        let published: Published = serde_json::from_slice(text).ok()?;
        // A key that this code does not know may be for other readers.
        let jwks = published.keys.into_iter().filter_map(|key| serde_json::from_value::<Jwk>(key).ok());
        let keys: Vec<Key> = jwks.filter_map(|jwk| Key::of(&jwk)).take(KEYS_MAX).collect();
        (!keys.is_empty()).then_some(Self(keys))
    }

    /// The part of a key set that may be stored: only keys that verify. `None` if the text is no key set, has a secret, or has no key that
    /// verifies.
    pub fn public_part(text: &[u8]) -> Option<String> {
        #[derive(Deserialize, Serialize)]
        struct Published {
            keys: Vec<Map<String, Value>>,
        }
        if text.len() > KEY_SET_BYTES_MAX {
            return None;
        }
        let mut published: Published = serde_json::from_slice(text).ok()?;
        for key in &mut published.keys {
            if SECRET.iter().any(|member| key.contains_key(*member)) {
                return None;
            }
            key.retain(|member, _| PUBLIC.contains(&member.as_str()));
        }
        let written = serde_json::to_string(&published).ok()?;
        Self::parse(written.as_bytes()).map(|_| written)
    }

    /// Whether a key may have signed a token with this header.
    pub(super) fn has_key(&self, kid: Option<&str>, algorithm: Algorithm) -> bool {
        self.candidates(kid, algorithm).next().is_some()
    }

    /// Whether a key of the set has signed the message. A token without a `kid` is verified only if one key alone fits.
    pub(super) fn verifies(&self, kid: Option<&str>, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        let mut candidates = self.candidates(kid, algorithm);
        let (first, second) = (candidates.next(), candidates.next());
        first.filter(|_| second.is_none()).is_some_and(|key| key.verifies(algorithm, message, signature))
    }

    fn candidates<'a>(&'a self, kid: Option<&'a str>, algorithm: Algorithm) -> impl Iterator<Item = &'a Key> {
        self.0.iter().filter(move |key| key.fits(algorithm) && kid.is_none_or(|kid| key.kid.as_deref() == Some(kid)))
    }
}

impl Key {
    fn of(jwk: &Jwk) -> Option<Self> {
        let is_for_verifying = jwk.usage.as_deref().is_none_or(|usage| usage == "sig")
            && jwk.key_ops.as_ref().is_none_or(|ops| ops.iter().any(|op| op == "verify"));
        // A key for an algorithm that is not accepted is no key for another one.
        let algorithm = match jwk.alg.as_deref() {
            None => None,
            Some(word) => Some(Algorithm::of(word)?),
        };
        let key = Self { kid: jwk.kid.clone(), algorithm, material: Material::of(jwk)? };
        (is_for_verifying && algorithm.is_none_or(|algorithm| key.fits(algorithm))).then_some(key)
    }

    /// Whether the key is of the algorithm's type, and may be used for it.
    fn fits(&self, algorithm: Algorithm) -> bool {
        let is_of_type = match self.material {
            Material::Rsa { .. } => matches!(algorithm, Algorithm::Rs256 | Algorithm::Ps256),
            Material::P256(_) => algorithm == Algorithm::Es256,
            Material::Ed25519(_) => algorithm == Algorithm::EdDsa,
        };
        is_of_type && self.algorithm.is_none_or(|own| own == algorithm)
    }

    fn verifies(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        match (&self.material, algorithm) {
            (Material::Rsa { n, e }, Algorithm::Rs256) => {
                RsaPublicKeyComponents { n, e }.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature).is_ok()
            }
            (Material::Rsa { n, e }, Algorithm::Ps256) => {
                RsaPublicKeyComponents { n, e }.verify(&RSA_PSS_2048_8192_SHA256, message, signature).is_ok()
            }
            (Material::P256(point), Algorithm::Es256) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature).is_ok()
            }
            (Material::Ed25519(key), Algorithm::EdDsa) => {
                Signature::from_slice(signature).is_ok_and(|signature| key.verify_strict(message, &signature).is_ok())
            }
            _ => false,
        }
    }
}

impl Material {
    fn of(jwk: &Jwk) -> Option<Self> {
        match (jwk.kty.as_str(), jwk.crv.as_deref()) {
            ("RSA", _) => {
                let (n, e) = (number(jwk.n.as_deref())?, number(jwk.e.as_deref())?);
                (MODULUS_BYTES.contains(&n.len()) && !e.is_empty()).then_some(Self::Rsa { n, e })
            }
            ("EC", Some("P-256")) => {
                let (x, y) = (bytes(jwk.x.as_deref())?, bytes(jwk.y.as_deref())?);
                let is_point = [&x, &y].iter().all(|coordinate| coordinate.len() == COORDINATE_BYTES);
                is_point.then(|| Self::P256([&[4][..], &x, &y].concat()))
            }
            ("OKP", Some("Ed25519")) => {
                let key = VerifyingKey::try_from(&*bytes(jwk.x.as_deref())?).ok()?;
                // A weak key verifies forged signatures.
                (!key.is_weak()).then_some(Self::Ed25519(key))
            }
            _ => None,
        }
    }
}

fn bytes(text: Option<&str>) -> Option<Vec<u8>> {
    BASE64_URL_SAFE_NO_PAD.decode(text?).ok()
}

/// A number without leading zeros, which some issuers write.
fn number(text: Option<&str>) -> Option<Vec<u8>> {
    let bytes = bytes(text)?;
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    bytes.get(zeros..).map(<[u8]>::to_vec)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const X: &str = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";

    fn parses(key: &Value) -> bool {
        KeySet::parse(json!({ "keys": [key] }).to_string().as_bytes()).is_some()
    }

    #[test]
    fn keys_that_may_not_verify_are_left_out() {
        let good = json!({"kty": "OKP", "crv": "Ed25519", "x": X});
        for (member, value) in [
            ("use", json!("enc")),
            ("alg", json!("ES256")),
            ("alg", json!("HS256")),
            ("key_ops", json!(["sign"])),
            ("kid", json!(7)),
            ("crv", json!("X25519")),
            ("kty", json!("oct")),
            ("x", json!("AQAB")),
            // The neutral element of the curve.
            ("x", json!(BASE64_URL_SAFE_NO_PAD.encode([&[1][..], &[0; 31]].concat()))),
        ] {
            let mut key = good.clone();
            key[member] = value.clone();
            assert!(!parses(&key), "{member}: {value}");
        }
        assert!(parses(&good));
        let rsa =
            |bytes: usize| json!({"kty": "RSA", "e": "AQAB", "n": BASE64_URL_SAFE_NO_PAD.encode(vec![255; bytes])});
        assert_eq!([128, 256, 1024, 1025].map(|bytes| parses(&rsa(bytes))), [false, true, true, false]);
    }

    #[test]
    fn only_the_public_part_of_a_set_is_stored() {
        let good = json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "x": X, "kid": "d", "x5c": ["MII"]}], "more": 7});
        let public = KeySet::public_part(good.to_string().as_bytes()).expect("it has a key");
        assert!(!public.contains("MII") && !public.contains("more") && public.contains(r#""kid":"d""#), "{public}");
        let secret = format!(r#"{{"keys": [{{"kty": "OKP", "crv": "Ed25519", "x": "{X}", "\u0064": "AA"}}]}}"#);
        assert!(KeySet::public_part(secret.as_bytes()).is_none());
        assert!(KeySet::public_part(br#"{"keys": []}"#).is_none());
    }
}
