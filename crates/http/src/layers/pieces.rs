//! HTTP/1.1 over connections that are read a piece at a time.
//!
//! actix-http reads all bytes that have arrived, up to 128 KiB, before it looks at the request's head. So a connection whose body
//! is refused would take as much memory and time as one whose body is read. Here actix-http sees a piece, decides about the request,
//! and reads the next piece only then.

use std::{
    io, mem,
    net::TcpListener,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll},
    time::Duration,
};

use actix_http::{HttpService, Request};
use actix_server::{Server, ServerBuilder};
use actix_service::{IntoServiceFactory, ServiceFactory, ServiceFactoryExt, map_config};
use actix_web::{
    Error,
    body::MessageBody,
    dev::{AppConfig, Extensions, ServiceResponse, fn_service},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

use super::connections::{self, REQUEST_TIMEOUT, Room};

/// About how many bytes of a connection are read at once. The head of most requests is shorter.
const PIECE: usize = 16 * 1024;

/// How long the rest of a refused body is read and thrown away, so that its client can read the refusal.
const LINGER: Duration = Duration::from_secs(1);

/// Serves an app on a listener, over watched connections.
pub fn serve<A, F, B>(
    builder: ServerBuilder,
    listener: TcpListener,
    keep_alive: Duration,
    room: Room,
    app: impl Fn() -> A + Clone + Send + 'static,
) -> io::Result<Server>
where
    A: IntoServiceFactory<F, Request>,
    F: ServiceFactory<Request, Config = AppConfig, Response = ServiceResponse<B>, Error = Error, InitError = ()>
        + 'static,
    F::Future: 'static,
    B: MessageBody + 'static,
{
    let stopping = builder.graceful_shutdown_signal();
    let server = builder.listen("http", listener, move || {
        let (stopping, room) = (stopping.clone(), Rc::new(room.clone()));
        let waiting = room.clone();
        let service = HttpService::build()
            .graceful_shutdown_signal(move || {
                let stopping = stopping.clone();
                async move { stopping.notified().await }
            })
            .keep_alive(keep_alive)
            .client_request_timeout(REQUEST_TIMEOUT)
            .client_disconnect_timeout(LINGER)
            // A client that closes its half of the connection no longer waits.
            .h1_allow_half_closed(false)
            .on_connect_ext(move |io: &Pieces, data: &mut Extensions| {
                connections::watch(&io.stream, data, keep_alive, &room);
            });
        let app = app().into_factory().map_err(|error| error.error_response());
        // Nothing here asks for the host or the address in it.
        let http = service.h1(map_config(app, |()| AppConfig::default()));
        let accepted = move |stream: TcpStream| {
            let room = waiting.clone();
            async move {
                connections::take_turn(&stream, &room).await;
                let peer = stream.peer_addr().ok();
                Ok((Pieces { stream, read: 0, is_long: false }, peer))
            }
        };
        fn_service(accepted).and_then(http)
    })?;
    Ok(server.run())
}

/// A connection that is read a piece at a time.
struct Pieces {
    stream: TcpStream,
    /// How much of the current piece is read.
    read: usize,
    /// Whether a piece was filled since the last answer.
    is_long: bool,
}

impl AsyncRead for Pieces {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.read >= PIECE {
            self.read = 0;
            self.is_long = true;
            // There may be more to read, which the system does not report again.
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let before = bytes.filled().len();
        let outcome = Pin::new(&mut self.stream).poll_read(cx, bytes);
        let count = bytes.filled().len() - before;
        self.read = if outcome.is_pending() { 0 } else { self.read + count };
        outcome
    }
}

impl AsyncWrite for Pieces {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(cx, bytes);
        // The answer may have dropped a body, whose rest actix-http has already: nothing else wakes it to pass over that.
        if outcome.is_ready() && mem::take(&mut self.is_long) {
            cx.waker().wake_by_ref();
        }
        outcome
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::Write,
        net::TcpStream as StdTcpStream,
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
        task::Wake,
    };

    use super::*;

    /// Counts how often its task is woken.
    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[actix_web::test]
    async fn after_a_piece_the_task_is_woken_to_read_on_and_after_the_answer_to_it() {
        let listener = actix_web::rt::net::TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let mut client = StdTcpStream::connect(listener.local_addr().expect("an address")).expect("it listens");
        let (stream, _) = listener.accept().await.expect("a client connects");
        client.write_all(&vec![0; 2 * PIECE]).expect("the bytes are sent");
        stream.readable().await.expect("bytes have arrived");
        let mut pieces = Pieces { stream, read: 0, is_long: false };

        let woken = Arc::new(Woken::default());
        let waker = woken.clone().into();
        let mut cx = Context::from_waker(&waker);
        let (mut bytes, mut count) = ([0; 1024], 0);
        while let Poll::Ready(outcome) = Pin::new(&mut pieces).poll_read(&mut cx, &mut ReadBuf::new(&mut bytes)) {
            outcome.expect("bytes are read");
            count += bytes.len();
        }
        assert_eq!((count, woken.0.load(Ordering::Relaxed)), (PIECE, 1));

        assert!(Pin::new(&mut pieces).poll_write(&mut cx, b"answer").is_ready());
        assert_eq!(woken.0.load(Ordering::Relaxed), 2);
        // An answer to a short request costs no further look.
        assert!(Pin::new(&mut pieces).poll_write(&mut cx, b"answer").is_ready());
        assert_eq!(woken.0.load(Ordering::Relaxed), 2);
    }
}
