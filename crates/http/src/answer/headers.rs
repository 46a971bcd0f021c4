//! Headers that handlers set: how long an answer may be cached, which request headers it depends on, and its tag.

use std::hash::{DefaultHasher, Hash, Hasher};

use actix_web::http::header::{self, EntityTag, HeaderMap, HeaderName, HeaderValue};

/// For answers that may change or show players' names: a client revalidates each time, and shared caches do not store them.
pub const NOT_KEPT: (HeaderName, &str) = (header::CACHE_CONTROL, "private, no-cache");

/// For answers that are the same for every caller until the server is replaced by another version.
pub const KEPT_FOR_MINUTES: (HeaderName, &str) = (header::CACHE_CONTROL, "public, max-age=300");

/// For answers that are the same for every caller and change slowly.
pub const KEPT_FOR_A_MINUTE: (HeaderName, &str) = (header::CACHE_CONTROL, "public, max-age=60");

/// For answers that never change again.
pub const KEPT_FOR_EVER: (HeaderName, &str) = (header::CACHE_CONTROL, "public, max-age=31536000, immutable");

/// The request headers on which answers about games depend.
pub const VARIES: (HeaderName, &str) = (header::VARY, "Authorization, Prefer");

/// The content security policy of a picture, or of a page of text, which contains its own styles.
pub const PICTURE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

/// The tag of an answer without a version: a digest of its body.
pub fn digest_tag(body: impl AsRef<[u8]>) -> EntityTag {
    let mut hasher = DefaultHasher::new();
    body.as_ref().hash(&mut hasher);
    hash_tag(&hasher)
}

/// The tag of an answer without a version: a digest of all that it shows.
pub fn hash_tag(shown: &DefaultHasher) -> EntityTag {
    EntityTag::new_weak(format!("{:016x}", shown.finish()))
}

/// Adds a request header to `Vary`, in one line with those that are there already.
pub fn add_vary(headers: &mut HeaderMap, name: &str) {
    let mut value = String::new();
    for known in headers.get_all(header::VARY).filter_map(|value| value.to_str().ok()) {
        value.extend([known, ", "]);
    }
    value.push_str(name);
    headers.insert(header::VARY, HeaderValue::try_from(value).expect("names of headers are header values"));
}
