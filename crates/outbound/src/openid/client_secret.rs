//! The credential of this service at an issuer's token endpoint: a secret, or for Apple a token that a key signs.

use std::fmt;

use base64::{
    Engine,
    prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD},
};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair},
};
use serde_json::json;
use time::OffsetDateTime;

/// Whom Apple's secrets are for.
const APPLE: &str = "https://appleid.apple.com";

/// How long one of Apple's secrets is valid, in seconds. Each exchange makes its own; Apple allows half a year.
const LIFETIME_S: i64 = 300;

/// The length of the ids of teams and keys.
const APPLE_ID_BYTES: usize = 10;

/// The proof of a client.
pub(super) enum ClientSecret {
    /// A public client: PKCE alone protects the code.
    None,
    Text(String),
    Apple(Box<AppleKey>),
}

/// A key that Apple knows.
pub(super) struct AppleKey {
    team_id: String,
    key_id: String,
    key: EcdsaKeyPair,
}

impl ClientSecret {
    /// The secret that is made by a key in PKCS #8 PEM, as Apple gives it.
    pub(super) fn apple(team_id: String, key_id: String, pem: &str) -> Result<Self, String> {
        let is_id = |id: &str| id.len() == APPLE_ID_BYTES && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !is_id(&team_id) || !is_id(&key_id) {
            return Err(format!("team_id and key_id of apple must have {APPLE_ID_BYTES} letters and digits"));
        }
        let wrong = || "key_file of apple must be the .p8 file of Apple: a P-256 private key in PKCS #8 PEM".to_owned();
        let lines: String = pem.lines().filter(|line| !line.starts_with("-----")).map(str::trim).collect();
        let der = BASE64_STANDARD.decode(lines).map_err(|_| wrong())?;
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &der, &SystemRandom::new());
        Ok(Self::Apple(Box::new(AppleKey { team_id, key_id, key: key.map_err(|_| wrong())? })))
    }

    /// The secret for one exchange; `None` for a public client.
    pub(super) fn now(&self, client_id: &str, now: OffsetDateTime) -> Option<String> {
        match self {
            Self::None => None,
            Self::Text(secret) => Some(secret.clone()),
            Self::Apple(key) => Some(key.sign(client_id, now)),
        }
    }
}

impl AppleKey {
    fn sign(&self, client_id: &str, now: OffsetDateTime) -> String {
        let header = json!({"alg": "ES256", "kid": self.key_id});
        let issued_at = now.unix_timestamp();
        let claims = json!({
            "iss": self.team_id, "sub": client_id, "aud": APPLE, "iat": issued_at, "exp": issued_at + LIFETIME_S,
        });
        let [header, claims] = [header, claims].map(|part| BASE64_URL_SAFE_NO_PAD.encode(part.to_string()));
        let message = format!("{header}.{claims}");
        let signature = self.key.sign(&SystemRandom::new(), message.as_bytes());
        let signature = signature.expect("the system has random bytes");
        format!("{message}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature))
    }
}

/// Leaves out the secret.
impl fmt::Debug for ClientSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Text(_) => "Text(…)",
            Self::Apple(_) => "Apple(…)",
        })
    }
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, KeyPair, UnparsedPublicKey};
    use serde_json::Value;
    use time::Duration;

    use super::*;

    #[test]
    fn a_secret_of_apple_is_a_fresh_token_of_the_team() {
        let der = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new()).expect("a key");
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der.as_ref(), &SystemRandom::new());
        let key = key.expect("a key");
        let encoded = BASE64_STANDARD.encode(der.as_ref());
        let (first, rest) = encoded.split_at(64);
        let pem = format!("-----BEGIN PRIVATE KEY-----\r\n{first}\r\n{rest}\r\n-----END PRIVATE KEY-----\r\n");
        let secret = ClientSecret::apple("ABCDE12345".to_owned(), "FGHIJ67890".to_owned(), &pem).expect("a key");
        assert_eq!(format!("{secret:?}"), "Apple(…)");
        let now = OffsetDateTime::UNIX_EPOCH + Duration::days(20_000);
        let token = secret.now("com.example.web", now).expect("a secret");
        let (message, signature) = token.rsplit_once('.').expect("three parts");
        let decode = |text: &str| BASE64_URL_SAFE_NO_PAD.decode(text).expect("base64url");
        let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key.public_key());
        assert!(public.verify(message.as_bytes(), &decode(signature)).is_ok());
        let (header, claims) = message.split_once('.').expect("two parts");
        let read = |text: &str| serde_json::from_slice::<Value>(&decode(text)).expect("JSON");
        assert_eq!(read(header), json!({"alg": "ES256", "kid": "FGHIJ67890"}));
        let at = now.unix_timestamp();
        let expected = json!({"iss": "ABCDE12345", "sub": "com.example.web", "aud": APPLE, "iat": at, "exp": at + 300});
        assert_eq!(read(claims), expected);
    }
}
