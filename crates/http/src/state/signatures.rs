//! How tokens are signed and verified: Ed25519 and nothing else. The library of tokens calls it; its own backends would bring RSA,
//! elliptic curves and HMAC, which no token of this server uses.

use ed25519_dalek::{Signature, SignatureError, Signer, SigningKey, Verifier, VerifyingKey, pkcs8::DecodePrivateKey};
use jsonwebtoken::{
    Algorithm, AlgorithmFamily, DecodingKey, EncodingKey,
    crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils},
    errors::{Error, ErrorKind},
    jwk::ThumbprintHash,
};
use sha2::{Digest, Sha256};

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |algorithm, key| Ok(Box::new(Ed25519Signer::new(*algorithm, key)?)),
    verifier_factory: |algorithm, key| Ok(Box::new(Ed25519Verifier::new(*algorithm, key)?)),
    key_utils: KeyUtils {
        rsa_pub_components_from_private_key: |_| Err(refused()),
        rsa_pub_components_from_public_key: |_| Err(refused()),
        ec_pub_components_from_private_key: |_, _| Err(refused()),
        ed_pub_components_from_private_key: |_, _| Err(refused()),
        compute_digest: |data, hash| match hash {
            ThumbprintHash::SHA256 => Ok(Sha256::digest(data).to_vec()),
            _ => Err(refused()),
        },
    },
};

/// Makes the library use it, in the whole process. Any number of calls is fine.
pub fn install() {
    // Installing fails only if a provider was installed before.
    let _ = PROVIDER.install_default();
}

fn refused() -> Error {
    ErrorKind::InvalidAlgorithm.into()
}

fn check(algorithm: Algorithm, family: AlgorithmFamily) -> Result<(), Error> {
    if (algorithm, family) == (Algorithm::EdDSA, AlgorithmFamily::Ed) { Ok(()) } else { Err(refused()) }
}

struct Ed25519Signer(SigningKey);

impl Ed25519Signer {
    fn new(algorithm: Algorithm, key: &EncodingKey) -> Result<Self, Error> {
        check(algorithm, key.family())?;
        SigningKey::from_pkcs8_der(key.as_bytes()).map(Self).map_err(|_| ErrorKind::InvalidEddsaKey.into())
    }
}

impl Signer<Vec<u8>> for Ed25519Signer {
    fn try_sign(&self, message: &[u8]) -> Result<Vec<u8>, SignatureError> {
        Ok(self.0.try_sign(message)?.to_bytes().to_vec())
    }
}

impl JwtSigner for Ed25519Signer {
    fn algorithm(&self) -> Algorithm {
        Algorithm::EdDSA
    }
}

struct Ed25519Verifier(VerifyingKey);

impl Ed25519Verifier {
    fn new(algorithm: Algorithm, key: &DecodingKey) -> Result<Self, Error> {
        check(algorithm, key.family())?;
        let key = VerifyingKey::try_from(key.try_get_as_bytes()?);
        key.map(Self).map_err(|_| ErrorKind::InvalidEddsaKey.into())
    }
}

impl Verifier<Vec<u8>> for Ed25519Verifier {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), SignatureError> {
        self.0.verify_strict(message, &Signature::from_slice(signature)?)
    }
}

impl JwtVerifier for Ed25519Verifier {
    fn algorithm(&self) -> Algorithm {
        Algorithm::EdDSA
    }
}
