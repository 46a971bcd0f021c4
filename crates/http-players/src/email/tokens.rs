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

/// What is stored of a token.
pub(super) fn hash(token: &str) -> TokenHash {
    Sha256::digest(token).into()
}

/// What was found by a token. A token that is none, and one that is void, are refused alike, and counted by network as wrong recovery codes are.
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
