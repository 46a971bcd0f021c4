//! An issuer: where it lets people sign in, and who someone is that comes back with a code.

use std::sync::Arc;

use base64::{
    Engine,
    prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD},
};
use serde::{Deserialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};
use time::OffsetDateTime;
use tokio::sync::Semaphore;
use url::{Url, form_urlencoded::Serializer};

use super::{
    documents::{Discovery, Kept},
    failure::Failure,
    id_token::{self, Expected, Refused},
    keys::Keys,
    settings::IssuerSettings,
};
use crate::webhook::{Fetch, Fetched, Sender};

/// How many requests of one issuer are under way at once in a process. Further ones are refused: one that is slow holds up no more than these.
const AT_ONCE_MAX: usize = 16;

/// The longest word of an issuer's error that the log repeats.
const ERROR_WORD_MAX: usize = 40;

/// The issuers that the operator has configured.
#[derive(Debug, Default)]
pub struct Issuers(Vec<Issuer>);

/// An issuer, with what it has published.
#[derive(Debug)]
pub struct Issuer {
    settings: IssuerSettings,
    sender: Sender,
    discovery: Kept<Discovery>,
    keys: Kept<Keys>,
    at_once: Semaphore,
}

/// A sign-in that an issuer is asked for.
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
    pub fn new(settings: Vec<IssuerSettings>, sender: &Sender) -> Self {
        Self(settings.into_iter().map(|settings| Issuer::new(settings, sender.clone())).collect())
    }

    /// In the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = &Issuer> {
        self.0.iter()
    }

    pub fn find(&self, id: &str) -> Option<&Issuer> {
        self.0.iter().find(|issuer| issuer.settings.id == id)
    }

    /// The first one of a URL: several clients of an issuer know the same people.
    pub fn find_by_url(&self, url: &str) -> Option<&Issuer> {
        self.0.iter().find(|issuer| issuer.settings.issuer == url)
    }
}

impl Issuer {
    fn new(settings: IssuerSettings, sender: Sender) -> Self {
        let at_once = Semaphore::new(AT_ONCE_MAX);
        Self { settings, sender, discovery: Kept::new(), keys: Kept::new(), at_once }
    }

    pub const fn settings(&self) -> &IssuerSettings {
        &self.settings
    }

    /// The address at which a person signs in.
    pub async fn authorization_url(&self, request: Request<'_>) -> Result<String, Failure> {
        let _permit = self.permit()?;
        let discovery = self.discovery().await?;
        let unreadable = || unavailable("its authorization endpoint is no URL");
        let mut url = Url::parse(&discovery.authorization_endpoint).map_err(|_| unreadable())?;
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

    /// The person whose code this is.
    pub async fn exchange(&self, code: &str, request: Request<'_>, now: OffsetDateTime) -> Result<Subject, Failure> {
        let _permit = self.permit()?;
        let discovery = self.discovery().await?;
        let tokens = self.redeem(&discovery, code, request, now).await?;
        let expected = Expected {
            issuer: &self.settings.issuer,
            client_id: &self.settings.client_id,
            nonce: request.nonce,
            access_token: tokens.access_token.as_deref(),
            now,
        };
        let keys = self.keys.get(self.fetch_keys(&discovery)).await?;
        let checked = match id_token::verify(&tokens.id_token, &keys, expected) {
            // The issuer may have new keys.
            Err(Refused::UnknownKey) => {
                let keys = self.keys.newer(keys, self.fetch_keys(&discovery)).await?;
                id_token::verify(&tokens.id_token, &keys, expected)
            }
            checked => checked,
        };
        match checked {
            Ok(subject) => Ok(Subject { issuer: self.settings.issuer.clone(), hash: Sha256::digest(subject).into() }),
            Err(Refused::UnknownKey) => Err(Failure::Refused("no key of the issuer has signed the ID token")),
            Err(Refused::Wrong(detail)) => Err(Failure::Refused(detail)),
        }
    }

    fn permit(&self) -> Result<impl Drop, Failure> {
        self.at_once.try_acquire().map_err(|_| unavailable("too many of its requests are under way"))
    }

    async fn discovery(&self) -> Result<Arc<Discovery>, Failure> {
        self.discovery.get(self.fetch_discovery()).await
    }

    async fn fetch_discovery(&self) -> Result<Discovery, Failure> {
        let url = format!("{}/.well-known/openid-configuration", self.settings.issuer.trim_end_matches('/'));
        let discovery: Discovery = self.fetch(&url).await?;
        if discovery.issuer != self.settings.issuer {
            return Err(unavailable("its document names another issuer"));
        }
        let Discovery { authorization_endpoint, token_endpoint, jwks_uri, .. } = &discovery;
        if ![authorization_endpoint, token_endpoint, jwks_uri].iter().all(|url| self.sender.may_reach(url)) {
            return Err(unavailable("its document names an address that is not allowed"));
        }
        Ok(discovery)
    }

    async fn fetch_keys(&self, discovery: &Discovery) -> Result<Keys, Failure> {
        let answer = self.get(&discovery.jwks_uri).await?;
        Keys::parse(&answer.body).ok_or_else(|| unavailable("its keys are malformed"))
    }

    async fn fetch<T: DeserializeOwned>(&self, url: &str) -> Result<T, Failure> {
        serde_json::from_slice(&self.get(url).await?.body).map_err(|_| unavailable("its document is malformed"))
    }

    async fn get(&self, url: &str) -> Result<Fetched, Failure> {
        let answer = self.send(Fetch { url, form: None, authorization: None }).await?;
        if answer.status == 200 { Ok(answer) } else { Err(unavailable(&format!("its document is {}", answer.status))) }
    }

    async fn send(&self, fetch: Fetch<'_>) -> Result<Fetched, Failure> {
        self.sender.fetch(fetch).await.map_err(|error| unavailable(&error.to_string()))
    }

    /// Exchanges a code for tokens.
    async fn redeem(
        &self,
        discovery: &Discovery,
        code: &str,
        request: Request<'_>,
        now: OffsetDateTime,
    ) -> Result<TokenResponse, Failure> {
        let IssuerSettings { client_id, secret, .. } = &self.settings;
        let secret = secret.now(client_id, now);
        let methods = &discovery.token_endpoint_auth_methods_supported;
        let is_in_form = methods.iter().any(|method| method == "client_secret_post");
        let mut form = Serializer::new(String::new());
        form.extend_pairs([
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", request.redirect_uri),
            ("code_verifier", request.verifier),
        ]);
        let mut authorization = None;
        match secret {
            // Basic is what every issuer takes that says nothing else.
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
        let form = form.finish();
        let fetch =
            Fetch { url: &discovery.token_endpoint, form: Some(&form), authorization: authorization.as_deref() };
        let answer = self.send(fetch).await?;
        if answer.status == 200 {
            return serde_json::from_slice(&answer.body).map_err(|_| unavailable("its tokens are malformed"));
        }
        let word = serde_json::from_slice::<TokenError>(&answer.body).map(|answer| answer.error).unwrap_or_default();
        match (answer.status, word.as_str()) {
            (400..=499, "invalid_grant") => Err(Failure::Refused("the issuer refuses the code")),
            (status, word) => Err(unavailable(&format!("its token endpoint answers {status} {}", shown(word)))),
        }
    }
}

fn unavailable(cause: &str) -> Failure {
    Failure::Unavailable(cause.to_owned())
}

/// The word of an issuer's error, if it is one of those that a log may have.
fn shown(word: &str) -> &str {
    let is_word = word.len() <= ERROR_WORD_MAX && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    if is_word { word } else { "" }
}

/// As a form has it, which is how Basic takes both parts (RFC 6749, section 2.3.1).
fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
