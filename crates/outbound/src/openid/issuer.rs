//! An issuer: where it lets people sign in, and who someone is that comes back with a code.

use std::{sync::Arc, time::Duration};

use base64::{
    Engine,
    prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD},
};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use time::OffsetDateTime;
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::timeout,
};
use url::{Url, form_urlencoded::Serializer};

use super::{
    documents::{Discovery, DocumentCache},
    failure::Failure,
    id_token::{self, Expected},
    settings::IssuerSettings,
};
use crate::{
    jose::{KeySet, KeySets},
    webhook::{Fetch, Reach, Sender},
};

/// How many codes of one issuer are exchanged at once in a process. Further ones are refused, so that a slow issuer holds up no more than
/// these.
const AT_ONCE_MAX: usize = 16;

/// How many codes of all issuers are exchanged at once: the plan of open files reserves this many connections for them.
const AT_ONCE_IN_ALL_MAX: usize = 24;

/// The timeout of each of both parts of an exchange: the documents, and the code.
const PART_TIMEOUT: Duration = Duration::from_secs(10);

/// Errors of the token endpoint (RFC 6749, section 5.2) that are the operator's to mend. Others are about the code.
const OPERATORS_ERRORS: [&str; 4] =
    ["invalid_client", "unauthorized_client", "unsupported_grant_type", "redirect_uri_mismatch"];

/// The longest word of an issuer's error that the log repeats.
const ERROR_WORD_MAX: usize = 40;

/// The issuers that the operator has configured.
#[derive(Debug, Default)]
pub struct Issuers {
    all: Vec<Issuer>,
    urls: Vec<String>,
}

/// An issuer, with its cached document and keys.
#[derive(Debug)]
pub struct Issuer {
    settings: IssuerSettings,
    sender: Sender,
    discovery: DocumentCache,
    keys: Arc<KeySets>,
    at_once: Semaphore,
    in_all: Arc<Semaphore>,
}

/// A prepared exchange: its documents are fetched, and its place is reserved.
#[derive(Debug)]
pub struct Exchange<'a> {
    issuer: &'a Issuer,
    discovery: Arc<Discovery>,
    keys: Arc<KeySet>,
    _room: [SemaphorePermit<'a>; 2],
}

/// The parameters of a sign-in at the issuer.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub redirect_uri: &'a str,
    pub state: &'a str,
    pub nonce: &'a str,
    /// The secret of PKCE, whose hash is the challenge.
    pub verifier: &'a str,
}

/// A person, as an issuer knows them. The issuer's own id is kept as a hash: nothing but a comparison needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    pub issuer: String,
    /// SHA-256 of the issuer and of its id.
    pub hash: [u8; 32],
}

#[derive(Deserialize)]
struct TokenResponse {
    id_token: String,
    access_token: Option<String>,
}

#[derive(Deserialize)]
struct TokenError {
    error: String,
}

impl Issuers {
    /// The issuers are asked by `sender`; one in a private network by the same with that reach.
    pub fn new(settings: Vec<IssuerSettings>, sender: &Sender) -> Self {
        let in_all = Arc::new(Semaphore::new(AT_ONCE_IN_ALL_MAX));
        let urls = settings.iter().map(|settings| settings.issuer.clone()).collect();
        let all = settings.into_iter().map(|settings| {
            let sender = if settings.is_private { sender.clone().with_reach(Reach::Anywhere) } else { sender.clone() };
            Issuer {
                settings,
                discovery: DocumentCache::default(),
                keys: Arc::new(KeySets::new(sender.clone())),
                sender,
                at_once: Semaphore::new(AT_ONCE_MAX),
                in_all: in_all.clone(),
            }
        });
        Self { all: all.collect(), urls }
    }

    /// In the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = &Issuer> {
        self.all.iter()
    }

    pub fn find(&self, id: &str) -> Option<&Issuer> {
        self.all.iter().find(|issuer| issuer.settings.id == id)
    }

    /// The first one of a URL: several clients of an issuer know the same people.
    pub fn find_by_url(&self, url: &str) -> Option<&Issuer> {
        self.all.iter().find(|issuer| issuer.settings.issuer == url)
    }

    /// The URLs of all of them.
    pub fn urls(&self) -> &[String] {
        &self.urls
    }
}

impl Issuer {
    pub const fn settings(&self) -> &IssuerSettings {
        &self.settings
    }

    /// The address at which a person signs in.
    pub async fn authorization_url(&self, request: Request<'_>) -> Result<String, Failure> {
        let discovery = self.discovery().await?;
        let unreadable = |_| Failure::unavailable("its authorization endpoint is no URL");
        let mut url = Url::parse(&discovery.authorization_endpoint).map_err(unreadable)?;
        let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(request.verifier));
        url.query_pairs_mut().extend_pairs([
            ("response_type", "code"),
            ("client_id", &self.settings.client_id),
            ("redirect_uri", request.redirect_uri),
            ("scope", &self.settings.scopes),
            ("state", request.state),
            ("nonce", request.nonce),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ]);
        if let Some(mode) = self.settings.response_mode {
            url.query_pairs_mut().append_pair("response_mode", mode.as_str());
        }
        Ok(url.into())
    }

    /// Prepares for a code: every step that can fail without the code runs first, so that no code is wasted.
    pub async fn prepare(&self) -> Result<Exchange<'_>, Failure> {
        let full = |_| Failure::unavailable("too many of its codes are exchanged");
        let room = [self.at_once.try_acquire().map_err(full)?, self.in_all.try_acquire().map_err(full)?];
        let documents = async {
            let discovery = self.discovery().await?;
            let keys = self.find_keys(&discovery, |_| true).await?;
            Ok((discovery, keys))
        };
        let (discovery, keys) = within(documents).await?;
        Ok(Exchange { issuer: self, discovery, keys, _room: room })
    }

    async fn find_keys(
        &self,
        discovery: &Discovery,
        has_key: impl Fn(&KeySet) -> bool,
    ) -> Result<Arc<KeySet>, Failure> {
        let found = self.keys.find(&discovery.jwks_uri, has_key).await;
        found.map_err(|_| Failure::unavailable("its keys cannot be fetched"))
    }

    async fn discovery(&self) -> Result<Arc<Discovery>, Failure> {
        self.discovery.get(self.fetch_discovery()).await
    }

    async fn fetch_discovery(&self) -> Result<Discovery, Failure> {
        let url = format!("{}/.well-known/openid-configuration", self.settings.issuer.trim_end_matches('/'));
        let answer = self.sender.fetch(Fetch::document(&url)).await;
        let answer = answer.map_err(|error| Failure::unavailable(format!("its document: {error}")))?;
        if answer.status != 200 {
            return Err(Failure::unavailable(format!("its document is {}", answer.status)));
        }
        let malformed = |_| Failure::unavailable("its document is malformed");
        let discovery: Discovery = serde_json::from_slice(&answer.body).map_err(malformed)?;
        if discovery.issuer != self.settings.issuer {
            return Err(Failure::unavailable("its document names another issuer"));
        }
        let Discovery { authorization_endpoint, token_endpoint, jwks_uri, .. } = &discovery;
        if ![authorization_endpoint, token_endpoint, jwks_uri].iter().all(|url| self.sender.may_reach(url)) {
            return Err(Failure::unavailable("its document names an address that is not allowed"));
        }
        Ok(discovery)
    }
}

impl Exchange<'_> {
    /// Whether the answer comes from this issuer. `iss` is the issuer that the answer names; some issuers leave it out.
    pub fn is_named(&self, iss: Option<&str>) -> bool {
        match iss {
            Some(iss) => iss == self.issuer.settings.issuer,
            None => !self.discovery.authorization_response_iss_parameter_supported,
        }
    }

    /// The person whose code this is.
    pub async fn redeem(self, code: &str, request: Request<'_>, now: OffsetDateTime) -> Result<Subject, Failure> {
        within(self.verified(code, request, now)).await
    }

    async fn verified(&self, code: &str, request: Request<'_>, now: OffsetDateTime) -> Result<Subject, Failure> {
        let settings = &self.issuer.settings;
        let tokens = self.exchange(code, request, now).await?;
        let token = id_token::read(&tokens.id_token).map_err(Failure::Refused)?;
        // The issuer may have new keys.
        let keys = if token.is_of(&self.keys) {
            self.keys.clone()
        } else {
            self.issuer.find_keys(&self.discovery, |keys| token.is_of(keys)).await?
        };
        let expected = Expected {
            issuer: &settings.issuer,
            client_id: &settings.client_id,
            nonce: request.nonce,
            access_token: tokens.access_token.as_deref(),
            now,
        };
        let subject = id_token::verify(&token, &keys, expected).map_err(Failure::Refused)?;
        let hash = Sha256::new().chain_update(&settings.issuer).chain_update([0]).chain_update(subject);
        Ok(Subject { issuer: settings.issuer.clone(), hash: hash.finalize().into() })
    }

    /// Exchanges a code for tokens.
    async fn exchange(&self, code: &str, request: Request<'_>, now: OffsetDateTime) -> Result<TokenResponse, Failure> {
        let (form, authorization) = self.form(code, request, now);
        let url = &self.discovery.token_endpoint;
        let fetch = Fetch { url, form: Some(&form), authorization: authorization.as_deref() };
        let answer = self.issuer.sender.fetch(fetch).await;
        let answer = answer.map_err(|error| Failure::unavailable(format!("its token endpoint: {error}")))?;
        if answer.status == 200 {
            return serde_json::from_slice(&answer.body).map_err(|_| Failure::unavailable("its tokens are malformed"));
        }
        let word = serde_json::from_slice::<TokenError>(&answer.body).map(|answer| answer.error).unwrap_or_default();
        let is_operators = OPERATORS_ERRORS.contains(&word.as_str());
        Err(match (answer.status, word.as_str()) {
            (400..=499, "invalid_grant") => Failure::Refused("the issuer refuses the code"),
            // A code is the caller's word: one that is malformed is no outage.
            (400 | 404..=407 | 409..=428 | 430..=499, word) if !is_operators => {
                Failure::CodeRefused(shown(word).to_owned())
            }
            (status, word) => Failure::unavailable(format!("its token endpoint answers {status} {}", shown(word))),
        })
    }

    /// The form for the token endpoint, and the header with which the client proves itself.
    fn form(&self, code: &str, request: Request<'_>, now: OffsetDateTime) -> (String, Option<String>) {
        let IssuerSettings { client_id, secret, .. } = &self.issuer.settings;
        let methods = &self.discovery.token_endpoint_auth_methods_supported;
        let is_in_form = methods.iter().any(|method| method == "client_secret_post");
        let mut form = Serializer::new(String::new());
        form.extend_pairs([
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", request.redirect_uri),
            ("code_verifier", request.verifier),
        ]);
        let mut authorization = None;
        match secret.now(client_id, now) {
            // Every issuer whose document names no method accepts HTTP Basic.
            Some(secret) if !is_in_form => {
                let [id, secret] = [client_id.as_str(), &secret].map(encoded);
                authorization = Some(format!("Basic {}", BASE64_STANDARD.encode(format!("{id}:{secret}"))));
            }
            Some(secret) => {
                form.append_pair("client_id", client_id).append_pair("client_secret", &secret);
            }
            None => {
                form.append_pair("client_id", client_id);
            }
        }
        (form.finish(), authorization)
    }
}

/// Runs a request of an exchange within its timeout.
async fn within<T>(part: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    timeout(PART_TIMEOUT, part).await.unwrap_or_else(|_| Err(Failure::unavailable("it is too slow")))
}

/// The word of an issuer's error, if it is one of those that a log may have.
fn shown(word: &str) -> &str {
    let is_word = word.len() <= ERROR_WORD_MAX && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    if is_word { word } else { "" }
}

/// Encodes a text as a form does, which is how Basic takes both parts (RFC 6749, section 2.3.1).
fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
