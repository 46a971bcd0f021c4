//! One attempt to send a message to an endpoint.

use std::{
    fmt, io,
    net::{IpAddr, SocketAddr},
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};

use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    Request, Response,
    body::Bytes,
    client::conn::http1,
    header::{CONTENT_TYPE, HOST, HeaderMap, RETRY_AFTER, USER_AGENT},
};
use hyper_util::rt::TokioIo;
use rustls::{ClientConfig, RootCertStore, crypto::ring, pki_types::ServerName};
use serde::Deserialize;
use standardwebhooks::{HEADER_WEBHOOK_ID, HEADER_WEBHOOK_SIGNATURE, HEADER_WEBHOOK_TIMESTAMP, Webhook};
use thiserror::Error;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::TlsConnector;
use url::{Host, Position, Url};

use super::{
    address::is_public,
    endpoint::{Endpoint, Reach},
};

/// The timeout of an attempt, from the look-up of the name to the head of the answer.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(10);

/// The timeout of a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The most bytes that the heads of an answer may have together: interim answers (1xx) may precede the final one.
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// The most bytes that are read from a connection, including TLS.
const BYTES_MAX: u64 = 256 * 1024;

/// The most bytes that are read of the body that answers a challenge: a little more than a challenge in JSON.
const CHALLENGE_ANSWER_BYTES_MAX: usize = 4096;

/// The most addresses of a name that are tried.
const ADDRESSES_MAX: usize = 4;

/// Looks up the addresses of a name.
pub type Names = Arc<dyn Fn(String) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>> + Send + Sync>;

/// Sends to endpoints. Each attempt has its own connection, to an address that was looked up and checked for it.
#[derive(Clone)]
pub struct Sender {
    tls: TlsConnector,
    names: Names,
    reach: Reach,
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
    /// What the endpoint must repeat in its answer, if the message is a challenge.
    pub challenge: Option<&'a str>,
}

/// The answer of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndpointResponse {
    pub status: u16,
    /// The pause in seconds that the endpoint asks for.
    pub retry_after_s: Option<u32>,
    /// Whether it lacks the challenge that it must repeat.
    pub lacks_challenge: bool,
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
        Self { tls: TlsConnector::from(Arc::new(config)), names, reach }
    }

    /// Sends the message, and reads the head of the answer. The start of its body is read only after a challenge. Redirects are
    /// not followed.
    pub async fn send(&self, attempt: Attempt<'_>) -> Result<EndpointResponse, SendError> {
        timeout(ATTEMPT_TIMEOUT, self.attempt(attempt)).await.unwrap_or(Err(SendError::Timeout))
    }

    async fn attempt(&self, attempt: Attempt<'_>) -> Result<EndpointResponse, SendError> {
        // Parsed again, because the allowed addresses may have changed since the URL was stored.
        let endpoint = Endpoint::parse(attempt.url, self.reach).map_err(|_| SendError::NotAllowed)?;
        let url = endpoint.url();
        let request = request(url, attempt)?;
        let (reading, writing) = tokio::io::split(self.connect(url).await?);
        let stream = tokio::io::join(reading.take(BYTES_MAX), writing);
        if url.scheme() == "http" {
            return exchange(stream, request, attempt.challenge).await;
        }
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let name = ServerName::try_from(host).map_err(|_| SendError::NameNotFound)?;
        let encrypted = self.tls.connect(name, stream).await.map_err(|_| SendError::Tls)?;
        exchange(encrypted, request, attempt.challenge).await
    }

    /// Connects to one of the addresses of a host, all of which must be allowed: a name with a private address is suspicious. The
    /// connection goes to a checked address, so that a changed DNS answer (DNS rebinding) has no effect.
    async fn connect(&self, url: &Url) -> Result<TcpStream, SendError> {
        let addresses = match url.host() {
            Some(Host::Ipv4(address)) => vec![IpAddr::V4(address)],
            Some(Host::Ipv6(address)) => vec![IpAddr::V6(address)],
            Some(Host::Domain(name)) => (self.names)(name.to_owned()).await.unwrap_or_default(),
            None => vec![],
        };
        if matches!(self.reach, Reach::Public(_)) && !addresses.iter().copied().all(is_public) {
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

/// The request, with one signature for each secret.
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

/// Sends a request over a connection, which closes once the answer is read: its head, and after a challenge the start of its body.
async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    request: Request<Full<Bytes>>,
    challenge: Option<&str>,
) -> Result<EndpointResponse, SendError> {
    let mut connecting = http1::Builder::new();
    connecting.max_buf_size(HEAD_BYTES_MAX);
    let connected = connecting.handshake(TokioIo::new(stream)).await.map_err(|_| SendError::NoAnswer)?;
    let (mut requests, connection) = connected;
    let answer = async {
        let response = requests.send_request(request).await?;
        let mut answer = EndpointResponse::of(&response);
        if let Some(challenge) = challenge {
            let body = Limited::new(response.into_body(), CHALLENGE_ANSWER_BYTES_MAX).collect().await;
            answer.lacks_challenge = !body.is_ok_and(|body| repeats(challenge, &body.to_bytes()));
        }
        Ok::<_, hyper::Error>(answer)
    };
    let (mut answer, mut connection) = (pin!(answer), pin!(connection));
    let answer = tokio::select! {
        answer = &mut answer => answer,
        // The connection may have ended after an answer.
        _ = &mut connection => answer.await,
    };
    answer.map_err(|_| SendError::NoAnswer)
}

/// Whether a body repeats a challenge: as text, or as JSON like `{"challenge": "…"}`. A service that sends back whatever it gets does
/// not: in the message, the challenge stands elsewhere.
fn repeats(challenge: &str, body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Repeated<'a> {
        challenge: &'a str,
    }
    body.trim_ascii() == challenge.as_bytes()
        || serde_json::from_slice::<Repeated<'_>>(body).is_ok_and(|repeated| repeated.challenge == challenge)
}

impl EndpointResponse {
    fn of<B>(response: &Response<B>) -> Self {
        let retry_after_s = retry_after_s(response.headers());
        Self { status: response.status().as_u16(), retry_after_s, lacks_challenge: false }
    }

    /// Whether the endpoint took the message: by the status, and for a challenge also by the body.
    pub const fn is_success(self) -> bool {
        matches!(self.status, 200..=299) && !self.lacks_challenge
    }

    /// Whether the endpoint unsubscribes.
    pub const fn is_gone(self) -> bool {
        self.status == 410
    }
}

/// The seconds of `Retry-After`. A date is ignored, and the schedule applies.
fn retry_after_s(headers: &HeaderMap) -> Option<u32> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_is_repeated_as_text_or_as_json_and_not_by_an_echo() {
        for body in ["abc", " abc\r\n", r#"{"challenge":"abc"}"#, r#"{"ok": true, "challenge": "abc"}"#] {
            assert!(repeats("abc", body.as_bytes()), "{body}");
        }
        let echo = r#"{"type":"webhook.challenge","data":{"challenge":"abc"}}"#;
        for body in ["", "ab", "abcd", r#""abc""#, r#"{"challenge":"abcd"}"#, "{", echo] {
            assert!(!repeats("abc", body.as_bytes()), "{body}");
        }
    }
}
