//! Sends a message to an endpoint: over a kept connection, or one that is opened to an address that was checked.

use std::{
    fmt, io,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use http_body_util::Full;
use hyper::{
    Request, Version,
    body::Bytes,
    header::{CONTENT_TYPE, HOST, HeaderMap, HeaderValue, USER_AGENT},
};
use rustls::{ClientConfig, RootCertStore, crypto::ring, pki_types::ServerName};
use standardwebhooks::{HEADER_WEBHOOK_ID, HEADER_WEBHOOK_SIGNATURE, HEADER_WEBHOOK_TIMESTAMP, Webhook};
use thiserror::Error;
use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::TlsConnector;
use tokio_util::{either::Either, sync::DropGuard};
use url::{Host, Position, Url};

use super::{
    address::is_public,
    endpoint::{Endpoint, Reach},
    exchange::{BODY_BYTES_MAX, Connection, EndpointResponse, Http1, Http2, Lost, Wanted},
    pool::{Ages, IdleConnection, Origin, Pool},
    wire::Wire,
};

/// The timeout of an attempt, from the look-up of the name to the head of the answer.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(10);

/// The timeout of a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The most addresses of a name that are tried.
const ADDRESSES_MAX: usize = 4;

/// How many connections are open by default, with those that wait.
const OPEN_MAX: usize = 512;

/// The protocols that are offered in TLS, the preferred one first.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// Looks up the addresses of a name.
pub type Names = Arc<dyn Fn(String) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>> + Send + Sync>;

/// Sends to endpoints, and keeps their connections for a while. Each connection leads to an address that was looked up and checked for it.
#[derive(Clone)]
pub struct Sender {
    tls: TlsConnector,
    names: Names,
    reach: Reach,
    pool: Pool,
    open_max: usize,
    used: Arc<Used>,
}

/// The requests since the last look, by their connections.
#[derive(Debug, Default)]
struct Used {
    opened: AtomicU64,
    reused: AtomicU64,
}

/// How many connections were opened, and how many requests went over one that was open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionsUsed {
    pub opened: u64,
    pub reused: u64,
}

/// The message of one attempt.
#[derive(Clone, Copy)]
pub struct Attempt<'a> {
    pub url: &'a str,
    /// The id of the message, the same for each attempt.
    pub id: &'a str,
    /// The time of the attempt in seconds since 1970.
    pub now_s: i64,
    pub payload: &'a str,
    /// The secrets: each adds a signature.
    pub secrets: &'a [&'a [u8]],
    /// The challenge that the endpoint must repeat in its answer, if the message is one.
    pub challenge: Option<&'a str>,
}

/// A request as it is sent: to a service of push notifications, or a message with its signatures.
#[derive(Clone)]
pub struct Post {
    pub url: String,
    pub headers: HeaderMap,
    pub body: Bytes,
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
    /// Every reason.
    pub const ALL: [SendError; 6] = [
        SendError::Timeout,
        SendError::NoConnection,
        SendError::Tls,
        SendError::NoAnswer,
        SendError::NameNotFound,
        SendError::NotAllowed,
    ];

    /// Its code, in the database and on the wire.
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
    /// A sender that trusts the public certificate authorities. `names` is [`system_names`] outside tests.
    pub fn new(reach: Reach, names: Names) -> Self {
        Self::trusting(RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() }, reach, names)
    }

    /// A sender that trusts only these certificate authorities.
    pub fn trusting(roots: RootCertStore, reach: Reach, names: Names) -> Self {
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the provider supports the safe versions of TLS")
            .with_root_certificates(roots)
            .with_no_client_auth();
        let tls = TlsConnector::from(Arc::new(config));
        Self { tls, names, reach, pool: Pool::new(Ages::USUAL), open_max: OPEN_MAX, used: Arc::default() }
    }

    /// The same sender with at most `open_max` open connections, but at least one for each attempt.
    #[must_use]
    pub fn with_open_max(self, open_max: usize) -> Self {
        Self { open_max, ..self }
    }

    /// The same sender without connections, which keeps them so long.
    #[must_use]
    pub fn with_ages(self, ages: Ages) -> Self {
        Self { pool: Pool::new(ages), ..self }
    }

    /// The same sender, with its connections, under another rule for addresses.
    #[must_use]
    pub fn with_reach(self, reach: Reach) -> Self {
        Self { reach, ..self }
    }

    /// Sends the message, and reads the head of the answer. The start of its body is needed only after a challenge. Redirects are
    /// not followed.
    pub async fn send(&self, attempt: Attempt<'_>) -> Result<EndpointResponse, SendError> {
        let post = signed(attempt).ok_or(SendError::NotAllowed)?;
        self.deliver(&post, attempt.challenge.map_or(Wanted::Nothing, Wanted::Challenge)).await
    }

    /// Sends a request under the same rules, and reads the head of the answer.
    pub async fn post(&self, post: &Post) -> Result<EndpointResponse, SendError> {
        self.deliver(post, Wanted::Nothing).await
    }

    /// The same, and reads the body of the answer too. It is empty if the answer's is longer than 4 KiB.
    pub async fn post_and_read(&self, post: &Post) -> Result<(EndpointResponse, Bytes), SendError> {
        let text = OnceLock::new();
        let answer = self.deliver(post, Wanted::Text(&text, BODY_BYTES_MAX)).await?;
        Ok((answer, text.into_inner().unwrap_or_default()))
    }

    /// Closes connections that were kept long enough.
    pub fn close_expired(&self) {
        self.pool.close_expired();
    }

    /// The connections used since the last call.
    pub fn take_used(&self) -> ConnectionsUsed {
        let Used { opened, reused } = &*self.used;
        ConnectionsUsed { opened: opened.swap(0, Ordering::Relaxed), reused: reused.swap(0, Ordering::Relaxed) }
    }

    /// How many connections are open, with those that wait for a request.
    pub fn count_open(&self) -> usize {
        self.pool.count_open()
    }

    /// How many connections are ready for a request, as far as is known.
    pub fn count_kept(&self) -> usize {
        self.pool.count_kept()
    }

    pub(super) const fn reach(&self) -> Reach {
        self.reach
    }

    async fn deliver(&self, post: &Post, wanted: Wanted<'_>) -> Result<EndpointResponse, SendError> {
        // Parsed again, because the allowed addresses may have changed since the URL was stored.
        let endpoint = Endpoint::parse(&post.url, self.reach).map_err(|_| SendError::NotAllowed)?;
        let message = Message { url: endpoint.url(), post, wanted };
        timeout(ATTEMPT_TIMEOUT, self.attempt(message)).await.unwrap_or(Err(SendError::Timeout))
    }

    async fn attempt(&self, message: Message<'_>) -> Result<EndpointResponse, SendError> {
        let url = message.url;
        let origin = Origin::of(url).ok_or(SendError::NotAllowed)?;
        let kept = if let Some(kept) = self.pool.take_checked(&origin) {
            kept
        } else {
            let addresses = self.checked(url, &origin).await?;
            match self.pool.take_to(&origin, &addresses) {
                Some(kept) => kept,
                None => return self.send_anew(origin, &addresses, message).await,
            }
        };
        self.used.reused.fetch_add(1, Ordering::Relaxed);
        match self.exchange(&origin, kept, Use::Again, message).await? {
            Ok(answer) => Ok(answer),
            // The endpoint may have closed it meanwhile, which is no failure of the endpoint.
            Err(Lost { has_answered: false }) => {
                let addresses = self.checked(url, &origin).await?;
                self.send_anew(origin, &addresses, message).await
            }
            Err(Lost { has_answered: true }) => Err(SendError::NoAnswer),
        }
    }

    /// Sends over a new connection to one of the addresses, which were just checked.
    async fn send_anew(
        &self,
        origin: Origin,
        addresses: &[IpAddr],
        message: Message<'_>,
    ) -> Result<EndpointResponse, SendError> {
        let checked = Instant::now();
        let (connection, address) = self.open(&origin, addresses, CONNECT_TIMEOUT, &PROTOCOLS).await?;
        let kept = IdleConnection { connection, address, opened: checked, checked };
        if let Some(shared) = kept.share() {
            self.pool.put(origin.clone(), shared);
        }
        self.exchange(&origin, kept, Use::First, message).await?.map_err(|_| SendError::NoAnswer)
    }

    /// Sends over a connection, and keeps it if it can be used again.
    async fn exchange(
        &self,
        origin: &Origin,
        kept: IdleConnection,
        used: Use,
        message: Message<'_>,
    ) -> Result<Result<EndpointResponse, Lost>, SendError> {
        let IdleConnection { connection, .. } = kept;
        Ok(match connection {
            Connection::Http1(connection) => {
                if used == Use::Again {
                    connection.begin();
                }
                let sent = connection.send(message.request(Version::HTTP_11)?, message.wanted).await;
                sent.and_then(|(answer, again)| {
                    used.check(answer)?;
                    if let Some(connection) = again {
                        let connection = Connection::Http1(connection);
                        self.pool.put(origin.clone(), IdleConnection { connection, ..kept });
                    }
                    Ok(answer)
                })
            }
            Connection::Http2(connection) => {
                let identity = connection.identity();
                let mut shared = Shared { pool: &self.pool, origin, identity, is_usable: false };
                let sent = connection.send(message.request(Version::HTTP_2)?, message.wanted).await;
                sent.and_then(|(answer, is_usable)| {
                    used.check(answer)?;
                    shared.is_usable = is_usable;
                    Ok(answer)
                })
            }
        })
    }

    /// The addresses of a host, all of which must be allowed: a name with a private address is suspicious. Otherwise its kept
    /// connections are closed too.
    pub(super) async fn checked(&self, url: &Url, origin: &Origin) -> Result<Vec<IpAddr>, SendError> {
        let addresses = match url.host() {
            Some(Host::Ipv4(address)) => vec![IpAddr::V4(address)],
            Some(Host::Ipv6(address)) => vec![IpAddr::V6(address)],
            Some(Host::Domain(name)) => (self.names)(name.to_owned()).await.unwrap_or_default(),
            None => vec![],
        };
        if matches!(self.reach, Reach::Public(_)) && !addresses.iter().copied().all(is_public) {
            self.pool.close(origin);
            return Err(SendError::NotAllowed);
        }
        Ok(addresses)
    }

    /// Opens a connection to one of the checked addresses, with one of the protocols if it is encrypted.
    pub(super) async fn open(
        &self,
        origin: &Origin,
        addresses: &[IpAddr],
        patience: Duration,
        protocols: &[&[u8]],
    ) -> Result<(Connection, IpAddr), SendError> {
        let (wire, address) = self.connect(addresses, origin.port, patience).await?;
        let meter = wire.meter();
        let (stream, is_http2) = if origin.is_encrypted {
            let name = ServerName::try_from(origin.host.trim_matches(['[', ']']).to_owned());
            let name = name.map_err(|_| SendError::NameNotFound)?;
            let tls = self.tls.with_alpn(protocols.iter().map(|protocol| protocol.to_vec()).collect());
            let stream = tls.connect(name, wire).await.map_err(|_| SendError::Tls)?;
            let is_http2 = stream.get_ref().1.alpn_protocol() == Some(PROTOCOLS[0]);
            (Either::Right(Box::new(stream)), is_http2)
        } else {
            (Either::Left(wire), false)
        };
        let connection = if is_http2 {
            Http2::open(stream, meter).await.map(Connection::Http2)
        } else {
            Http1::open(stream, meter).await.map(Connection::Http1)
        };
        Ok((connection.map_err(|_| SendError::NoAnswer)?, address))
    }

    /// Connects to one of the checked addresses, so that a changed DNS answer (DNS rebinding) has no effect.
    async fn connect(&self, addresses: &[IpAddr], port: u16, patience: Duration) -> Result<(Wire, IpAddr), SendError> {
        let mut failure = SendError::NameNotFound;
        for &address in addresses.iter().take(ADDRESSES_MAX) {
            let open = self.pool.open(self.open_max);
            match timeout(patience, TcpStream::connect(SocketAddr::new(address, port))).await {
                Ok(Ok(stream)) => {
                    self.used.opened.fetch_add(1, Ordering::Relaxed);
                    return Ok((Wire::new(stream, open), address));
                }
                Ok(Err(_)) => failure = SendError::NoConnection,
                Err(_) => failure = SendError::Timeout,
            }
        }
        Err(failure)
    }
}

/// Whether a connection has served a request before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    First,
    Again,
}

impl Use {
    /// Refuses an answer that is none to this request: on a reused connection, the endpoint may report that it waited too long.
    fn check(self, answer: EndpointResponse) -> Result<(), Lost> {
        if self == Use::Again && answer.is_tired() { Err(Lost { has_answered: false }) } else { Ok(()) }
    }
}

/// A request over a shared connection. Unless it ends with a proper answer, further requests get another connection.
struct Shared<'a> {
    pool: &'a Pool,
    origin: &'a Origin,
    identity: Weak<DropGuard>,
    is_usable: bool,
}

impl Drop for Shared<'_> {
    fn drop(&mut self) {
        if !self.is_usable {
            self.pool.close_shared(self.origin, &self.identity);
        }
    }
}

/// A request to an allowed URL, and the part of its answer that the caller needs.
#[derive(Clone, Copy)]
struct Message<'a> {
    url: &'a Url,
    post: &'a Post,
    wanted: Wanted<'a>,
}

impl Message<'_> {
    fn request(self, version: Version) -> Result<Request<Full<Bytes>>, SendError> {
        let Self { url, post: Post { headers, body, .. }, .. } = self;
        // HTTP/2 makes its fields `:scheme`, `:authority` and `:path` of a whole URL.
        let request = if version == Version::HTTP_2 {
            Request::post(&url[..Position::AfterQuery]).version(version)
        } else {
            Request::post(&url[Position::BeforePath..Position::AfterQuery])
                .header(HOST, &url[Position::BeforeHost..Position::AfterPort])
        };
        let request = request.header(USER_AGENT, concat!("mancala-server/", env!("CARGO_PKG_VERSION")));
        let request = headers.iter().fold(request, |request, (name, value)| request.header(name, value));
        request.body(Full::from(body.clone())).map_err(|_| SendError::NotAllowed)
    }
}

/// The request of a webhook's message, with one signature for each secret.
fn signed(attempt: Attempt<'_>) -> Option<Post> {
    let signatures = attempt.secrets.iter().filter_map(|secret| {
        let signing = Webhook::from_bytes(secret.to_vec()).ok()?;
        signing.sign(attempt.id, attempt.now_s, attempt.payload.as_bytes()).ok()
    });
    let signatures = signatures.collect::<Vec<_>>().join(" ");
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(HEADER_WEBHOOK_ID, HeaderValue::try_from(attempt.id).ok()?);
    headers.insert(HEADER_WEBHOOK_TIMESTAMP, HeaderValue::from(attempt.now_s));
    headers.insert(HEADER_WEBHOOK_SIGNATURE, HeaderValue::try_from(signatures).ok()?);
    Some(Post { url: attempt.url.to_owned(), headers, body: Bytes::from(attempt.payload.to_owned()) })
}

/// Looks up names with the system's resolver.
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
