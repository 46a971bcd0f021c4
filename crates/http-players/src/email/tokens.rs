//! The tokens of links in mails, as clients bring them back.

use std::net::IpAddr;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use mancala_db::{DbError, email::TokenHash};
use mancala_http::{
    answer::{code::Code, problem::Problem},
    state::{AppState, sign_ins},
};
use sha2::{Digest, Sha256};

/// Random bytes of a token.
const TOKEN_BYTES: usize = 32;

/// A new token, for a link that is shown in place of a mail.
pub(super) fn new() -> String {
    BASE64_URL_SAFE_NO_PAD.encode(rand::random::<[u8; TOKEN_BYTES]>())
}

/// The stored hash of a token.
pub(super) fn hash(token: &str) -> TokenHash {
    Sha256::digest(token).into()
}

/// The result of a look-up by token. A text that is no token, and a void token, are refused alike, and count by network like wrong recovery
/// codes.
pub(super) async fn found<T>(
    state: &AppState,
    network: IpAddr,
    find: impl Future<Output = Result<Option<T>, DbError>>,
) -> Result<T, Problem> {
    sign_ins::by_secret(state.sign_ins.as_ref(), network, find).await?.ok_or_else(invalid)
}

pub(super) fn invalid() -> Problem {
    Problem::new(Code::InvalidLink, "the link is not valid, or no longer: ask for another one")
}
