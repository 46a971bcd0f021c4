//! An issuer of tokens on this machine: it signs JWTs, and publishes its keys over HTTP as long as it is up.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use mancala_server::db::apps::issuers::{self, KeySource, Trust, Trusting};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::sleep,
};

use crate::support::{
    answer::Answer,
    app::TestApp,
    apps::app_name,
    calls::{Guest, send},
    clock::now,
};

/// The claims `iss` and `aud` of the tokens of a test's issuer.
pub const ISSUER: &str = "https://sign-in.example";
pub const AUDIENCE: &str = "acme-phone";

pub const GRANT: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
pub const JWT: &str = "urn:ietf:params:oauth:token-type:jwt";

/// A key of an issuer.
pub enum Key {
    P256(Box<EcdsaKeyPair>),
    Ed25519(Ed25519KeyPair),
}

impl Key {
    pub fn p256() -> Self {
        let random = SystemRandom::new();
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).expect("a key");
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, document.as_ref(), &random);
        Self::P256(Box::new(pair.expect("a key")))
    }

    pub fn ed25519() -> Self {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("a key");
        Self::Ed25519(Ed25519KeyPair::from_pkcs8(document.as_ref()).expect("a key"))
    }

    pub const fn alg(&self) -> &'static str {
        match self {
            Self::P256(_) => "ES256",
            Self::Ed25519(_) => "EdDSA",
        }
    }

    pub fn jwk(&self, kid: &str) -> Value {
        match self {
            Self::P256(pair) => {
                let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
                json!({"kty": "EC", "crv": "P-256", "kid": kid, "use": "sig", "x": encoded(x), "y": encoded(y)})
            }
            Self::Ed25519(pair) => {
                let x = encoded(pair.public_key().as_ref());
                json!({"kty": "OKP", "crv": "Ed25519", "kid": kid, "alg": "EdDSA", "x": x})
            }
        }
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        match self {
            Self::P256(pair) => pair.sign(&SystemRandom::new(), message).expect("a signature").as_ref().to_vec(),
            Self::Ed25519(pair) => pair.sign(message).as_ref().to_vec(),
        }
    }

    /// A token with this header and these claims, as they are.
    pub fn token(&self, header: &Value, claims: &Value) -> String {
        self.signed(&format!("{}.{}", encoded(header.to_string().as_bytes()), encoded(claims.to_string().as_bytes())))
    }

    /// A token of two parts that were made elsewhere.
    pub fn signed(&self, message: &str) -> String {
        format!("{message}.{}", encoded(&self.sign(message.as_bytes())))
    }
}

pub fn encoded(bytes: &[u8]) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

/// The claims of a good token.
pub fn claims(subject: &str) -> Value {
    let now = now().unix_timestamp();
    json!({"iss": ISSUER, "aud": AUDIENCE, "sub": subject, "iat": now, "exp": now + 300})
}

/// The claims of a good token with some of them replaced; `null` leaves one out.
pub fn claims_with(changes: &Value) -> Value {
    let mut claims = claims("7");
    for (name, value) in changes.as_object().expect("claims") {
        claims[name] = value.clone();
        if value.is_null() {
            claims.as_object_mut().expect("claims").remove(name);
        }
    }
    claims
}

/// The place at which keys are published.
#[derive(Clone)]
pub struct KeyServer {
    pub address: SocketAddr,
    answer: Arc<Mutex<String>>,
    is_up: Arc<AtomicBool>,
    is_held: Arc<AtomicBool>,
    asked: Arc<AtomicUsize>,
}

impl KeyServer {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let server = Self {
            address: listener.local_addr().expect("an address"),
            answer: Arc::default(),
            is_up: Arc::new(AtomicBool::new(true)),
            is_held: Arc::default(),
            asked: Arc::default(),
        };
        let serving = server.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serving.clone().answer(stream));
            }
        });
        server
    }

    async fn answer(self, mut stream: TcpStream) {
        let mut head = vec![];
        while !head.ends_with(b"\r\n\r\n") && stream.read_buf(&mut head).await.is_ok_and(|count| count > 0) {}
        self.asked.fetch_add(1, Ordering::SeqCst);
        while self.is_held.load(Ordering::SeqCst) {
            sleep(Duration::from_millis(10)).await;
        }
        if !self.is_up.load(Ordering::SeqCst) {
            return;
        }
        let answer = self.answer.lock().expect("no panic").clone();
        // A client that takes no more has closed the connection.
        let _ = stream.write_all(answer.as_bytes()).await;
    }

    pub fn publish(&self, keys: &[Value]) {
        self.answer_with("200 OK", &json!({"keys": keys}).to_string());
    }

    pub fn answer_with(&self, status: &str, body: &str) {
        let head = format!("HTTP/1.1 {status}\r\nlocation: /elsewhere\r\ncontent-length: {}\r\n\r\n", body.len());
        *self.answer.lock().expect("no panic") = head + body;
    }

    pub fn go_down(&self) {
        self.is_up.store(false, Ordering::SeqCst);
    }

    /// Answers only once it is released.
    pub fn hold(&self, is_held: bool) {
        self.is_held.store(is_held, Ordering::SeqCst);
    }

    /// How often its keys were asked for.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    pub fn url(&self) -> String {
        format!("http://{}/keys", self.address)
    }
}

impl TestApp {
    /// Lets an app trust the test's issuer.
    pub async fn trust(&self, name: &str, audience: &str, keys: KeySource) -> Trusting {
        let trust = Trust { issuer: ISSUER.to_owned(), audience: audience.to_owned() };
        issuers::trust(&self.db, &app_name(name), &trust, &keys, now()).await.expect("a database")
    }

    /// Exchanges a token, as a client of OAuth does.
    pub async fn exchange(&self, token: &str) -> Answer {
        let form = [("grant_type", GRANT), ("subject_token", token), ("subject_token_type", JWT)];
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        let request = self.request(reqwest::Method::POST, "/v1/apps/tokens");
        send(request.header("content-type", "application/x-www-form-urlencoded").body(body)).await
    }

    /// The player of a token, with the access token that it was exchanged for.
    pub async fn exchanged(&self, token: &str) -> Guest {
        let answer = self.exchange(token).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        Guest { id: answer.string("/player/id"), token: answer.string("/access_token") }
    }
}
