//! A stub of Google's services for apps: one path gives access tokens for assertions, all others take messages that have such a token.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use mancala_server::push::{FCM_URL, Fcm, Push, ServiceAccount};
use reqwest::Url;
use ring::signature::{KeyPair, RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use serde_json::{Value, json};

use crate::support::{
    calls::Guest,
    push::PushApp,
    push_service::{PushService, Pushed, decoded},
};

/// The key of the account, in PKCS #8. It signs nothing but what tests check.
const RSA_KEY: &str = include_str!("issuer_rsa.b64");

const EMAIL: &str = "push@mancala-1.iam.gserviceaccount.example";

/// The path at which it takes messages.
pub const MESSAGES: &str = "/v1/projects/mancala-1/messages:send";

/// A server that sends to apps, and Google.
pub struct FcmApp {
    pub push: PushApp,
    /// The answers to the next requests for a token.
    tokens: Arc<Mutex<VecDeque<String>>>,
}

/// The file of an account that asks for tokens at a URL.
pub fn account_file(token_uri: &str) -> Value {
    let key = format!("-----BEGIN PRIVATE KEY-----\n{RSA_KEY}\n-----END PRIVATE KEY-----\n");
    json!({
        "type": "service_account", "project_id": "mancala-1", "private_key_id": "a1b2", "private_key": key,
        "client_email": EMAIL, "client_id": "1", "token_uri": token_uri,
    })
}

/// Google's own service, to which a test sends nothing.
pub fn google() -> Fcm {
    let account = ServiceAccount::parse(&account_file("https://oauth2.googleapis.com/token").to_string());
    Fcm::new(account.expect("an account"), FCM_URL).expect("a service")
}

impl FcmApp {
    pub async fn start() -> Self {
        Self::start_beside(Push::default()).await
    }

    /// The same, and other services beside Google's.
    pub async fn start_beside(others: Push) -> Self {
        let tokens: Arc<Mutex<VecDeque<String>>> = Arc::default();
        let (replies, given) = (tokens.clone(), Mutex::new(0));
        let always = move |pushed: &Pushed| {
            if pushed.headers.contains_key("ttl") {
                // Only a notification for a browser has a `ttl`.
                return Some("201 Created".to_owned());
            }
            if pushed.path != "/token" {
                let known =
                    pushed.headers.get("authorization").is_some_and(|text| text.as_bytes().starts_with(b"Bearer t"));
                return (!known).then(|| "401 A".to_owned());
            }
            let mut given = given.lock().expect("a lock");
            *given += 1;
            let usual = || granted(&format!("t{given}"), 3600);
            Some(replies.lock().expect("a lock").pop_front().unwrap_or_else(usual))
        };
        let service = PushService::start_as(Arc::new(always), "200 OK\n\n{\"name\": \"a\"}").await;
        let base = format!("http://{}", service.address);
        let account = ServiceAccount::parse(&account_file(&format!("{base}/token")).to_string()).expect("an account");
        let fcm = Fcm::new(account, &base).expect("a service");
        let push = PushApp::start_at(service, Push { fcm: Some(fcm), ..others }).await;
        Self { push, tokens }
    }

    /// Sets the answers to the next requests for a token.
    pub fn will_grant(&self, replies: &[&str]) {
        self.tokens.lock().expect("a lock").extend(replies.iter().map(ToString::to_string));
    }

    /// Ana, with an app of this token, is to move in a game with Bo, who has played.
    pub async fn her_turn(&self, token: &str) -> (Guest, String) {
        let (ana, bo) = (self.push.app.guest("Ana").await, self.push.app.guest("Bo").await);
        self.push.register(&ana, &json!({"kind": "fcm", "token": token})).await;
        let id = self.push.app.started_between(&bo, &ana, &json!({})).await;
        self.push.app.played(&id, &bo, 1, "A").await;
        (ana, id)
    }

    /// Ana is to move in one more game.
    pub async fn another_turn(&self, ana: &Guest) {
        self.push.another_turn(ana).await;
    }
}

/// An answer with an access token.
pub fn granted(token: &str, expires_in: u32) -> String {
    format!("200 OK\n\n{}", json!({"access_token": token, "expires_in": expires_in, "token_type": "Bearer"}))
}

/// An answer with an error of a code, as Google writes it.
pub fn failure(status: u16, code: &str) -> String {
    let detail = json!({"@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": code});
    format!("{status} A\n\n{}", json!({"error": {"code": status, "message": "no", "details": [detail]}}))
}

/// The claims of the assertion in a request for a token, whose signature is checked.
pub fn claims(pushed: &Pushed) -> Value {
    assert_eq!(pushed.header("content-type"), "application/x-www-form-urlencoded");
    let form = String::from_utf8(pushed.body.clone()).expect("text");
    let form = Url::parse(&format!("http://a/?{form}")).expect("a form");
    let fields: Vec<_> = form.query_pairs().collect();
    let [grant, assertion] = &fields[..] else { panic!("{fields:?}") };
    assert_eq!((&*grant.0, &*grant.1), ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"));
    assert_eq!(assertion.0, "assertion");
    let key: String = RSA_KEY.split_whitespace().collect();
    let key = RsaKeyPair::from_pkcs8(&BASE64_STANDARD.decode(key).expect("base64")).expect("a key");
    let (text, signature) = assertion.1.rsplit_once('.').expect("three parts");
    let verifying = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key.public_key());
    verifying.verify(text.as_bytes(), &decoded(signature)).expect("the signature is good");
    let (head, claims) = text.split_once('.').expect("a head");
    let head: Value = serde_json::from_slice(&decoded(head)).expect("JSON");
    assert_eq!(head, json!({"alg": "RS256", "typ": "JWT", "kid": "a1b2"}));
    let claims: Value = serde_json::from_slice(&decoded(claims)).expect("JSON");
    assert_eq!(claims["iss"], EMAIL);
    claims
}
