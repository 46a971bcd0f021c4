//! Answers that clients have not read yet: how many bytes of them a process keeps, in all and for each address.
//!
//! A client that reads slowly keeps its answer in memory. So long answers are handed to the connection in small pieces, and count until the
//! last piece is handed over. Beyond the limits a long answer is replaced by 503. Only the answer to a request that has changed something
//! is always sent, and counts.

use std::{
    collections::HashMap,
    error::Error as StdError,
    net::IpAddr,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard},
    task::{Context, Poll, ready},
};

use actix_web::{
    body::{BodySize, BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    http::header,
    middleware::Next,
    web::{Bytes, Data},
};

use super::limits;
use crate::{answer::problem::Problem, request::accept::EVENT_STREAM};

/// The most bytes that a connection takes at once. Shorter answers are not counted, because a connection holds no more of any answer.
const PIECE_BYTES: usize = 16 * 1024;

/// The bytes of unread answers of one address: those of many readers behind it, and an eighth of all.
const BYTES_OF_ADDRESS_MAX: usize = Unread::BYTES_MAX / 8;

/// The bytes that a streamed answer counts from its beginning: the size of its largest usual chunks.
const STREAM_BYTES: usize = 128 * 1024;

/// The bytes of unread answers of a process, by address.
///
/// Without limits no address is known, and only the process has a limit.
#[derive(Debug, Default)]
pub struct Unread(Mutex<HashMap<Option<IpAddr>, usize>>);

impl Unread {
    /// The bytes of all unread answers of a process.
    pub const BYTES_MAX: usize = 128 * 1024 * 1024;

    /// The bytes of all unread answers now.
    pub fn bytes(&self) -> usize {
        self.lock().values().sum()
    }

    /// Reserves bytes for an answer; `None` if there is no room.
    fn reserve(self: &Arc<Self>, address: Option<IpAddr>, bytes: usize) -> Option<Reserved> {
        let mut reserved = Reserved { unread: self.clone(), address, bytes: 0 };
        reserved.grow_to(bytes).then_some(reserved)
    }

    /// Counts an answer that is sent in any case.
    fn count(self: &Arc<Self>, address: Option<IpAddr>, bytes: usize) -> Reserved {
        *self.lock().entry(address).or_default() += bytes;
        Reserved { unread: self.clone(), address, bytes }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Option<IpAddr>, usize>> {
        self.0.lock().expect("nothing panics while it holds the counts")
    }
}

/// Bytes that are reserved for an answer until it is dropped.
struct Reserved {
    unread: Arc<Unread>,
    address: Option<IpAddr>,
    bytes: usize,
}

impl Reserved {
    /// Grows the reservation to `bytes`, if there is room. Returns whether there was.
    fn grow_to(&mut self, bytes: usize) -> bool {
        let more = bytes.saturating_sub(self.bytes);
        if more == 0 {
            return true;
        }
        let mut counts = self.unread.lock();
        // Few addresses have long answers at the same moment.
        let all: usize = counts.values().sum();
        let own = counts.get(&self.address).copied().unwrap_or(0);
        let own_max = if self.address.is_some() { BYTES_OF_ADDRESS_MAX } else { Unread::BYTES_MAX };
        if all + more > Unread::BYTES_MAX || own + more > own_max {
            return false;
        }
        counts.insert(self.address, own + more);
        self.bytes += more;
        true
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        let mut counts = self.unread.lock();
        if let Some(own) = counts.get_mut(&self.address) {
            *own -= self.bytes;
            if *own == 0 {
                counts.remove(&self.address);
            }
        }
    }
}

/// Counts a long answer and divides it into pieces, or replaces it if there is no room.
pub async fn bound(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let unread = request.app_data::<Data<Unread>>().expect("every app is built with its counts").clone().into_inner();
    let address = limits::client(request.request()).address;
    let is_safe = request.method().is_safe();
    let response = next.call(request).await?.map_into_boxed_body();
    let (bytes, is_stream) = match response.response().body().size() {
        BodySize::Sized(bytes) if bytes > PIECE_BYTES as u64 => (usize::try_from(bytes).unwrap_or(usize::MAX), false),
        BodySize::Stream if !is_event_stream(&response) => (STREAM_BYTES, true),
        _ => return Ok(response),
    };
    // The answer to a request that has changed something is always sent: otherwise its client would repeat the change. No such answer is
    // streamed.
    let has_changed = !is_safe && !is_stream && response.status().is_success();
    let reserved = unread.reserve(address, bytes).or_else(|| has_changed.then(|| unread.count(address, bytes)));
    let Some(reserved) = reserved else {
        let detail = "too many long answers wait for their readers; read them, then try again";
        return Ok(response.error_response(Problem::busy(detail)));
    };
    Ok(response.map_body(|_, body| {
        let size = body.size();
        BoxBody::new(Pieces { body, size, chunk: Bytes::new(), reserved })
    }))
}

/// Streams of events have short chunks, and limits of their own.
fn is_event_stream(response: &ServiceResponse<BoxBody>) -> bool {
    response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|value| value.as_bytes().starts_with(EVENT_STREAM.as_bytes()))
}

/// A body in pieces.
struct Pieces {
    body: BoxBody,
    size: BodySize,
    /// The rest of the last chunk of the body.
    chunk: Bytes,
    reserved: Reserved,
}

impl MessageBody for Pieces {
    type Error = Box<dyn StdError>;

    fn size(&self) -> BodySize {
        self.size
    }

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let Self { body, chunk, reserved, .. } = &mut *self;
        while chunk.is_empty() {
            match ready!(Pin::new(&mut *body).poll_next(cx)?) {
                Some(bytes) => *chunk = bytes,
                None => return Poll::Ready(None),
            }
            // The status is sent already: only a cut-off answer shows that there is no room.
            if !reserved.grow_to(chunk.len()) {
                return Poll::Ready(Some(Err("too many answers wait for their readers".into())));
            }
        }
        let length = chunk.len().min(PIECE_BYTES);
        Poll::Ready(Some(Ok(chunk.split_to(length))))
    }
}

#[cfg(test)]
mod tests {
    use std::{
        convert::Infallible,
        future::{poll_fn, ready},
        net::Ipv4Addr,
    };

    use actix_web::{
        App, HttpResponse,
        body::to_bytes,
        http::{Method, StatusCode},
        middleware::from_fn,
        test::{TestRequest, call_service, init_service},
        web,
    };
    use futures_util::stream::once;

    use super::*;

    const fn address(n: u8) -> IpAddr {
        IpAddr::V4(Ipv4Addr::new(192, 0, 2, n))
    }

    #[test]
    fn unread_bytes_are_limited_by_address_and_by_process() {
        let unread = Arc::new(Unread::default());
        let mut held = vec![];
        while let Some(reserved) = unread.reserve(Some(address(1)), STREAM_BYTES) {
            held.push(reserved);
        }
        assert_eq!(held.len() * STREAM_BYTES, BYTES_OF_ADDRESS_MAX);
        assert!(!held[0].grow_to(STREAM_BYTES + 1) && held[0].grow_to(STREAM_BYTES));
        for n in 2..100 {
            held.extend(unread.reserve(Some(address(n)), BYTES_OF_ADDRESS_MAX));
        }
        assert_eq!(held.iter().map(|reserved| reserved.bytes).sum::<usize>(), Unread::BYTES_MAX);
        drop(held);
        assert!(unread.lock().is_empty());
        assert!(unread.reserve(Some(address(1)), BYTES_OF_ADDRESS_MAX).is_some());
    }

    #[actix_web::test]
    async fn without_room_only_what_has_changed_something_is_sent() {
        let unread = Data::new(Unread::default());
        let long = |status: StatusCode| move || ready(HttpResponse::build(status).body("x".repeat(20_000)));
        let stream = || ready(HttpResponse::Ok().streaming(once(ready(Ok::<_, Infallible>(Bytes::from("x"))))));
        let app = App::new().app_data(unread.clone()).wrap(from_fn(bound)).service(
            web::resource("/{what}")
                .route(web::get().to(long(StatusCode::OK)))
                .route(web::post().to(long(StatusCode::CREATED)))
                .route(web::put().to(long(StatusCode::UNPROCESSABLE_ENTITY)))
                .route(web::patch().to(stream)),
        );
        let app = init_service(app).await;
        let call =
            async |method: Method| call_service(&app, TestRequest::with_uri("/x").method(method).to_request()).await;
        let answers = [(Method::GET, 200), (Method::POST, 201), (Method::PUT, 422), (Method::PATCH, 200)];
        let mut held = vec![];
        for (method, status) in &answers {
            let answer = call(method.clone()).await;
            assert_eq!(answer.status(), *status, "{method}");
            held.push(answer);
        }
        assert_eq!(unread.bytes(), 3 * 20_000 + STREAM_BYTES, "each is counted, whatever its method");
        drop(held);
        let _full = unread.clone().into_inner().reserve(None, Unread::BYTES_MAX).expect("there is room");
        for (method, _) in &answers {
            let answer = call(method.clone()).await;
            let is_act = method == Method::POST;
            assert_eq!(answer.status(), if is_act { 201 } else { 503 }, "{method}");
            assert_eq!(unread.bytes(), Unread::BYTES_MAX + if is_act { 20_000 } else { 0 }, "{method}");
            assert!(!is_act || to_bytes(answer.into_body()).await.is_ok_and(|body| body.len() == 20_000));
        }
        assert_eq!(unread.bytes(), Unread::BYTES_MAX);
    }

    #[actix_web::test]
    async fn a_long_body_comes_whole_and_in_small_pieces() {
        let text = Bytes::from((0..100_000_u32).flat_map(u32::to_le_bytes).collect::<Vec<_>>());
        let reserved = Arc::new(Unread::default()).reserve(Some(address(1)), text.len()).expect("there is room");
        let size = BodySize::Sized(text.len() as u64);
        let mut body = Pieces { body: BoxBody::new(text.clone()), size, chunk: Bytes::new(), reserved };
        let mut whole = vec![];
        while let Some(piece) = poll_fn(|cx| Pin::new(&mut body).poll_next(cx)).await {
            let piece = piece.expect("there is room");
            assert!(!piece.is_empty() && piece.len() <= PIECE_BYTES);
            whole.extend_from_slice(&piece);
        }
        assert_eq!(whole, text);
    }
}
