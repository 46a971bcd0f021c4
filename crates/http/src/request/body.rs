//! The bytes of a body: how many there may be, how long they may take, and the room that they need.

use std::time::Duration;

use actix_web::{
    HttpMessage, HttpRequest,
    dev::Payload,
    http::header,
    web::{Bytes, BytesMut, Data},
};
use futures_util::StreamExt;
use mancala_wire::live::Client;
use tokio::time::timeout;

use super::faults;
use crate::{
    answer::{code::Code, problem::Problem},
    state::AppState,
};

/// The largest body of most operations, in bytes: names, words and numbers, each character escaped. So long bodies need no room.
pub const SHORT_BODY: usize = 4 * 1024;

/// The largest body with addresses, tokens of others, or a text of 1,000 characters, each of them escaped.
pub const MEDIUM_BODY: usize = 16 * 1024;

/// The largest body with a note of 4,000 characters, each of them escaped, or with 2,000 moves, each on its own line.
pub const LONG_BODY: usize = 64 * 1024;

/// How long a body may take to arrive: 64 KiB over a slow connection. A stopping server waits for it.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// Why a read is refused for its body: no read has one, and its bytes would stay in memory as long as the request waits.
pub(super) fn refuse_with_read(request: &HttpRequest) -> Option<Problem> {
    let headers = request.headers();
    let may_be_long = || match headers.get(header::CONTENT_LENGTH) {
        Some(length) => {
            length.to_str().ok().and_then(|length| length.parse().ok()).is_none_or(|length: usize| length > SHORT_BODY)
        }
        None => headers.contains_key(header::TRANSFER_ENCODING),
    };
    (request.method().is_safe() && may_be_long())
        .then(|| Problem::new(Code::PayloadTooLarge, "a read has no body of more than 4 KiB, or of an unknown length"))
}

/// The whole body, if it arrives in time.
pub(super) fn read(
    request: &HttpRequest,
    payload: &mut Payload,
    bytes_max: usize,
) -> impl Future<Output = Result<Bytes, Problem>> + use<> {
    let (request, payload) = (request.clone(), payload.take());
    async move {
        let late = |_| Problem::new(Code::MalformedRequest, "the body did not come in time");
        timeout(BODY_TIMEOUT, receive(&request, payload, bytes_max)).await.map_err(late)?
    }
}

async fn receive(request: &HttpRequest, mut payload: Payload, bytes_max: usize) -> Result<Bytes, Problem> {
    let too_long = || {
        let detail = format!("a body of this call has at most {} KiB", bytes_max / 1024);
        Problem::new(Code::PayloadTooLarge, detail)
    };
    let declared = request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    // A body whose length is not declared may become as long as the longest.
    let expected = declared.unwrap_or(bytes_max);
    if expected > bytes_max {
        return Err(too_long());
    }
    let mut has_room = declared.is_some_and(|bytes| bytes > SHORT_BODY);
    if has_room {
        reserve(request, expected)?;
    }
    let mut body = BytesMut::with_capacity(declared.unwrap_or(0));
    while let Some(chunk) = payload.next().await {
        let broken = |_| Problem::new(Code::MalformedRequest, "the body breaks off or cannot be read");
        let chunk = chunk.map_err(broken)?;
        let received = body.len() + chunk.len();
        faults::note_received(request, received);
        if received > bytes_max {
            return Err(too_long());
        }
        if received > SHORT_BODY && !has_room {
            reserve(request, expected)?;
            has_room = true;
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

/// Reserves room for a body until its request is answered.
fn reserve(request: &HttpRequest, bytes: usize) -> Result<(), Problem> {
    let state = request.app_data::<Data<AppState>>().expect("every app is built with its state");
    let address = request.extensions().get::<Client>().and_then(|client| client.address);
    let room = state.uploads.reserve(address, bytes)?;
    request.extensions_mut().insert(room);
    Ok(())
}
