//! A stub of Apple's service: HTTP/2 over TLS. It answers 200 by default, and checks the signatures of provider tokens.

use std::{
    collections::VecDeque,
    future::ready,
    net::Ipv4Addr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use h2::server;
use hyper::{HeaderMap, Response, body::Bytes};
use mancala_server::{
    push::{Apns, ApnsSettings, Push, VapidKey, new_vapid_key},
    webhook::{Names, Reach, Sender},
};
use rcgen::CertifiedKey;
use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use rustls::{RootCertStore, ServerConfig, crypto::ring as provider};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::support::{
    calls::Guest,
    push::PushApp,
    push_service::{PushService, decoded},
};

pub const TOPIC: &str = "com.example.mancala";

/// A request to the service.
#[derive(Clone, Debug)]
pub struct Notified {
    pub url: String,
    pub headers: HeaderMap,
    pub body: Value,
}

impl Notified {
    pub fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().expect("text")
    }
}

/// An answer: a status, the seconds of a pause, and a reason.
pub type Reply = (u16, Option<u32>, &'static str);

/// A server that sends to apps, and Apple.
pub struct ApnsApp {
    pub push: PushApp,
    pub port: u16,
    public_key: String,
    received: Arc<Mutex<Vec<Notified>>>,
    replies: Arc<Mutex<VecDeque<Reply>>>,
    connections: Arc<AtomicUsize>,
}

/// The operator's file.
pub fn apns_file() -> Value {
    json!({"team_id": "ABCDE12345", "key_id": "FGHIJ67890", "key_file": "key.p8", "topic": TOPIC})
}

impl ApnsApp {
    pub async fn start() -> Self {
        let CertifiedKey { cert, signing_key } =
            rcgen::generate_simple_self_signed(["apns.example".to_owned()]).expect("a certificate");
        let mut config = ServerConfig::builder_with_provider(Arc::new(provider::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions of TLS")
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], signing_key.into())
            .expect("they belong together");
        config.alpn_protocols = vec![b"h2".to_vec()];
        let mut roots = RootCertStore::empty();
        roots.add(cert.der().clone()).expect("a root");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let port = listener.local_addr().expect("an address").port();
        let pem = new_vapid_key();
        let public_key = VapidKey::from_pem(&pem).expect("a key").public_key();
        let settings = ApnsSettings::parse(&apns_file().to_string(), |_| Ok(pem)).expect("settings");
        let apns = Apns::new(settings, &format!("https://apns.example:{port}")).expect("a service");
        let names: Names = Arc::new(|_| Box::pin(ready(Ok(vec![Ipv4Addr::LOCALHOST.into()]))));
        let push = Push { apns: Some(apns), ..Push::default() };
        let push = PushApp::start_at(PushService::start().await, push).await;
        let push = push.sending_by(Sender::trusting(roots, Reach::Anywhere, names));
        let (received, replies, connections) = Default::default();
        let app = Self { push, port, public_key, received, replies, connections };
        app.serve(listener, TlsAcceptor::from(Arc::new(config)));
        app
    }

    fn serve(&self, listener: TcpListener, tls: TlsAcceptor) {
        let (received, replies) = (self.received.clone(), self.replies.clone());
        let connections = self.connections.clone();
        actix_web::rt::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                connections.fetch_add(1, Ordering::SeqCst);
                let (tls, received, replies) = (tls.clone(), received.clone(), replies.clone());
                actix_web::rt::spawn(async move {
                    let mut connection = server::handshake(tls.accept(stream).await.ok()?).await.ok()?;
                    while let Some(Ok((request, mut respond))) = connection.accept().await {
                        let (received, replies) = (received.clone(), replies.clone());
                        actix_web::rt::spawn(async move {
                            let (head, mut body) = request.into_parts();
                            let mut bytes = vec![];
                            while let Some(Ok(part)) = body.data().await {
                                bytes.extend_from_slice(&part);
                            }
                            let body = serde_json::from_slice(&bytes).expect("JSON");
                            let notified = Notified { url: head.uri.to_string(), headers: head.headers, body };
                            received.lock().expect("a lock").push(notified);
                            let reply = replies.lock().expect("a lock").pop_front();
                            let (status, retry_after_s, reason) = reply.unwrap_or((200, None, ""));
                            let mut answer = Response::builder().status(status);
                            if let Some(seconds) = retry_after_s {
                                answer = answer.header("retry-after", seconds);
                            }
                            let answer = answer.body(()).expect("an answer");
                            let mut sending = respond.send_response(answer, reason.is_empty()).ok()?;
                            if !reason.is_empty() {
                                sending.send_data(Bytes::from(json!({"reason": reason}).to_string()), true).ok()?;
                            }
                            Some(())
                        });
                    }
                    Some(())
                });
            }
        });
    }

    /// How many connections were opened to it.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Sets the answers to the next requests.
    pub fn will(&self, replies: &[Reply]) {
        self.replies.lock().expect("a lock").extend(replies);
    }

    /// What Apple gets in a round after the time for which a turn waits.
    pub async fn notified(&self) -> Vec<Notified> {
        self.push.pushed().await;
        self.take()
    }

    /// The requests that came since the last call.
    pub fn take(&self) -> Vec<Notified> {
        std::mem::take(&mut self.received.lock().expect("a lock"))
    }

    /// Ana, with an app of this token, is to move in a game with Bo, who has played.
    pub async fn her_turn(&self, token: &str) -> (Guest, String) {
        let (ana, bo) = (self.push.app.guest("Ana").await, self.push.app.guest("Bo").await);
        self.push.register(&ana, &json!({"kind": "apns", "token": token})).await;
        let id = self.push.app.started_between(&bo, &ana, &json!({})).await;
        self.push.app.played(&id, &bo, 1, "A").await;
        (ana, id)
    }

    /// The claims of the provider token, whose signature verifies by the key of the file.
    pub fn claims(&self, notified: &Notified) -> Value {
        let token = notified.header("authorization").strip_prefix("bearer ").expect("a token");
        let (text, signature) = token.rsplit_once('.').expect("three parts");
        let verifying = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, decoded(&self.public_key));
        verifying.verify(text.as_bytes(), &decoded(signature)).expect("the signature is good");
        let (head, claims) = text.split_once('.').expect("a head");
        let head: Value = serde_json::from_slice(&decoded(head)).expect("JSON");
        assert_eq!(head, json!({"typ": "JWT", "alg": "ES256", "kid": "FGHIJ67890"}));
        serde_json::from_slice(&decoded(claims)).expect("JSON")
    }
}
