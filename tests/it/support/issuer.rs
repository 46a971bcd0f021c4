//! An issuer of OpenID Connect on this machine: it signs ID tokens, and misbehaves as a test asks.

use std::{
    collections::HashMap,
    net::{SocketAddr, TcpListener},
    sync::{Arc, Mutex},
    time::Duration,
};

use actix_web::{
    App, HttpRequest, HttpResponse, HttpServer,
    web::{self, Bytes, Data},
};
use base64::{
    Engine,
    prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD},
};
use mancala_server::{
    openid::{self, Issuers},
    webhook::{Reach, Sender, system_names},
};
use reqwest::Url;
use ring::{
    hmac,
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
        RsaPublicKeyComponents, UnparsedPublicKey,
    },
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::{
    answer::Answer,
    app::TestApp,
    calls::{Guest, send, signed},
    clock::now,
};

/// The address to which the issuer sends people back.
pub const BACK: &str = "https://play.example/back";
/// The return address of a second issuer.
pub const BACK_2: &str = "https://play.example/back-2";
pub const CLIENT_ID: &str = "mancala";
pub const CLIENT_SECRET: &str = "a secret: with /signs+";

/// An RSA key of the issuer, in PKCS #8. It signs nothing but tokens of tests.
const RSA_KEY: &str = include_str!("issuer_rsa.b64");

/// How an ID token is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signed {
    Rs256,
    Es256,
    /// By a key that is not the issuer's, under the name of its own.
    ByAnother,
    /// By HMAC, with the issuer's public key as the secret.
    ByPublicKey,
    Not,
}

/// How the issuer answers at its addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    Usual,
    Status(u16),
    /// A failure of OAuth.
    Error(u16, &'static str),
    Redirect,
    Huge,
    Silence,
    Text(&'static str),
}

/// What the issuer does otherwise than it should.
pub struct Conduct {
    pub signed: Signed,
    /// Merged into the header and the claims of the next tokens; null takes a field out.
    pub header: Value,
    pub claims: Value,
    /// Whether a code works again and again.
    pub is_forgetful: bool,
    pub discovery: Reply,
    pub keys: Reply,
    pub tokens: Reply,
    /// Merged into the document of discovery.
    pub document: Value,
}

impl Default for Conduct {
    fn default() -> Self {
        Self {
            signed: Signed::Rs256,
            header: json!({}),
            claims: json!({}),
            is_forgetful: false,
            discovery: Reply::Usual,
            keys: Reply::Usual,
            tokens: Reply::Usual,
            document: json!({}),
        }
    }
}

/// A code that the issuer has given.
#[derive(Clone)]
struct Given {
    subject: String,
    nonce: String,
    challenge: String,
    redirect_uri: String,
}

struct Inner {
    address: SocketAddr,
    conduct: Mutex<Conduct>,
    codes: Mutex<HashMap<String, Given>>,
    /// The name of the keys, which changes with a rotation.
    kid: Mutex<String>,
    rsa: RsaKeyPair,
    p256: EcdsaKeyPair,
    another: EcdsaKeyPair,
    /// The paths that were asked for.
    asked: Mutex<Vec<String>>,
    /// For a client of Apple: the public key that verifies its secrets.
    apple: Mutex<Option<Vec<u8>>>,
    /// The verifiers and codes that came.
    secrets: Mutex<Vec<String>>,
}

/// The issuer.
#[derive(Clone)]
pub struct StubIssuer(Arc<Inner>);

fn new_p256() -> EcdsaKeyPair {
    let random = SystemRandom::new();
    let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).expect("random bytes");
    EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, key.as_ref(), &random).expect("a key")
}

impl StubIssuer {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let rsa: String = RSA_KEY.split_whitespace().collect();
        let stub = Self(Arc::new(Inner {
            address: listener.local_addr().expect("an address"),
            conduct: Mutex::default(),
            codes: Mutex::default(),
            kid: Mutex::new("first".to_owned()),
            rsa: RsaKeyPair::from_pkcs8(&BASE64_STANDARD.decode(rsa).expect("base64")).expect("a key"),
            p256: new_p256(),
            another: new_p256(),
            asked: Mutex::default(),
            apple: Mutex::default(),
            secrets: Mutex::default(),
        }));
        let served = stub.clone();
        let server =
            HttpServer::new(move || App::new().app_data(Data::new(served.clone())).default_service(web::to(answer)));
        actix_web::rt::spawn(server.workers(1).disable_signals().listen(listener).expect("it listens").run());
        stub
    }

    pub fn url(&self) -> String {
        format!("http://{}/tenant", self.0.address)
    }

    /// The issuers of a server that knows this one as `stub`.
    pub fn issuers(&self, reach: Reach) -> Arc<Issuers> {
        self.issuers_as("stub", reach)
    }

    /// The same under another id.
    pub fn issuers_as(&self, id: &str, reach: Reach) -> Arc<Issuers> {
        issuers(&json!({"issuers": [self.settings(id, BACK)]}), reach)
    }

    fn settings(&self, id: &str, back: &str) -> Value {
        json!({"id": id, "name": "Stub", "issuer": self.url(), "client_id": CLIENT_ID, "client_secret": CLIENT_SECRET,
            "redirect_uris": [back, format!("com.example.{id}:/back")]})
    }

    /// The issuers of a server that proves itself as a client of Apple does: by a token that a key of its team signs.
    pub fn issuers_of_apple(&self) -> Arc<Issuers> {
        let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
        let der = key.expect("random bytes");
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der.as_ref(), &SystemRandom::new());
        *self.0.apple.lock().expect("a lock") = Some(pair.expect("a key").public_key().as_ref().to_vec());
        let pem = format!(
            "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n",
            BASE64_STANDARD.encode(der.as_ref())
        );
        let mut settings = self.settings("stub", BACK);
        merge(
            &mut settings,
            &json!({"client_secret": null,
            "apple": {"team_id": "ABCDE12345", "key_id": "FGHIJ67890", "key_file": "key.p8"}}),
        );
        let file = json!({"issuers": [settings]}).to_string();
        let settings = openid::parse(&file, |_| Ok(pem.clone()), |_, _| true).expect("settings");
        Arc::new(Issuers::new(settings, &Sender::new(Reach::Anywhere, system_names())))
    }

    /// The operator's file for a server's binary.
    pub fn file(&self) -> String {
        let mut settings = self.settings("stub", BACK);
        merge(&mut settings, &json!({"private": true}));
        json!({"issuers": [settings]}).to_string()
    }

    /// What a log must not show: what came to the token endpoint, and what was answered.
    pub fn secrets(&self) -> Vec<String> {
        self.0.secrets.lock().expect("a lock").clone()
    }

    /// Whether this is a secret of Apple's client that is valid now.
    fn is_of_apple(public: &[u8], secret: &str) -> bool {
        let Some((message, signature)) = secret.rsplit_once('.') else { return false };
        let decode = |text: &str| BASE64_URL_SAFE_NO_PAD.decode(text).expect("base64url");
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, public);
        let (header, claims) = message.split_once('.').expect("two parts");
        let read = |text: &str| serde_json::from_slice::<Value>(&decode(text)).expect("JSON");
        let (header, claims, now) = (read(header), read(claims), now().unix_timestamp());
        let at = |claim: &str| claims[claim].as_i64().expect("a time");
        key.verify(message.as_bytes(), &decode(signature)).is_ok()
            && (&header["alg"], &header["kid"]) == (&json!("ES256"), &json!("FGHIJ67890"))
            && (&claims["iss"], &claims["sub"]) == (&json!("ABCDE12345"), &json!(CLIENT_ID))
            && claims["aud"] == "https://appleid.apple.com"
            && (at("iat") - now).abs() < 60
            && at("exp") > now
            && at("exp") <= now + 15_777_000
    }

    pub async fn app(&self) -> TestApp {
        TestApp::start_with(|service| service.issuers = self.issuers(Reach::Anywhere)).await
    }

    /// A server that knows two issuers, as `stub` and `stub-2`.
    pub async fn app_of([first, second]: &[Self; 2]) -> TestApp {
        let issuers = issuers(
            &json!({"issuers": [first.settings("stub", BACK), second.settings("stub-2", BACK_2)]}),
            Reach::Anywhere,
        );
        TestApp::start_with(|service| service.issuers = issuers).await
    }

    pub fn conduct(&self, conduct: Conduct) {
        *self.0.conduct.lock().expect("a lock") = conduct;
    }

    /// From now on it signs by keys of another name.
    pub fn rotate(&self, kid: &str) {
        kid.clone_into(&mut self.0.kid.lock().expect("a lock"));
    }

    /// How often a path was asked for whose end this is.
    pub fn asked(&self, end: &str) -> usize {
        self.0.asked.lock().expect("a lock").iter().filter(|path| path.ends_with(end)).count()
    }

    /// A person signs in at an address of authorization. Returns the code and the state with which the browser comes back.
    pub fn authorize(&self, url: &str, subject: &str) -> (String, String) {
        let url = Url::parse(url).expect("a URL");
        assert_eq!(url.path(), "/tenant/authorize");
        let query: HashMap<_, _> = url.query_pairs().into_owned().collect();
        assert_eq!((query["response_type"].as_str(), query["client_id"].as_str()), ("code", CLIENT_ID));
        assert_eq!((query["scope"].as_str(), query["code_challenge_method"].as_str()), ("openid", "S256"));
        assert_eq!(query["audience"], "a", "what the endpoint has in its query stays");
        let code = format!("code-{:032x}", rand::random::<u128>());
        let given = Given {
            subject: subject.to_owned(),
            nonce: query["nonce"].clone(),
            challenge: query["code_challenge"].clone(),
            redirect_uri: query["redirect_uri"].clone(),
        };
        self.0.codes.lock().expect("a lock").insert(code.clone(), given);
        (code, query["state"].clone())
    }

    fn id_token(&self, given: &Given, access_token: &str) -> String {
        let conduct = self.0.conduct.lock().expect("a lock");
        let alg = match conduct.signed {
            Signed::Rs256 => "RS256",
            Signed::Es256 | Signed::ByAnother => "ES256",
            Signed::ByPublicKey => "HS256",
            Signed::Not => "none",
        };
        let kid = format!("{}-{}", self.0.kid.lock().expect("a lock"), if alg == "ES256" { "ec" } else { "rsa" });
        let hash: [u8; 32] = Sha256::digest(access_token).into();
        let now = now().unix_timestamp();
        let mut header = json!({"alg": alg, "kid": kid, "typ": "JWT"});
        let mut claims = json!({"iss": self.url(), "aud": CLIENT_ID, "sub": given.subject, "nonce": given.nonce, "iat": now,
            "exp": now + 3600, "at_hash": BASE64_URL_SAFE_NO_PAD.encode(&hash[..16])});
        merge(&mut header, &conduct.header);
        merge(&mut claims, &conduct.claims);
        let [header, claims] = [header, claims].map(|part| BASE64_URL_SAFE_NO_PAD.encode(part.to_string()));
        let message = format!("{header}.{claims}");
        let signature = self.sign(conduct.signed, message.as_bytes());
        format!("{message}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature))
    }

    fn sign(&self, signed: Signed, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        let Inner { rsa, p256, another, .. } = &*self.0;
        let by_p256 = |key: &EcdsaKeyPair| key.sign(&random, message).expect("it signs").as_ref().to_vec();
        match signed {
            Signed::Rs256 => {
                let mut signature = vec![0; rsa.public().modulus_len()];
                rsa.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).expect("it signs");
                signature
            }
            Signed::Es256 => by_p256(p256),
            Signed::ByAnother => by_p256(another),
            Signed::ByPublicKey => {
                let secret = hmac::Key::new(hmac::HMAC_SHA256, rsa.public().as_ref());
                hmac::sign(&secret, message).as_ref().to_vec()
            }
            Signed::Not => vec![],
        }
    }

    fn key_set(&self) -> Value {
        let kid = self.0.kid.lock().expect("a lock").clone();
        let encode = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
        let rsa: RsaPublicKeyComponents<Vec<u8>> = self.0.rsa.public().into();
        let point = self.0.p256.public_key().as_ref();
        json!({"keys": [
            {"kty": "RSA", "kid": format!("{kid}-rsa"), "use": "sig", "alg": "RS256", "n": encode(&rsa.n), "e": encode(&rsa.e)},
            {"kty": "EC", "kid": format!("{kid}-ec"), "use": "sig", "crv": "P-256", "x": encode(&point[1..33]),
                "y": encode(&point[33..])},
            {"kty": "OKP", "kid": "other", "crv": "Ed25519", "x": "AA"},
            "nonsense",
        ]})
    }

    fn discovery(&self) -> Value {
        let url = self.url();
        let mut document = json!({"issuer": url, "authorization_endpoint": format!("{url}/authorize?audience=a"),
            "token_endpoint": format!("{url}/token"), "jwks_uri": format!("{url}/keys"),
            "response_types_supported": ["code"]});
        merge(&mut document, &self.0.conduct.lock().expect("a lock").document);
        document
    }

    /// Redeems a code as RFC 6749 and RFC 7636 say.
    fn redeem(&self, request: &HttpRequest, body: &[u8]) -> Result<Value, &'static str> {
        let form: HashMap<String, String> = serde_urlencoded::from_bytes(body).expect("a form");
        let basic = request.headers().get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default();
        let in_form = ["client_id", "client_secret"].map(|field| form.get(field).map(String::as_str));
        let (is_forgetful, takes_form) = {
            let conduct = self.0.conduct.lock().expect("a lock");
            (conduct.is_forgetful, !conduct.document["token_endpoint_auth_methods_supported"].is_null())
        };
        let right = format!("Basic {}", BASE64_STANDARD.encode(format!("{CLIENT_ID}:{}", url_encoded(CLIENT_SECRET))));
        let (expected, in_form_expected) =
            if takes_form { ("", [Some(CLIENT_ID), Some(CLIENT_SECRET)]) } else { (right.as_str(), [None, None]) };
        let apple = self.0.apple.lock().expect("a lock").clone();
        let is_client = apple.map_or_else(
            || basic == expected && in_form == in_form_expected,
            |public| {
                let secret = form.get("client_secret").map_or("", String::as_str);
                basic.is_empty() && in_form[0] == Some(CLIENT_ID) && Self::is_of_apple(&public, secret)
            },
        );
        if !is_client {
            return Err("invalid_client");
        }
        let mut codes = self.0.codes.lock().expect("a lock");
        let given = if is_forgetful { codes.get(&form["code"]).cloned() } else { codes.remove(&form["code"]) };
        drop(codes);
        let given = given.ok_or("invalid_grant")?;
        let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(&form["code_verifier"]));
        if challenge != given.challenge || form["redirect_uri"] != given.redirect_uri {
            return Err("invalid_grant");
        }
        let access_token = "an access token";
        let id_token = self.id_token(&given, access_token);
        let mut secrets = self.0.secrets.lock().expect("a lock");
        secrets.extend([form["code"].clone(), form["code_verifier"].clone(), id_token.clone(), given.subject]);
        drop(secrets);
        Ok(json!({"access_token": access_token, "token_type": "Bearer", "id_token": id_token}))
    }
}

/// The issuers of a file.
fn issuers(file: &Value, reach: Reach) -> Arc<Issuers> {
    let settings = openid::parse(&file.to_string(), |_| Err("no file".to_owned()), |_, _| true).expect("settings");
    Arc::new(Issuers::new(settings, &Sender::new(reach, system_names())))
}

fn url_encoded(text: &str) -> String {
    serde_urlencoded::to_string([("", text)]).expect("a form").trim_start_matches('=').to_owned()
}

fn merge(into: &mut Value, from: &Value) {
    let fields = into.as_object_mut().expect("an object");
    for (name, value) in from.as_object().expect("an object") {
        match value {
            Value::Null => fields.remove(name),
            value => fields.insert(name.clone(), value.clone()),
        };
    }
}

async fn answer(request: HttpRequest, stub: Data<StubIssuer>, body: Bytes) -> HttpResponse {
    stub.0.asked.lock().expect("a lock").push(request.path().to_owned());
    let reply = |conduct: &Conduct| match request.path() {
        "/tenant/.well-known/openid-configuration" => conduct.discovery,
        "/tenant/keys" => conduct.keys,
        "/tenant/token" => conduct.tokens,
        _ => Reply::Status(404),
    };
    let reply = reply(&stub.0.conduct.lock().expect("a lock"));
    match reply {
        Reply::Usual => {}
        Reply::Status(status) => {
            let status = actix_web::http::StatusCode::from_u16(status).expect("a status");
            return HttpResponse::build(status).json(json!({"error": "server_error"}));
        }
        Reply::Error(status, word) => {
            let status = actix_web::http::StatusCode::from_u16(status).expect("a status");
            return HttpResponse::build(status).json(json!({ "error": word }));
        }
        Reply::Redirect => {
            return HttpResponse::Found().insert_header(("location", "http://127.0.0.1:1/")).finish();
        }
        Reply::Huge => return HttpResponse::Ok().body(format!("{{\"a\":\"{}\"}}", "a".repeat(1_000_000))),
        Reply::Silence => {
            tokio::time::sleep(Duration::from_mins(1)).await;
        }
        Reply::Text(text) => return HttpResponse::Ok().body(text),
    }
    match request.path() {
        "/tenant/keys" => HttpResponse::Ok().json(stub.key_set()),
        "/tenant/token" => match stub.redeem(&request, &body) {
            Ok(tokens) => HttpResponse::Ok().json(tokens),
            Err(error) => HttpResponse::BadRequest().json(json!({"error": error})),
        },
        _ => HttpResponse::Ok().json(stub.discovery()),
    }
}

/// A sign-in that has begun, and a person who comes back from the issuer.
pub struct Back {
    pub session: String,
    pub state: String,
    pub code: String,
}

impl Back {
    pub fn body(&self) -> Value {
        json!({"session": self.session, "state": self.state, "code": self.code})
    }
}

impl TestApp {
    pub async fn begin_sign_in(&self, caller: Option<&Guest>) -> Answer {
        self.post("/v1/sign-in/stub", caller, &json!({"redirect_uri": BACK})).await
    }

    /// A person begins to sign in, and comes back from the issuer.
    pub async fn back_from(&self, issuer: &StubIssuer, subject: &str, caller: Option<&Guest>) -> Back {
        let begun = self.begin_sign_in(caller).await;
        assert_eq!(begun.status, 200, "{begun:?}");
        let (code, state) = issuer.authorize(&begun.string("/authorization_url"), subject);
        Back { session: begun.string("/session"), state, code }
    }

    pub async fn complete(&self, body: &Value) -> Answer {
        self.post("/v1/sign-in/stub/complete", None, body).await
    }

    /// A person signs in by the issuer.
    pub async fn sign_in_by(&self, issuer: &StubIssuer, subject: &str) -> Answer {
        let back = self.back_from(issuer, subject, None).await;
        self.complete(&back.body()).await
    }

    /// A player links the identity of a person.
    pub async fn link(&self, issuer: &StubIssuer, subject: &str, player: &Guest) -> Answer {
        let back = self.back_from(issuer, subject, Some(player)).await;
        self.put("/v1/me/identities/stub", Some(player), &back.body()).await
    }

    pub async fn unlink(&self, id: &str, player: &Guest) -> Answer {
        send(signed(self.request(reqwest::Method::DELETE, &format!("/v1/me/identities/{id}")), Some(player))).await
    }
}

/// The player of an answer with tokens.
pub fn player_of(tokens: &Answer) -> Guest {
    Guest { id: tokens.string("/player/id"), token: tokens.string("/access_token") }
}
