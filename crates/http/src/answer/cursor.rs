//! Cursors: where the next page of a list begins, as a text that only the service can make or read.
//!
//! A list reads a bounded number of rows for each page, so a page may end at a game that its reader may not see. Therefore the
//! position in the list is encrypted.

use std::{
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use chacha20poly1305::{
    KeyInit, XChaCha20Poly1305, XNonce,
    aead::{Aead, Payload},
};

/// Random bytes at the start of each cursor, which make every cursor different.
const NONCE_BYTES: usize = 24;

/// The longest cursor that is read; ours are shorter.
const CURSOR_CHARS_MAX: usize = 4096;

/// Makes and reads cursors, with a key that all servers with the same signing key share.
#[derive(Clone)]
pub struct Cursors {
    cipher: XChaCha20Poly1305,
    /// A digest of the key.
    fingerprint: u64,
}

impl Cursors {
    pub fn new(key: [u8; 32]) -> Self {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        Self { cipher: XChaCha20Poly1305::new(&key.into()), fingerprint: hasher.finish() }
    }

    /// An opaque text for a place in a list. `list` names the list and all its filters; the cursor is refused for any other.
    pub fn seal(&self, place: &str, list: &str) -> String {
        let nonce = rand::random::<[u8; NONCE_BYTES]>();
        let payload = Payload { msg: place.as_bytes(), aad: list.as_bytes() };
        let sealed = self.cipher.encrypt(&XNonce::from(nonce), payload).expect("a place is short");
        BASE64_URL_SAFE_NO_PAD.encode([&nonce[..], &sealed].concat())
    }

    /// The scope of the cursors of a list. Cursors with the same scope and the same place lead to the same page.
    pub fn scope(&self, list: &str) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.fingerprint, list).hash(&mut hasher);
        hasher.finish()
    }

    /// The place in a cursor; `None` unless [`Cursors::seal`] made it for this list.
    pub fn open(&self, cursor: &str, list: &str) -> Option<String> {
        if cursor.len() > CURSOR_CHARS_MAX {
            return None;
        }
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(cursor).ok()?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE_BYTES>()?;
        let payload = Payload { msg: sealed, aad: list.as_bytes() };
        String::from_utf8(self.cipher.decrypt(&XNonce::from(*nonce), payload).ok()?).ok()
    }
}

/// Omits the key.
impl fmt::Debug for Cursors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cursors(…)")
    }
}
