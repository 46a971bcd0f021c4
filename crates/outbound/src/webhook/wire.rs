//! A TCP connection to an endpoint. The bytes that are read for one request are bounded, and bytes before a request are found. The bytes
//! that were read of an answer are known, without those of TLS. The connection knows neither TLS nor HTTP.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    task::{Context, Poll, ready},
};

use rustix::net::{RecvFlags, recv};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};
use tokio_util::io::{InspectReader, InspectWriter};

/// The most bytes that are read from a connection for one request, including TLS.
const BYTES_MAX: u64 = 256 * 1024;

/// The connection, from its start to its end.
#[derive(Debug)]
pub(super) struct Wire {
    stream: TcpStream,
    meter: Arc<Meter>,
    _open: Open,
}

/// Counts the bytes of a connection, and stays readable while others own the connection.
#[derive(Debug)]
pub(super) struct Meter {
    /// How many more bytes may be read.
    left: AtomicU64,
    /// Whether something was written since the last request began.
    is_asked: AtomicBool,
    /// Whether something was read after that.
    has_answered: AtomicBool,
    /// Whether the next write begins a request after another one.
    begins: AtomicBool,
}

/// The stream that HTTP reads and writes: the connection, or TLS over it. The meter is notified of written and read bytes.
pub(super) type Talk<S> = InspectReader<InspectWriter<S, Note>, Note>;

/// Notes bytes that were written or read.
type Note = Box<dyn FnMut(&[u8]) + Send>;

/// An open connection, which is counted until it is dropped.
#[derive(Debug)]
pub(super) struct Open(Arc<AtomicUsize>);

impl Open {
    pub(super) fn count(all: &Arc<AtomicUsize>) -> Self {
        all.fetch_add(1, Ordering::Relaxed);
        Self(all.clone())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Wire {
    pub(super) fn new(stream: TcpStream, open: Open) -> Self {
        // Without it, a request in two parts waits for the endpoint's acknowledgement. A failure only costs time.
        let _ = stream.set_nodelay(true);
        let meter = Meter {
            left: AtomicU64::new(BYTES_MAX),
            is_asked: AtomicBool::new(false),
            has_answered: AtomicBool::new(false),
            begins: AtomicBool::new(false),
        };
        Self { stream, meter: Arc::new(meter), _open: open }
    }

    pub(super) fn meter(&self) -> Arc<Meter> {
        self.meter.clone()
    }

    /// Whether the endpoint has sent something, or has closed the connection. It asks the system: the runtime may not know yet.
    fn has_input(&self) -> bool {
        match recv(&self.stream, &mut [0; 1][..], RecvFlags::PEEK | RecvFlags::DONTWAIT) {
            Err(error) => !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted),
            Ok(_) => true,
        }
    }
}

impl Meter {
    /// Gives another request what the first one had.
    pub(super) fn renew(&self) {
        self.left.store(BYTES_MAX, Ordering::Relaxed);
    }

    /// Begins a request on a connection on which answers come in the order of the requests. Bytes that arrive before the request is written
    /// are no answer to it: then nothing is written, and the connection fails.
    pub(super) fn begin(&self) {
        self.renew();
        self.is_asked.store(false, Ordering::Relaxed);
        self.has_answered.store(false, Ordering::Relaxed);
        self.begins.store(true, Ordering::Relaxed);
    }

    /// Whether bytes were read since the last request was written. Only bytes that pass through [`Talk`] count.
    pub(super) fn has_answered(&self) -> bool {
        self.has_answered.load(Ordering::Relaxed)
    }

    /// A stream whose requests and answers the meter notes.
    pub(super) fn note<S: AsyncRead + AsyncWrite>(self: &Arc<Self>, stream: S) -> Talk<S> {
        let (asked, answered) = (self.clone(), self.clone());
        let is_written = move |bytes: &[u8]| {
            if !bytes.is_empty() {
                asked.is_asked.store(true, Ordering::Relaxed);
            }
        };
        let is_read = move |bytes: &[u8]| {
            if !bytes.is_empty() && answered.is_asked.load(Ordering::Relaxed) {
                answered.has_answered.store(true, Ordering::Relaxed);
            }
        };
        InspectReader::new(InspectWriter::new(stream, Box::new(is_written)), Box::new(is_read))
    }
}

impl AsyncRead for Wire {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let left = usize::try_from(self.meter.left.load(Ordering::Relaxed)).unwrap_or(usize::MAX);
        // The stream then ends as if the endpoint had closed the connection.
        if left == 0 {
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        if left < buffer.remaining() {
            let mut last = ReadBuf::new(buffer.initialize_unfilled_to(left));
            ready!(Pin::new(&mut self.stream).poll_read(cx, &mut last))?;
            let count = last.filled().len();
            buffer.advance(count);
        } else {
            ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        }
        let count = buffer.filled().len() - before;
        self.meter.left.fetch_sub(count as u64, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl Wire {
    /// Refuses to begin a request behind bytes that the endpoint has sent before it.
    fn check(&self) -> io::Result<()> {
        if self.meter.begins.swap(false, Ordering::Relaxed) && self.has_input() {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        Ok(())
    }
}
