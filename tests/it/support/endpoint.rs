//! A webhook's endpoint on this machine. It records requests, and answers as a test has set. It repeats challenges unless it is told
//! not to.

use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use standardwebhooks::Webhook;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{HandshakeKind, ServerConfig},
};

/// A request to an endpoint.
#[derive(Clone, Debug)]
pub struct Received {
    pub path: String,
    pub headers: HeaderMap,
    pub text: String,
    pub body: Value,
}

impl Received {
    pub fn kind(&self) -> &str {
        self.body["type"].as_str().expect("a type")
    }

    pub fn id(&self) -> &str {
        self.headers["webhook-id"].to_str().expect("an id")
    }

    pub fn seq(&self) -> u64 {
        self.body["data"]["seq"].as_u64().expect("a seq")
    }

    /// Whether its signature verifies by a secret.
    pub fn is_signed_by(&self, secret: &str) -> bool {
        let signing = Webhook::new(secret).expect("a secret");
        signing.verify(self.text.as_bytes(), &self.headers).is_ok()
    }
}

/// An answer of an endpoint.
#[derive(Clone, Debug)]
pub enum Reply {
    Status(u16),
    /// A status with another header.
    With(u16, String),
    /// An answer of 10^9 bytes by its head, sent as far as the client takes it.
    Giant,
    /// An answer whose body never ends.
    Endless,
    /// Headers without an end.
    EndlessHead,
    /// Interim responses (103) without an end.
    EndlessInterim,
    /// 200, and the connection is closed, which the answer does not say.
    Closing,
    /// 200 with a body of so many bytes.
    Long(usize),
    /// 200, and a second answer that nothing asked for, in one piece.
    Twice,
    /// Nothing, and the connection is closed.
    Nothing,
    /// Nothing, and the connection stays until the client closes it.
    Silence,
}

/// An endpoint on this machine. It answers 200 by default.
#[derive(Clone)]
pub struct Endpoint {
    pub address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
    challenges: Arc<Mutex<Vec<Received>>>,
    agrees: Arc<AtomicBool>,
    replies: Arc<Mutex<VecDeque<Reply>>>,
    always: Arc<Mutex<Reply>>,
    held: Arc<AtomicUsize>,
    connections: Arc<AtomicUsize>,
    open: Arc<AtomicUsize>,
    resumed: Arc<AtomicUsize>,
}

impl Endpoint {
    pub async fn start() -> Self {
        Self::start_with(None).await
    }

    /// An endpoint behind TLS.
    pub async fn start_encrypted(config: ServerConfig) -> Self {
        Self::start_with(Some(TlsAcceptor::from(Arc::new(config)))).await
    }

    /// Starts an endpoint at another address of this machine, and a given port.
    pub async fn start_at(address: SocketAddr) -> Self {
        Self::listen(TcpListener::bind(address).await.expect("the port is free"), None)
    }

    async fn start_with(tls: Option<TlsAcceptor>) -> Self {
        Self::listen(TcpListener::bind("127.0.0.1:0").await.expect("a port is free"), tls)
    }

    fn listen(listener: TcpListener, tls: Option<TlsAcceptor>) -> Self {
        let endpoint = Self {
            address: listener.local_addr().expect("an address"),
            received: Arc::default(),
            challenges: Arc::default(),
            agrees: Arc::new(AtomicBool::new(true)),
            replies: Arc::default(),
            always: Arc::new(Mutex::new(Reply::Status(200))),
            held: Arc::default(),
            connections: Arc::default(),
            open: Arc::default(),
            resumed: Arc::default(),
        };
        let serving = endpoint.clone();
        actix_web::rt::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (serving, tls) = (serving.clone(), tls.clone());
                serving.connections.fetch_add(1, Ordering::SeqCst);
                serving.open.fetch_add(1, Ordering::SeqCst);
                actix_web::rt::spawn(async move {
                    serving.serve(stream, tls).await;
                    serving.open.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        endpoint
    }

    pub fn url(&self) -> String {
        format!("http://{}/notices?key=1", self.address)
    }

    pub fn received(&self) -> Vec<Received> {
        self.received.lock().expect("a lock").clone()
    }

    pub fn kinds(&self) -> Vec<String> {
        self.received().iter().map(|received| received.kind().to_owned()).collect()
    }

    /// The challenges that came, which are not among the requests.
    pub fn challenges(&self) -> Vec<Received> {
        self.challenges.lock().expect("a lock").clone()
    }

    /// How many clients wait for an answer that [`Reply::Silence`] keeps back.
    pub fn held(&self) -> usize {
        self.held.load(Ordering::SeqCst)
    }

    /// Sets whether it repeats challenges; otherwise it answers them as other requests.
    pub fn agrees(&self, agrees: bool) {
        self.agrees.store(agrees, Ordering::SeqCst);
    }

    /// Sets the answers to the next requests, in order.
    pub fn will(&self, replies: &[Reply]) {
        self.replies.lock().expect("a lock").extend(replies.iter().cloned());
    }

    /// Sets the answer to every request for which `will` has none left.
    pub fn always(&self, reply: Reply) {
        *self.always.lock().expect("a lock") = reply;
    }

    /// How many connections were opened to it.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// How many connections to it are open.
    pub fn open(&self) -> usize {
        self.open.load(Ordering::SeqCst)
    }

    /// How many TLS sessions were resumed.
    pub fn resumed(&self) -> usize {
        self.resumed.load(Ordering::SeqCst)
    }

    async fn serve(&self, stream: TcpStream, tls: Option<TlsAcceptor>) -> Option<()> {
        let Some(tls) = tls else { return self.answer_all(stream).await };
        let stream = tls.accept(stream).await.ok()?;
        if stream.get_ref().1.handshake_kind() == Some(HandshakeKind::Resumed) {
            self.resumed.fetch_add(1, Ordering::SeqCst);
        }
        self.answer_all(stream).await
    }

    /// Answers requests until the client or a reply closes the connection. Behind TLS, the client is told that it ends.
    async fn answer_all(&self, mut stream: impl AsyncRead + AsyncWrite + Unpin) -> Option<()> {
        while self.answer(&mut stream).await.is_some() {}
        stream.shutdown().await.ok()
    }

    /// Answers one request; `None` closes the connection.
    async fn answer(&self, mut stream: impl AsyncRead + AsyncWrite + Unpin) -> Option<()> {
        let mut bytes = vec![];
        let (head, body) = loop {
            let mut part = [0; 4096];
            let count = stream.read(&mut part).await.ok().filter(|count| *count > 0)?;
            bytes.extend_from_slice(&part[..count]);
            let text = String::from_utf8_lossy(&bytes).into_owned();
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
                if body.len() >= length.expect("a length") {
                    break (head.to_owned(), body.to_owned());
                }
            }
        };
        let mut lines = head.lines();
        let path = lines.next()?.split(' ').nth(1)?.to_owned();
        let headers = lines.filter_map(|line| line.split_once(": ")).map(|(name, value)| {
            (name.parse::<HeaderName>().expect("a name"), HeaderValue::from_str(value).expect("a value"))
        });
        let received =
            Received { path, headers: headers.collect(), body: serde_json::from_str(&body).expect("JSON"), text: body };
        if received.kind() == "webhook.challenge" {
            let repeated = serde_json::json!({ "challenge": received.body["data"]["challenge"] }).to_string();
            self.challenges.lock().expect("a lock").push(received);
            if self.agrees.load(Ordering::SeqCst) {
                let head = format!("HTTP/1.1 200 A\r\ncontent-length: {}\r\n\r\n", repeated.len());
                return stream.write_all((head + &repeated).as_bytes()).await.ok();
            }
        } else {
            self.received.lock().expect("a lock").push(received);
        }
        let reply = self.replies.lock().expect("a lock").pop_front();
        let reply = reply.unwrap_or_else(|| self.always.lock().expect("a lock").clone());
        self.reply(stream, reply).await
    }

    async fn reply(&self, mut stream: impl AsyncRead + AsyncWrite + Unpin, reply: Reply) -> Option<()> {
        match reply {
            Reply::Status(status) => {
                stream
                    .write_all(format!("HTTP/1.1 {status} A\r\ncontent-length: 2\r\n\r\nok").as_bytes())
                    .await
                    .ok()?;
            }
            Reply::With(status, header) => {
                let head = format!("HTTP/1.1 {status} A\r\ncontent-length: 0\r\n{header}\r\n\r\n");
                stream.write_all(head.as_bytes()).await.ok()?;
            }
            Reply::Giant => {
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n").await.ok()?;
                let part = vec![b'a'; 1_000_000];
                for _ in 0..1000 {
                    stream.write_all(&part).await.ok()?;
                }
            }
            Reply::Endless => {
                stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await.ok()?;
                loop {
                    stream.write_all(b"1\r\na\r\n").await.ok()?;
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            }
            Reply::EndlessHead => {
                stream.write_all(b"HTTP/1.1 200 OK\r\n").await.ok()?;
                loop {
                    stream
                        .write_all(b"x-a: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n")
                        .await
                        .ok()?;
                }
            }
            Reply::EndlessInterim => loop {
                stream.write_all(b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n").await.ok()?;
            },
            Reply::Closing => {
                stream.write_all(b"HTTP/1.1 200 A\r\ncontent-length: 2\r\n\r\nok").await.ok()?;
                return None;
            }
            Reply::Long(length) => {
                let answer = format!("HTTP/1.1 200 A\r\ncontent-length: {length}\r\n\r\n{}", "a".repeat(length));
                stream.write_all(answer.as_bytes()).await.ok()?;
            }
            Reply::Twice => {
                stream
                    .write_all(
                        b"HTTP/1.1 200 A\r\ncontent-length: 0\r\n\r\nHTTP/1.1 202 A\r\ncontent-length: 0\r\n\r\n",
                    )
                    .await
                    .ok()?;
            }
            Reply::Nothing => return None,
            Reply::Silence => {
                self.held.fetch_add(1, Ordering::SeqCst);
                // Nothing more comes until the client closes the connection.
                let _ = stream.read(&mut [0; 1]).await;
                self.held.fetch_sub(1, Ordering::SeqCst);
                return None;
            }
        }
        Some(())
    }
}
