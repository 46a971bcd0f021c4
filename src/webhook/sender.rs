//! One attempt to send something to an endpoint.

use std::{
    fmt, io,
    net::{IpAddr, SocketAddr},
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};

use http_body_util::Full;
use hyper::{
    Request, Response,
    body::Bytes,
    client::conn::http1,
    header::{CONTENT_TYPE, HOST, HeaderMap, RETRY_AFTER, USER_AGENT},
};
use hyper_util::rt::TokioIo;
use rustls::{ClientConfig, RootCertStore, crypto::ring, pki_types::ServerName};
use standardwebhooks::{HEADER_WEBHOOK_ID, HEADER_WEBHOOK_SIGNATURE, HEADER_WEBHOOK_TIMESTAMP, Webhook};
use thiserror::Error;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::TlsConnector;
use url::{Host, Position, Url};

use super::{Endpoint, Reach, is_public};

/// How long an attempt takes at most, from the look-up of the name to the head of the answer.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a connection is waited for.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How much of an answer is read at most while its head is looked for, in bytes; also of several heads, as an answer may have others
/// before it.
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// How much is read of a connection at most, with all that is encryption.
const BYTES_MAX: u64 = 256 * 1024;

/// How many addresses of a name are tried.
const ADDRESSES_MAX: usize = 4;

/// The addresses of a name.
pub type Names = Arc<dyn Fn(String) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>> + Send + Sync>;

/// Sends to endpoints. Each attempt has a connection of its own, to an address that was looked up for it and checked.
#[derive(Clone)]
pub struct Sender {
    tls: TlsConnector,
    names: Names,
    reach: Reach,
}

/// What is sent.
#[derive(Clone, Copy)]
pub struct Attempt<'a> {
    pub url: &'a str,
    /// The same for each attempt.
    pub id: &'a str,
    /// In seconds since 1970.
    pub now_s: i64,
    pub payload: &'a str,
    /// What signs: each secret makes a signature.
    pub secrets: &'a [&'a [u8]],
}

/// What an endpoint answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    /// After how many seconds it wants to be asked again.
    pub retry_after_s: Option<u32>,
}

/// Why there was no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SendError {
    #[error("address_not_allowed")]
    NotAllowed,
    #[error("name_not_found")]
    NameNotFound,
    #[error("timeout")]
    Timeout,
    #[error("no_connection")]
    NoConnection,
    #[error("tls")]
    Tls,
    #[error("no_answer")]
    NoAnswer,
}

impl SendError {
    /// The word for it, in the database and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            SendError::NotAllowed => "address_not_allowed",
            SendError::NameNotFound => "name_not_found",
            SendError::Timeout => "timeout",
            SendError::NoConnection => "no_connection",
            SendError::Tls => "tls",
            SendError::NoAnswer => "no_answer",
        }
    }
}

impl Sender {
    /// `names` says the addresses of names: [`system_names`], unless there is a reason.
    pub fn new(reach: Reach, names: Names) -> Self {
        Self::believing(RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() }, reach, names)
    }

    /// Believes certificates that these vouch for, and no others.
    pub fn believing(roots: RootCertStore, reach: Reach, names: Names) -> Self {
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the provider knows the versions of TLS that are safe")
            .with_root_certificates(roots)
            .with_no_client_auth();
        Self { tls: TlsConnector::from(Arc::new(config)), names, reach }
    }

    /// Sends, and waits for the head of the answer. The rest of it is not read, however long it is: nobody asks for it. A redirect is
    /// an answer like any other.
    pub async fn send(&self, attempt: Attempt<'_>) -> Result<Answer, SendError> {
        timeout(ATTEMPT_TIMEOUT, self.attempt(attempt)).await.unwrap_or(Err(SendError::Timeout))
    }

    async fn attempt(&self, attempt: Attempt<'_>) -> Result<Answer, SendError> {
        // Read again: what was allowed when it was stored may not be any more.
        let endpoint = Endpoint::parse(attempt.url, self.reach).map_err(|_| SendError::NotAllowed)?;
        let url = endpoint.url();
        let request = request(url, attempt)?;
        let (reading, writing) = tokio::io::split(self.connect(url).await?);
        let stream = tokio::io::join(reading.take(BYTES_MAX), writing);
        if url.scheme() == "http" {
            return exchange(stream, request).await;
        }
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let name = ServerName::try_from(host).map_err(|_| SendError::NameNotFound)?;
        let encrypted = self.tls.connect(name, stream).await.map_err(|_| SendError::Tls)?;
        exchange(encrypted, request).await
    }

    /// A connection to one of the addresses of a host, all of which must be allowed: a name that has any other is not to be trusted with
    /// the rest. What was checked is what is connected to, so that the name cannot mean something else a moment later.
    async fn connect(&self, url: &Url) -> Result<TcpStream, SendError> {
        let addresses = match url.host() {
            Some(Host::Ipv4(address)) => vec![IpAddr::V4(address)],
            Some(Host::Ipv6(address)) => vec![IpAddr::V6(address)],
            Some(Host::Domain(name)) => (self.names)(name.to_owned()).await.unwrap_or_default(),
            None => vec![],
        };
        if self.reach == Reach::Public && !addresses.iter().copied().all(is_public) {
            return Err(SendError::NotAllowed);
        }
        let port = url.port_or_known_default().ok_or(SendError::NotAllowed)?;
        let mut failure = SendError::NameNotFound;
        for address in addresses.into_iter().take(ADDRESSES_MAX) {
            match timeout(CONNECT_TIMEOUT, TcpStream::connect(SocketAddr::new(address, port))).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(_)) => failure = SendError::NoConnection,
                Err(_) => failure = SendError::Timeout,
            }
        }
        Err(failure)
    }
}

/// The request, with a signature by each secret.
fn request(url: &Url, attempt: Attempt<'_>) -> Result<Request<Full<Bytes>>, SendError> {
    let signatures = attempt.secrets.iter().filter_map(|secret| {
        let signing = Webhook::from_bytes(secret.to_vec()).ok()?;
        signing.sign(attempt.id, attempt.now_s, attempt.payload.as_bytes()).ok()
    });
    Request::post(&url[Position::BeforePath..Position::AfterQuery])
        .header(HOST, &url[Position::BeforeHost..Position::AfterPort])
        .header(USER_AGENT, concat!("mancala-server/", env!("CARGO_PKG_VERSION")))
        .header(CONTENT_TYPE, "application/json")
        .header(HEADER_WEBHOOK_ID, attempt.id)
        .header(HEADER_WEBHOOK_TIMESTAMP, attempt.now_s)
        .header(HEADER_WEBHOOK_SIGNATURE, signatures.collect::<Vec<_>>().join(" "))
        .body(Full::from(attempt.payload.to_owned()))
        .map_err(|_| SendError::NotAllowed)
}

/// Sends a request over a connection, which is closed as soon as the head of the answer is there.
async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    request: Request<Full<Bytes>>,
) -> Result<Answer, SendError> {
    let mut connecting = http1::Builder::new();
    connecting.max_buf_size(HEAD_BYTES_MAX);
    let connected = connecting.handshake(TokioIo::new(stream)).await.map_err(|_| SendError::NoAnswer)?;
    let (mut requests, connection) = connected;
    let (mut answer, mut connection) = (pin!(requests.send_request(request)), pin!(connection));
    let answer = tokio::select! {
        answer = &mut answer => answer,
        // It may end with an answer.
        _ = &mut connection => answer.await,
    };
    answer.map(|response| Answer::of(&response)).map_err(|_| SendError::NoAnswer)
}

impl Answer {
    fn of<B>(response: &Response<B>) -> Self {
        Self { status: response.status().as_u16(), retry_after_s: retry_after_s(response.headers()) }
    }

    pub const fn is_success(self) -> bool {
        matches!(self.status, 200..=299)
    }

    /// Whether the endpoint wants nothing any more.
    pub const fn is_gone(self) -> bool {
        self.status == 410
    }
}

/// A date instead of seconds is not read: the schedule is good enough then.
fn retry_after_s(headers: &HeaderMap) -> Option<u32> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()
}

/// What the system says of names.
pub fn system_names() -> Names {
    Arc::new(|name| {
        Box::pin(async move { Ok(tokio::net::lookup_host((name, 0)).await?.map(|address| address.ip()).collect()) })
    })
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("reach", &self.reach).finish_non_exhaustive()
    }
}
