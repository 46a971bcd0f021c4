//! `app`: makes and changes the apps of a server.

use std::{fmt::Write, fs::File, io::Read};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use mancala_server::{
    clock,
    config::{App, AppKeys, AppPolicies, AppTrust, PlaysWith, Serve},
    db::{
        apps::{
            self, Changes, KeyHash,
            issuers::{self, KeySource, Trust, Trusting},
        },
        migrations,
    },
    domain::{AppName, PlayerId},
    jose::{KEY_SET_BYTES_MAX, KeySet},
    webhook::Endpoint,
};
use sha2::{Digest, Sha256};
use sqlx::PgPool;
use time::format_description::well_known::Rfc3339;
use uuid::Uuid;

use super::{background::webhook_reach, database::with_database, failure::Failure, output::print};

/// Random bytes of a key.
const KEY_BYTES: usize = 32;

/// The longest issuer and audience, in bytes: as long as the server reads them in tokens.
const CLAIM_BYTES_MAX: usize = 255;

const NO_KEYS: &str = "--jwks-file: it is no JSON Web Key Set of at most 64 KiB, has a secret key, or has no public key for RS256, PS256, ES256 or \
                       EdDSA";

/// The prefix of a key: the server and scanners for secrets recognize it.
const KEY_PREFIX: &str = "mapp_";

pub fn app(options: &Serve, app: &App) -> Result<(), Failure> {
    check(app)?;
    let text = with_database(options, async |database, pool| {
        migrations::run(database).await?;
        let (key, hash) = new_key();
        let now = clock::now();
        let (done, text) = match app {
            App::Create { name, policies } => {
                let id = PlayerId(Uuid::now_v7());
                let stored = apps::insert(&pool, id, &parsed(name)?, &hash, changes(*policies), now).await;
                let is_new = stored.map_err(Failure::new)?;
                return if is_new { Ok(format!("{key}\n")) } else { Err(Failure::new("there is an app of this name")) };
            }
            App::List => return list(&pool).await,
            App::Rotate { name } => (apps::change_key(&pool, &parsed(name)?, &hash, now).await, format!("{key}\n")),
            App::Disable { name } => (apps::disable(&pool, &parsed(name)?, now).await, String::new()),
            App::Enable { name } => (apps::enable(&pool, &parsed(name)?).await, String::new()),
            App::Update { name, policies } => {
                (apps::update(&pool, &parsed(name)?, changes(*policies)).await, String::new())
            }
            App::Trust { name, trust, keys } => {
                let keys = key_source(options, keys)?;
                return change_trust(&pool, &parsed(name)?, &claims(trust)?, &keys).await;
            }
            App::Untrust { name, trust } => return end_trust(&pool, &parsed(name)?, &claims(trust)?).await,
        };
        if done.map_err(Failure::new)? { Ok(text) } else { Err(no_app()) }
    })?;
    print(&text)
}

/// Checks the names and changes of a command before a database is started for it.
fn check(app: &App) -> Result<(), Failure> {
    match app {
        App::List => return Ok(()),
        App::Create { name, .. } | App::Rotate { name } | App::Disable { name } | App::Enable { name } => parsed(name),
        App::Update { name, policies } if changes(*policies) != Changes::default() => parsed(name),
        App::Update { .. } => return Err(Failure::misuse("nothing is to be changed: see --help")),
        App::Trust { name, trust, .. } | App::Untrust { name, trust } => claims(trust).and_then(|_| parsed(name)),
    }
    .map(|_| ())
}

fn parsed(name: &str) -> Result<AppName, Failure> {
    name.parse().map_err(Failure::misuse)
}

fn no_app() -> Failure {
    Failure::new("there is no such app")
}

fn changes(policies: AppPolicies) -> Changes {
    let AppPolicies { plays_with, calls_per_minute, players_per_day } = policies;
    Changes { plays_within: plays_with.map(|with| with == PlaysWith::App), calls_per_minute, players_per_day }
}

/// The settings of an app, at the end of its line.
fn chosen(app: &apps::App) -> String {
    let mut text = if app.plays_within { " plays-with=app".to_owned() } else { String::new() };
    let quotas = [("calls-per-minute", app.quotas.calls_per_minute), ("players-per-day", app.quotas.players_per_day)];
    for (name, quota) in quotas {
        if let Some(quota) = quota {
            text = format!("{text} {name}={quota}");
        }
    }
    text
}

/// The issuer and the audience that the options name.
fn claims(trust: &AppTrust) -> Result<Trust, Failure> {
    for (option, text) in [("--issuer", &trust.issuer), ("--audience", &trust.audience)] {
        if !is_claim(text) {
            let bounds = format!("1 to {CLAIM_BYTES_MAX} bytes, and no spaces or control characters");
            return Err(Failure::misuse(format!("{option}: {bounds}")));
        }
    }
    Ok(Trust { issuer: trust.issuer.clone(), audience: trust.audience.clone() })
}

/// Lets an app trust an issuer.
async fn change_trust(pool: &PgPool, name: &AppName, trust: &Trust, keys: &KeySource) -> Result<String, Failure> {
    match issuers::trust(pool, name, trust, keys, clock::now()).await.map_err(Failure::new)? {
        Trusting::Stored => Ok(String::new()),
        Trusting::NoApp => Err(no_app()),
        Trusting::Taken => Err(Failure::new("another app trusts this issuer for this audience: see app list")),
        Trusting::OtherIssuer => Err(Failure::new("the app trusts another issuer, whose subjects are its players")),
        Trusting::TooMany => {
            Err(Failure::new(format!("an app trusts its issuer for at most {} audiences", issuers::AUDIENCES_MAX)))
        }
    }
}

/// Lets an app trust an issuer no longer.
async fn end_trust(pool: &PgPool, name: &AppName, trust: &Trust) -> Result<String, Failure> {
    match issuers::untrust(pool, name, trust).await.map_err(Failure::new)? {
        None => Err(no_app()),
        Some(true) => Ok(String::new()),
        Some(false) => Err(Failure::new("the app trusts no such issuer; the tokens of its players are void")),
    }
}

/// Where the keys of an issuer are, or the keys themselves.
fn key_source(options: &Serve, keys: &AppKeys) -> Result<KeySource, Failure> {
    match (&keys.jwks_url, &keys.jwks_file) {
        (Some(url), _) => {
            let checked = Endpoint::parse(url, webhook_reach(options));
            checked.map_err(|error| Failure::misuse(format!("--jwks-url: {error}")))?;
            Ok(KeySource::Url(url.to_owned()))
        }
        (None, Some(path)) => {
            let mut text = vec![];
            let read = File::open(path).and_then(|file| file.take(KEY_SET_BYTES_MAX as u64 + 1).read_to_end(&mut text));
            read.map_err(|error| Failure::new(format!("--jwks-file: {error}")))?;
            KeySet::public_part(&text).map(KeySource::Stored).ok_or_else(|| Failure::new(NO_KEYS))
        }
        (None, None) => Err(Failure::misuse("--jwks-url or --jwks-file is missing")),
    }
}

/// Whether a text can be the issuer or the audience of tokens. The list prints it within a line.
fn is_claim(text: &str) -> bool {
    (1..=CLAIM_BYTES_MAX).contains(&text.len()) && !text.chars().any(|c| c.is_whitespace() || c.is_control())
}

async fn list(pool: &PgPool) -> Result<String, Failure> {
    let trusted = issuers::list(pool).await.map_err(Failure::new)?;
    let mut text = String::new();
    for app in apps::list(pool).await.map_err(Failure::new)? {
        let moment = |at: time::OffsetDateTime| at.format(&Rfc3339).map_err(Failure::new);
        let state = if app.disabled_at.is_some() { "disabled" } else { "enabled" };
        let (since, key_since) = (moment(app.created_at)?, moment(app.key_since)?);
        writeln!(text, "{} {} {since} {key_since} {state}{}", app.name, app.id.0, chosen(&app))
            .map_err(Failure::new)?;
        for of_app in trusted.iter().filter(|trusted| trusted.app == app.id) {
            let keys = match &of_app.keys {
                KeySource::Url(url) => url,
                KeySource::Stored(_) => "stored keys",
            };
            let Trust { issuer, audience } = &of_app.trust;
            writeln!(text, "    trusts {issuer} for {audience}, by {keys}").map_err(Failure::new)?;
        }
    }
    Ok(text)
}

/// A new key, and its hash.
fn new_key() -> (String, KeyHash) {
    let key = format!("{KEY_PREFIX}{}", BASE64_URL_SAFE_NO_PAD.encode(rand::random::<[u8; KEY_BYTES]>()));
    let hash = Sha256::digest(&key).into();
    (key, hash)
}
