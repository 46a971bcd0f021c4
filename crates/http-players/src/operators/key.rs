//! The keys of operators: made by the command line, stored as hashes.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use mancala_db::operators::keys::Hash;
use sha2::{Digest, Sha256};

/// How a key begins, so that programs that search for leaked secrets find it.
const PREFIX: &str = "mop_";

/// The random bytes of a key, which no client guesses.
const KEY_BYTES: usize = 32;

/// A new key.
pub fn new_operator_key() -> String {
    format!("{PREFIX}{}", BASE64_URL_SAFE_NO_PAD.encode(rand::random::<[u8; KEY_BYTES]>()))
}

/// The hash that is stored for a key; `None` if the text is no key.
pub fn operator_key_hash(key: &[u8]) -> Option<Hash> {
    let random = key.strip_prefix(PREFIX.as_bytes())?;
    let decoded = BASE64_URL_SAFE_NO_PAD.decode(random).ok()?;
    (decoded.len() == KEY_BYTES).then(|| Sha256::digest(key).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_one_hash_and_another_text_has_none() {
        let (key, other) = (new_operator_key(), new_operator_key());
        assert!(operator_key_hash(key.as_bytes()).is_some());
        assert_ne!(operator_key_hash(key.as_bytes()), operator_key_hash(other.as_bytes()));
        for text in ["", "mop_", "mop_abc", &key[4..], &key[..key.len() - 1], &format!("{key}A")] {
            assert_eq!(operator_key_hash(text.as_bytes()), None, "{text}");
        }
    }
}
