//! A request whose answer is read: the documents and tokens of issuers of sign-ins. The request goes over a connection of its own. Its
//! address was looked up and checked for it, under the rules of webhooks. Its answer is bounded in size and time.

use std::{sync::OnceLock, time::Duration};

use http_body_util::Full;
use hyper::{
    Request,
    body::Bytes,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, USER_AGENT},
};
use tokio::time::timeout;
use url::{Position, Url};

use super::{
    endpoint::Endpoint,
    exchange::{Connection, Wanted},
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
        let origin = Origin::of(url).ok_or(SendError::NotAllowed)?;
        let addresses = self.checked(url, &origin).await?;
        let (connection, _) = self.open(&origin, &addresses, CONNECT_TIMEOUT, &[PROTOCOL]).await?;
        let Connection::Http1(connection) = connection else { return Err(SendError::NoAnswer) };
        let body = OnceLock::new();
        let sent = connection.send(request(url, fetch)?, Wanted::Text(&body, BODY_BYTES_MAX)).await;
        let (answer, _) = sent.map_err(|_| SendError::NoAnswer)?;
        Ok(Fetched { status: answer.status, body: body.into_inner().ok_or(SendError::NoAnswer)? })
    }
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
