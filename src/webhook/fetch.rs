//! A request whose answer is read: the documents and tokens of issuers of sign-ins. The request goes over a connection of its own. Its
//! address was looked up and checked for it, under the rules of webhooks. Its answer is bounded in size and time.

use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    Request, Response,
    body::{Body, Bytes, Incoming},
    client::conn::http1,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, USER_AGENT},
};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::{pin, select, time::timeout};
use tokio_util::either::Either;
use url::{Position, Url};

use super::{
    endpoint::Endpoint,
    exchange::{HEAD_BYTES_MAX, Stream},
    pool::Origin,
    sender::{SendError, Sender},
};

/// The timeout from the look-up of the name to the end of the answer: a person waits for it.
const FETCH_TIMEOUT: Duration = Duration::from_secs(8);

/// The timeout of a connection to one address. Names often have one that leads nowhere, so there is time for others.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// The longest body that is read: several times what the documents of known issuers have.
const BODY_BYTES_MAX: usize = 64 * 1024;

/// The one protocol that is offered, because the connection serves one request.
const PROTOCOL: &[u8] = b"http/1.1";

/// A request.
#[derive(Clone, Copy)]
pub struct Fetch<'a> {
    pub url: &'a str,
    /// A form to post; without one it is a GET.
    pub form: Option<&'a str>,
    /// The value of `Authorization`.
    pub authorization: Option<&'a str>,
}

impl<'a> Fetch<'a> {
    /// The document at a URL.
    pub const fn document(url: &'a str) -> Self {
        Self { url, form: None, authorization: None }
    }
}

/// An answer that was read to its end.
#[derive(Clone, Debug)]
pub struct Fetched {
    pub status: u16,
    pub body: Bytes,
}

impl Sender {
    /// Sends a request and reads its whole answer. Redirects are not followed.
    pub async fn fetch(&self, fetch: Fetch<'_>) -> Result<Fetched, SendError> {
        let endpoint = Endpoint::parse(fetch.url, self.reach()).map_err(|_| SendError::NotAllowed)?;
        timeout(FETCH_TIMEOUT, self.exchange_once(endpoint.url(), fetch)).await.unwrap_or(Err(SendError::Timeout))
    }

    /// Whether a URL may be fetched, apart from the addresses of its name.
    pub fn may_reach(&self, url: &str) -> bool {
        Endpoint::parse(url, self.reach()).is_ok()
    }

    async fn exchange_once(&self, url: &Url, fetch: Fetch<'_>) -> Result<Fetched, SendError> {
        let origin = Origin {
            is_encrypted: url.scheme() == "https",
            host: url.host_str().unwrap_or_default().to_owned(),
            port: url.port_or_known_default().ok_or(SendError::NotAllowed)?,
        };
        let addresses = self.checked(url, &origin).await?;
        let (wire, _) = self.connect(&addresses, origin.port, CONNECT_TIMEOUT).await?;
        let stream: Stream = if origin.is_encrypted {
            let name = ServerName::try_from(origin.host.trim_matches(['[', ']']).to_owned());
            let name = name.map_err(|_| SendError::NameNotFound)?;
            let tls = self.tls().with_alpn(vec![PROTOCOL.to_vec()]);
            Either::Right(Box::new(tls.connect(name, wire).await.map_err(|_| SendError::Tls)?))
        } else {
            Either::Left(wire)
        };
        send(stream, request(url, fetch)?).await
    }
}

/// Sends a request over a connection, and reads the answer to its end.
async fn send(stream: Stream, request: Request<Full<Bytes>>) -> Result<Fetched, SendError> {
    let mut connecting = http1::Builder::new();
    connecting.max_buf_size(HEAD_BYTES_MAX);
    let opened = connecting.handshake(TokioIo::new(stream)).await;
    let (mut requests, driver) = opened.map_err(|_| SendError::NoAnswer)?;
    let exchanged = async {
        let response = requests.send_request(request).await.map_err(|_| SendError::NoAnswer)?;
        read(response).await
    };
    pin!(driver, exchanged);
    select! {
        biased;
        fetched = &mut exchanged => fetched,
        // What was read before the connection ended is still to be had.
        _ = &mut driver => exchanged.await,
    }
}

async fn read(response: Response<Incoming>) -> Result<Fetched, SendError> {
    let status = response.status().as_u16();
    let body = response.into_body();
    if body.size_hint().lower() > BODY_BYTES_MAX as u64 {
        return Err(SendError::NoAnswer);
    }
    let body = Limited::new(body, BODY_BYTES_MAX).collect().await.map_err(|_| SendError::NoAnswer)?;
    Ok(Fetched { status, body: body.to_bytes() })
}

fn request(url: &Url, fetch: Fetch<'_>) -> Result<Request<Full<Bytes>>, SendError> {
    let target = &url[Position::BeforePath..Position::AfterQuery];
    let mut request = match fetch.form {
        Some(_) => Request::post(target).header(CONTENT_TYPE, "application/x-www-form-urlencoded"),
        None => Request::get(target),
    };
    if let Some(authorization) = fetch.authorization {
        request = request.header(AUTHORIZATION, authorization);
    }
    request
        .header(HOST, &url[Position::BeforeHost..Position::AfterPort])
        .header(USER_AGENT, concat!("mancala-server/", env!("CARGO_PKG_VERSION")))
        .header(ACCEPT, "application/json")
        .body(Full::from(fetch.form.unwrap_or_default().to_owned()))
        .map_err(|_| SendError::NotAllowed)
}
