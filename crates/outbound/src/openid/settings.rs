//! The settings of each issuer in the operator's file. The file is read once, at the start, and a fault stops the start.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use thiserror::Error;
use url::{Host, Url};

use super::client_secret::ClientSecret;

/// How many issuers may be configured: more than a page of sign-in shows.
const ISSUERS_MAX: usize = 16;

/// How many addresses an issuer may send people back to.
const REDIRECT_URIS_MAX: usize = 16;

/// The longest text of a setting, in bytes. Sessions hold a redirect URI, so it is short.
const TEXT_BYTES_MAX: usize = 512;

/// The longest id, because ids are parts of paths.
const ID_BYTES_MAX: usize = 32;

/// Why the file cannot be used. A message never repeats a value, which may be a secret in the wrong place.
#[derive(Debug, Error)]
pub enum SettingsError {
    #[error("it is not JSON of the documented form: line {line}, column {column}")]
    Unreadable { line: usize, column: usize },
    #[error("it must have 1 to {ISSUERS_MAX} issuers")]
    Count,
    #[error("issuer {number}: {detail}")]
    Wrong { number: usize, detail: String },
}

/// An issuer, as the operator configures it.
#[derive(Debug)]
pub struct IssuerSettings {
    /// The name by which clients choose the issuer.
    pub id: String,
    /// The name that people see.
    pub name: String,
    /// Its URL, the `iss` of its tokens.
    pub issuer: String,
    pub client_id: String,
    pub(super) secret: ClientSecret,
    pub(super) scopes: String,
    pub(super) response_mode: Option<ResponseMode>,
    /// Whether it is in a private network, so that all addresses are allowed for it.
    pub is_private: bool,
    /// The addresses that it may send people back to, each compared as a whole.
    pub redirect_uris: Vec<String>,
}

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    issuers: Vec<Given>,
}

/// An issuer in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    id: String,
    name: String,
    issuer: String,
    client_id: String,
    client_secret: Option<String>,
    apple: Option<GivenApple>,
    scopes: Option<Vec<String>>,
    response_mode: Option<ResponseMode>,
    #[serde(default)]
    private: bool,
    redirect_uris: Vec<String>,
}

/// The key by which Apple knows the client, in place of a secret.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenApple {
    team_id: String,
    key_id: String,
    /// The file `AuthKey_….p8`.
    key_file: String,
}

/// How the issuer hands the code back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ResponseMode {
    Query,
    FormPost,
}

impl ResponseMode {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::FormPost => "form_post",
        }
    }
}

/// Parses the issuers of a file. `read_key` reads the key file that a setting names, or returns its fault. `may_reach` tells whether an
/// issuer's URL is allowed, in a private network or not.
pub fn parse(
    text: &str,
    read_key: impl Fn(&str) -> Result<String, String>,
    may_reach: impl Fn(&str, bool) -> bool,
) -> Result<Vec<IssuerSettings>, SettingsError> {
    let file: File = serde_json::from_str(text)
        .map_err(|error| SettingsError::Unreadable { line: error.line(), column: error.column() })?;
    if file.issuers.is_empty() || file.issuers.len() > ISSUERS_MAX {
        return Err(SettingsError::Count);
    }
    let (mut ids, mut returning) = (BTreeSet::new(), BTreeMap::new());
    let checked = file.issuers.into_iter().zip(1..).map(|(given, number)| {
        let wrong = |detail: String| SettingsError::Wrong { number, detail };
        if !ids.insert(given.id.clone()) {
            return Err(wrong("another issuer has this id".to_owned()));
        }
        // Issuers share no address: a client could take the code of one issuer for that of another, and send it there (RFC 9700, section
        // 4.4).
        for uri in &given.redirect_uris {
            if *returning.entry(uri.clone()).or_insert_with(|| given.issuer.clone()) != given.issuer {
                return Err(wrong("another issuer has one of its redirect_uris: give each its own".to_owned()));
            }
        }
        check(given, &read_key, &may_reach).map_err(wrong)
    });
    checked.collect()
}

fn check(
    given: Given,
    read_key: &impl Fn(&str) -> Result<String, String>,
    may_reach: &impl Fn(&str, bool) -> bool,
) -> Result<IssuerSettings, String> {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if given.id.is_empty() || given.id.len() > ID_BYTES_MAX || !given.id.bytes().all(is_letter) {
        return Err(format!("id must be 1 to {ID_BYTES_MAX} of a to z, 0 to 9 and -"));
    }
    for (field, value) in [("name", &given.name), ("issuer", &given.issuer), ("client_id", &given.client_id)] {
        if value.is_empty() || value.len() > TEXT_BYTES_MAX || value.chars().any(char::is_control) {
            return Err(format!("{field} must have 1 to {TEXT_BYTES_MAX} bytes"));
        }
    }
    if !may_reach(&given.issuer, given.private) || given.issuer.contains(['?', '#']) {
        return Err(
            "issuer must be a URL with https, without a query, at a public address and an allowed port".to_owned()
        );
    }
    let scopes = given.scopes.unwrap_or_else(|| vec!["openid".to_owned()]).join(" ");
    if !scopes.split(' ').any(|scope| scope == "openid") || scopes.len() > TEXT_BYTES_MAX {
        return Err("scopes must contain openid".to_owned());
    }
    if given.redirect_uris.is_empty()
        || given.redirect_uris.len() > REDIRECT_URIS_MAX
        || !given.redirect_uris.iter().all(|uri| is_redirect_uri(uri))
    {
        return Err(format!(
            "redirect_uris must have 1 to {REDIRECT_URIS_MAX} addresses of pages by https, of this machine by http, or of apps by a scheme with a dot, \
             without user and fragment, of at most {TEXT_BYTES_MAX} bytes"
        ));
    }
    let secret = match (given.client_secret, given.apple) {
        (None, None) => ClientSecret::None,
        (Some(secret), None) if !secret.is_empty() && secret.len() <= TEXT_BYTES_MAX => ClientSecret::Text(secret),
        (Some(_), None) => return Err(format!("client_secret must have 1 to {TEXT_BYTES_MAX} bytes")),
        (None, Some(apple)) => ClientSecret::apple(apple.team_id, apple.key_id, &read_key(&apple.key_file)?)?,
        (Some(_), Some(_)) => return Err("either client_secret or apple, not both".to_owned()),
    };
    Ok(IssuerSettings {
        id: given.id,
        name: given.name,
        issuer: given.issuer,
        client_id: given.client_id,
        secret,
        scopes,
        response_mode: given.response_mode,
        is_private: given.private,
        redirect_uris: given.redirect_uris,
    })
}

/// Whether this is an address of a page or an app to which a code may go. The code goes by TLS, or stays on the person's own machine. To an
/// app it also goes by a scheme of the app's own, which has a dot (RFC 8252, section 7).
fn is_redirect_uri(uri: &str) -> bool {
    let is_short = uri.len() <= TEXT_BYTES_MAX && !uri.chars().any(|c| c.is_whitespace() || c.is_control());
    let Some(url) = Url::parse(uri).ok().filter(|_| is_short) else { return false };
    let is_local = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    };
    let is_allowed = match url.scheme() {
        "https" => true,
        "http" => is_local,
        scheme => scheme.contains('.'),
    };
    is_allowed && url.fragment().is_none() && url.username().is_empty() && url.password().is_none()
}
