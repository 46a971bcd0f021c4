//! A service account of Google: the file that the operator has of it, and its access tokens.
//!
//! Google gives one for an assertion that the key of the account signs (RFC 7523).

use std::fmt;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use hyper::header::HeaderValue;
use ring::{
    rand::SystemRandom,
    signature::{RSA_PKCS1_SHA256, RsaKeyPair},
};
use rustls::pki_types::{PrivatePkcs8KeyDer, pem::PemObject};
use serde::Deserialize;
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime};
use tokio::sync::Mutex;

use super::gate::{Gate, PAUSE, cleaned};
use crate::webhook::{Fetch, Sender};

/// The scope of the token.
const SCOPE: &str = "https://www.googleapis.com/auth/firebase.messaging";

/// The kind of grant, as a form writes it.
const GRANT: &str = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer";

/// How long an assertion is valid: the longest that Google allows.
const ASSERTION_LIFE: Duration = Duration::hours(1);

/// A token is replaced so long before it expires, but not before half of its time.
const MARGIN: Duration = Duration::minutes(5);

/// The file, as Google gives it. It has more fields.
#[derive(Deserialize)]
struct AccountFile {
    project_id: String,
    client_email: String,
    token_uri: String,
    private_key_id: Option<String>,
    private_key: String,
}

/// A service account.
pub struct ServiceAccount {
    pub(super) project_id: String,
    email: String,
    token_uri: String,
    key_id: Option<String>,
    key: RsaKeyPair,
}

impl ServiceAccount {
    /// Parses the account of a file, or returns its fault, without secrets.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let file: AccountFile = serde_json::from_str(text).map_err(
            |_| "it is no JSON of a service account, with project_id, client_email, token_uri and private_key",
        )?;
        let is_project = |byte: u8| byte.is_ascii_alphanumeric() || b"-.:".contains(&byte);
        if file.project_id.is_empty() || !file.project_id.bytes().all(is_project) {
            return Err("project_id is no id of a project");
        }
        let der = PrivatePkcs8KeyDer::from_pem_slice(file.private_key.as_bytes());
        let key = der.ok().and_then(|der| RsaKeyPair::from_pkcs8(der.secret_pkcs8_der()).ok());
        Ok(Self {
            project_id: file.project_id,
            email: file.client_email,
            token_uri: file.token_uri,
            key_id: file.private_key_id,
            key: key.ok_or("private_key is no RSA key in PEM (PKCS #8)")?,
        })
    }

    /// The address where tokens are requested.
    pub fn token_uri(&self) -> &str {
        &self.token_uri
    }

    fn assertion(&self, now: OffsetDateTime) -> String {
        let mut head = json!({ "alg": "RS256", "typ": "JWT" });
        if let Some(id) = &self.key_id {
            head["kid"] = json!(id);
        }
        let (issued_at, expires_at) = (now.unix_timestamp(), (now + ASSERTION_LIFE).unix_timestamp());
        let claims = json!({
            "iss": self.email, "scope": SCOPE, "aud": self.token_uri, "iat": issued_at, "exp": expires_at,
        });
        let [head, claims] = [head, claims].map(|part| BASE64_URL_SAFE_NO_PAD.encode(part.to_string()));
        let text = format!("{head}.{claims}");
        let mut signature = vec![0; self.key.public().modulus_len()];
        let signed = self.key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), text.as_bytes(), &mut signature);
        signed.expect("the system has random numbers");
        format!("{text}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature))
    }
}

/// Leaves out the key.
impl fmt::Debug for ServiceAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceAccount").field("project_id", &self.project_id).finish_non_exhaustive()
    }
}

/// The answer with a token.
#[derive(Deserialize)]
struct Granted {
    access_token: String,
    expires_in: u32,
}

/// The value of `Authorization`, and until when it is used.
type Held = (HeaderValue, OffsetDateTime);

/// The access tokens of an account: one at a time, which all requests share.
pub(super) struct AccessTokens {
    pub(super) account: ServiceAccount,
    held: Mutex<Option<Held>>,
}

impl AccessTokens {
    pub(super) fn new(account: ServiceAccount) -> Self {
        Self { account, held: Mutex::default() }
    }

    /// The value of `Authorization`; `None` while the gate is shut. One task asks for a new one while the others wait.
    /// One that was refused is replaced.
    pub(super) async fn get(
        &self,
        sender: &Sender,
        gate: &Gate,
        refused: Option<&HeaderValue>,
        now: OffsetDateTime,
    ) -> Option<HeaderValue> {
        let mut held = self.held.lock().await;
        // Another task may have failed meanwhile.
        if !gate.is_open(now) {
            return None;
        }
        if let Some((token, until)) = &*held
            && *until > now
            && Some(token) != refused
        {
            return Some(token.clone());
        }
        match self.fetch(sender, now).await {
            Ok(granted) => Some(held.insert(granted).0.clone()),
            Err(reason) => {
                gate.shut(PAUSE, &format!("there is no access token: {reason}"), now);
                None
            }
        }
    }

    async fn fetch(&self, sender: &Sender, now: OffsetDateTime) -> Result<Held, String> {
        let form = format!("grant_type={GRANT}&assertion={}", self.account.assertion(now));
        let fetch = Fetch { url: &self.account.token_uri, form: Some(&form), authorization: None };
        let fetched = sender.fetch(fetch).await.map_err(|error| error.to_string())?;
        if fetched.status != 200 {
            return Err(format!("the answer is {}{}", fetched.status, reason(&fetched.body)));
        }
        let granted = serde_json::from_slice::<Granted>(&fetched.body).ok();
        let header = |granted: &Granted| HeaderValue::try_from(format!("Bearer {}", granted.access_token)).ok();
        let (mut token, granted) =
            granted.and_then(|granted| Some((header(&granted)?, granted))).ok_or("the answer has no token")?;
        token.set_sensitive(true);
        let life = Duration::seconds(granted.expires_in.into());
        Ok((token, now + life - MARGIN.min(life / 2)))
    }
}

/// Why the account gets no token, as Google says it.
fn reason(body: &[u8]) -> String {
    let body = serde_json::from_slice::<Value>(body).unwrap_or_default();
    let texts = ["error", "error_description"].map(|field| cleaned(body[field].as_str().unwrap_or_default()));
    texts.iter().filter(|text| !text.is_empty()).fold(String::new(), |all, text| all + " " + text)
}
