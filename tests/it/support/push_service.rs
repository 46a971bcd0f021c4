//! A push service on this machine, and a browser that has subscribed there. The browser's keys are of another library than the server's.

use std::{
    collections::VecDeque,
    future::pending,
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use p256::{PublicKey, SecretKey, elliptic_curve::sec1::ToSec1Point};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use ring::{
    aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey},
    hmac,
    signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpListener,
};

/// The reply that never comes.
pub const HANGS: &str = "hangs";

/// A request to the service.
#[derive(Clone, Debug)]
pub struct Pushed {
    pub path: String,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Pushed {
    pub fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().expect("text")
    }

    /// The claims of the server's token (RFC 8292), whose signature verifies by the key that the browser has subscribed with.
    pub fn claims(&self, server_key: &str) -> Value {
        let authorization = self.header("authorization").strip_prefix("vapid t=").expect("a token");
        let (token, key) = authorization.split_once(", k=").expect("a key");
        assert_eq!(key, server_key);
        let (text, signature) = token.rsplit_once('.').expect("three parts");
        let verifying = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, decoded(key));
        verifying.verify(text.as_bytes(), &decoded(signature)).expect("the signature is good");
        let (head, claims) = text.split_once('.').expect("a head");
        let head: Value = serde_json::from_slice(&decoded(head)).expect("JSON");
        assert_eq!(head, json!({"typ": "JWT", "alg": "ES256"}));
        serde_json::from_slice(&decoded(claims)).expect("JSON")
    }
}

pub fn decoded(text: &str) -> Vec<u8> {
    BASE64_URL_SAFE_NO_PAD.decode(text).expect("Base64")
}

/// A push service. It answers 201 by default.
#[derive(Clone)]
pub struct PushService {
    pub address: SocketAddr,
    received: Arc<Mutex<Vec<Pushed>>>,
    connections: Arc<AtomicUsize>,
    replies: Arc<Mutex<VecDeque<String>>>,
    always: Always,
    usual: &'static str,
}

/// What a service answers to some requests, whatever else it will.
pub type Always = Arc<dyn Fn(&Pushed) -> Option<String> + Send + Sync>;

impl PushService {
    pub async fn start() -> Self {
        Self::start_as(Arc::new(|_| None), "201 Created").await
    }

    /// A service of another kind: what it always answers to some requests, and by default to the others.
    pub async fn start_as(always: Always, usual: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("an address");
        let (received, connections, replies) = Default::default();
        let service = Self { address, received, connections, replies, always, usual };
        let serving = service.clone();
        actix_web::rt::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let serving = serving.clone();
                serving.connections.fetch_add(1, Ordering::SeqCst);
                actix_web::rt::spawn(async move { while serving.answer(&mut stream).await.is_some() {} });
            }
        });
        service
    }

    /// The requests that came since the last call.
    pub fn take(&self) -> Vec<Pushed> {
        std::mem::take(&mut self.received.lock().expect("a lock"))
    }

    /// How many connections were opened to it.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Sets the answers to the next requests: each a status, and further headers; after an empty line, a body.
    pub fn will(&self, replies: &[&str]) {
        self.replies.lock().expect("a lock").extend(replies.iter().map(ToString::to_string));
    }

    async fn answer(&self, stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> Option<()> {
        let mut bytes = vec![];
        let (head, body) = loop {
            let mut part = [0; 4096];
            let count = stream.read(&mut part).await.ok().filter(|count| *count > 0)?;
            bytes.extend_from_slice(&part[..count]);
            let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
            let head = String::from_utf8(bytes[..end].to_vec()).expect("a head is text");
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
            if bytes.len() - end - 4 >= length.expect("a length") {
                break (head, bytes[end + 4..].to_vec());
            }
        };
        let mut lines = head.lines();
        let path = lines.next()?.split(' ').nth(1)?.to_owned();
        let headers = lines.filter_map(|line| line.split_once(": ")).map(|(name, value)| {
            (name.parse::<HeaderName>().expect("a name"), HeaderValue::from_str(value).expect("a value"))
        });
        let pushed = Pushed { path, headers: headers.collect(), body };
        let next = || self.replies.lock().expect("a lock").pop_front();
        let reply = (self.always)(&pushed).or_else(next).unwrap_or_else(|| self.usual.to_owned());
        self.received.lock().expect("a lock").push(pushed);
        if reply == HANGS {
            pending::<()>().await;
        }
        let (reply, body) = reply.split_once("\n\n").unwrap_or((&reply, ""));
        let (status, more) = reply.split_once('\n').unwrap_or((reply, ""));
        let more = if more.is_empty() { String::new() } else { format!("{more}\r\n") };
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{more}\r\n{body}", body.len());
        stream.write_all(answer.as_bytes()).await.ok()
    }
}

/// A browser with a subscription.
pub struct Browser {
    key: SecretKey,
    auth: [u8; 16],
    pub endpoint: String,
}

impl Browser {
    /// A browser that has subscribed at a service, under a name of the test's.
    pub fn at(service: &PushService, name: &str) -> Self {
        let key = loop {
            if let Ok(key) = SecretKey::from_bytes(&rand::random::<[u8; 32]>().into()) {
                break key;
            }
        };
        Self { key, auth: rand::random(), endpoint: format!("http://{}/{name}", service.address) }
    }

    /// Its public key, as a point that is not compressed.
    fn public_key(&self) -> Vec<u8> {
        self.key.public_key().to_sec1_point(false).as_bytes().to_vec()
    }

    /// What a client sends to register it.
    pub fn registration(&self) -> Value {
        let public_key = BASE64_URL_SAFE_NO_PAD.encode(self.public_key());
        json!({ "kind": "web", "subscription": {
            "endpoint": self.endpoint,
            "expirationTime": null,
            "keys": { "p256dh": public_key, "auth": BASE64_URL_SAFE_NO_PAD.encode(self.auth) },
        }})
    }

    /// Opens a message as RFC 8291 and RFC 8188 say.
    pub fn open(&self, body: &[u8]) -> Value {
        let (salt, rest) = body.split_at(16);
        let (record_size, rest) = rest.split_at(4);
        assert!(u32::from_be_bytes(record_size.try_into().expect("four bytes")) as usize > rest.len());
        let (server_key, record) = rest[1..].split_at(rest[0].into());
        let shared = self.key.diffie_hellman(&PublicKey::from_sec1_bytes(server_key).expect("a point"));
        let own_key = self.public_key();
        let info = [b"WebPush: info\0", &own_key[..], server_key, &[1]].concat();
        let input = hmac_of(&hmac_of(&self.auth, shared.raw_secret_bytes()), &info);
        let pseudo_random = hmac_of(salt, &input);
        let key = hmac_of(&pseudo_random, b"Content-Encoding: aes128gcm\0\x01");
        let nonce = hmac_of(&pseudo_random, b"Content-Encoding: nonce\0\x01");
        let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key[..16]).expect("a key"));
        let nonce = Nonce::try_assume_unique_for_key(&nonce[..12]).expect("a nonce");
        let mut record = record.to_vec();
        let opened =
            key.open_in_place(nonce, Aad::empty(), &mut record).expect("the message is sealed for this browser");
        let end = opened.iter().rposition(|byte| *byte != 0).expect("a record ends");
        let text = opened[..=end].strip_suffix(&[2]).expect("the last record");
        serde_json::from_slice(text).expect("JSON")
    }
}

fn hmac_of(key: &[u8], text: &[u8]) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text).as_ref().to_vec()
}
