//! A key by which push services know this server (VAPID, RFC 8292; Apple), and its signatures.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair},
};
use rustls::pki_types::{PrivatePkcs8KeyDer, pem::PemObject};
use serde_json::{Value, json};

/// A private key of P-256, which signs tokens (ES256).
#[derive(Debug)]
pub struct VapidKey(EcdsaKeyPair);

impl VapidKey {
    /// The key in PKCS #8 PEM; `None` if it is of another kind.
    pub fn from_pem(pem: &str) -> Option<Self> {
        let der = PrivatePkcs8KeyDer::from_pem_slice(pem.as_bytes()).ok()?;
        let random = SystemRandom::new();
        EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der.secret_pkcs8_der(), &random).ok().map(Self)
    }

    /// The public key as browsers want it (`applicationServerKey`).
    pub fn public_key(&self) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(self.0.public_key().as_ref())
    }

    /// A signed token with these claims, and with these fields of its head beside `alg`.
    pub fn sign(&self, head: &Value, claims: &Value) -> String {
        let mut whole = json!({ "typ": "JWT", "alg": "ES256" });
        if let (Some(whole), Some(head)) = (whole.as_object_mut(), head.as_object()) {
            whole.extend(head.clone());
        }
        let [head, claims] = [&whole, claims].map(|part| BASE64_URL_SAFE_NO_PAD.encode(part.to_string()));
        let text = format!("{head}.{claims}");
        let signature = self.0.sign(&SystemRandom::new(), text.as_bytes());
        let signature = signature.expect("the system has random numbers");
        format!("{text}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature))
    }
}

/// A new private key in PKCS #8 PEM.
pub fn new_vapid_key() -> String {
    let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
    let key = key.expect("the system has random numbers");
    let text = base64::prelude::BASE64_STANDARD.encode(key.as_ref());
    let lines: Vec<_> = text.as_bytes().chunks(64).map(|line| String::from_utf8_lossy(line).into_owned()).collect();
    format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

    use super::*;

    /// Made by `openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256`.
    const OF_OPENSSL: &str = "-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgcng0X4R5oT/DG0yk
GIhx38KhqAcBoawk8n/z6/PmtjqhRANCAASmGTTYsyeLAI9ZZRgnTaKQCfdJuGN4
zzApnpY2AW88F/4TWJVDm1CU23nI4ZKB7WSqYtPVmdigEJ6/QZvkr5KU
-----END PRIVATE KEY-----
";

    #[test]
    fn a_new_key_and_one_of_openssl_sign_what_their_public_keys_verify() {
        for pem in [new_vapid_key(), OF_OPENSSL.to_owned()] {
            let key = VapidKey::from_pem(&pem).expect("a key");
            let token = key.sign(&json!({ "kid": "a" }), &json!({ "sub": "mailto:a@b.example" }));
            let (text, signature) = token.rsplit_once('.').expect("three parts");
            let [public_key, signature] =
                [&key.public_key(), signature].map(|part| BASE64_URL_SAFE_NO_PAD.decode(part).expect("Base64"));
            assert_eq!((public_key.len(), public_key[0], signature.len()), (65, 4, 64));
            let verifying = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, public_key);
            assert!(verifying.verify(text.as_bytes(), &signature).is_ok());
            assert!(verifying.verify(b"another", &signature).is_err());
            let head = BASE64_URL_SAFE_NO_PAD.decode(text.split('.').next().expect("a head")).expect("Base64");
            let head: Value = serde_json::from_slice(&head).expect("JSON");
            assert_eq!(head, json!({ "typ": "JWT", "alg": "ES256", "kid": "a" }));
        }
    }

    #[test]
    fn other_keys_are_refused() {
        for pem in ["", "a", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"] {
            assert!(VapidKey::from_pem(pem).is_none(), "{pem}");
        }
    }
}
