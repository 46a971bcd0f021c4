//! `app`: makes and changes the apps of a server.

use std::{fmt::Write, fs::File, io::Read};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use mancala_server::{
    clock,
    config::{self, AppAction, AppPolicies, AppTrust, PlaysWith, Serve},
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

/// The least calls in a minute: several times what the most expensive call counts for.
const CALLS_MIN: i32 = 60;

/// The longest issuer and audience, in bytes: as long as the server reads them in tokens.
const CLAIM_BYTES_MAX: usize = 255;

const NO_KEYS: &str = "--jwks-file: it is no JSON Web Key Set of at most 64 KiB, has a secret key, or has no public key for RS256, PS256, ES256 or \
                       EdDSA";

/// The prefix of a key: the server and scanners for secrets recognize it.
const KEY_PREFIX: &str = "mapp_";

pub fn app(options: &Serve, app: &config::App) -> Result<(), Failure> {
    let name = name(app)?;
    let text = with_database(options, async |database, pool| {
        migrations::run(database).await.map_err(Failure::new)?;
        match name {
            None => list(&pool).await,
            Some(name) if is_about_trust(app.action) => change_trust(options, &pool, app, &name).await,
            Some(name) => change(&pool, app, &name).await,
        }
    })?;
    print(&text)
}

/// The app that the options name; `None` for the list of all.
fn name(app: &config::App) -> Result<Option<AppName>, Failure> {
    let AppTrust { issuer, audience, jwks_url, jwks_file } = &app.trust;
    let has_keys = jwks_url.is_some() || jwks_file.is_some();
    if (issuer.is_some() || audience.is_some() || has_keys) && !is_about_trust(app.action)
        || has_keys && app.action != AppAction::Trust
    {
        return Err(Failure::misuse("the options of an issuer are for trust and untrust, those of its keys for trust"));
    }
    let is_unchanged = changes(app.policies) == Changes::default();
    if !is_unchanged && !matches!(app.action, AppAction::Create | AppAction::Update) {
        return Err(Failure::misuse("--plays-with and the quotas are for create and update"));
    }
    if app.policies.calls_per_minute.is_some_and(|calls| (1..CALLS_MIN).contains(&calls)) {
        return Err(Failure::misuse(format!("--calls-per-minute: 0, or at least {CALLS_MIN}")));
    }
    if is_unchanged && app.action == AppAction::Update {
        return Err(Failure::misuse("nothing is to be changed: see --help"));
    }
    match (app.action, &app.name) {
        (AppAction::List, None) => Ok(None),
        (AppAction::List, Some(_)) => Err(Failure::misuse("the list has all apps: leave the name out")),
        (_, None) => Err(Failure::misuse("the name of the app is missing: see --help")),
        (_, Some(name)) => name.parse().map(Some).map_err(Failure::misuse),
    }
}

/// Changes an app; returns what is printed: a new key.
async fn change(pool: &PgPool, app: &config::App, name: &AppName) -> Result<String, Failure> {
    let (key, hash) = new_key();
    let now = clock::now();
    let changes = changes(app.policies);
    let is_done = match app.action {
        AppAction::Create => {
            let stored = apps::insert(pool, PlayerId(Uuid::now_v7()), name, &hash, changes, now).await;
            if !stored.map_err(Failure::new)? {
                return Err(Failure::new("there is an app of this name"));
            }
            Ok(true)
        }
        AppAction::Update => apps::update(pool, name, changes).await,
        AppAction::Rotate => apps::change_key(pool, name, &hash, now).await,
        AppAction::Disable => apps::disable(pool, name, now).await,
        AppAction::Enable => apps::enable(pool, name).await,
        AppAction::Trust | AppAction::Untrust | AppAction::List => Ok(false),
    };
    if !is_done.map_err(Failure::new)? {
        return Err(Failure::new("there is no such app"));
    }
    let has_key = matches!(app.action, AppAction::Create | AppAction::Rotate);
    Ok(if has_key { format!("{key}\n") } else { String::new() })
}

fn changes(policies: AppPolicies) -> Changes {
    let AppPolicies { plays_with, calls_per_minute, players_per_day } = policies;
    Changes { plays_within: plays_with.map(|with| with == PlaysWith::App), calls_per_minute, players_per_day }
}

/// What was chosen for an app, at the end of its line.
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

const fn is_about_trust(action: AppAction) -> bool {
    matches!(action, AppAction::Trust | AppAction::Untrust)
}

/// Lets an app trust an issuer, or no longer.
async fn change_trust(options: &Serve, pool: &PgPool, app: &config::App, name: &AppName) -> Result<String, Failure> {
    let needed = |text: &Option<String>, option: &str| match text.as_deref() {
        None => Err(Failure::misuse(format!("{option} is missing: see --help"))),
        Some(text) if !is_claim(text) => {
            Err(Failure::misuse(format!("{option}: 1 to {CLAIM_BYTES_MAX} bytes, and no spaces or control characters")))
        }
        Some(text) => Ok(text.to_owned()),
    };
    let trust =
        Trust { issuer: needed(&app.trust.issuer, "--issuer")?, audience: needed(&app.trust.audience, "--audience")? };
    if app.action == AppAction::Untrust {
        return match issuers::untrust(pool, name, &trust).await.map_err(Failure::new)? {
            None => Err(Failure::new("there is no such app")),
            Some(true) => Ok(String::new()),
            Some(false) => Err(Failure::new("the app trusts no such issuer; the tokens of its players are void")),
        };
    }
    let keys = key_source(options, &app.trust)?;
    match issuers::trust(pool, name, &trust, &keys, clock::now()).await.map_err(Failure::new)? {
        Trusting::Stored => Ok(String::new()),
        Trusting::NoApp => Err(Failure::new("there is no such app")),
        Trusting::Taken => Err(Failure::new("another app trusts this issuer for this audience: see app list")),
        Trusting::OtherIssuer => Err(Failure::new("the app trusts another issuer, whose subjects are its players")),
        Trusting::TooMany => {
            Err(Failure::new(format!("an app trusts its issuer for at most {} audiences", issuers::AUDIENCES_MAX)))
        }
    }
}

/// Where the keys of an issuer are, or the keys themselves.
fn key_source(options: &Serve, trust: &AppTrust) -> Result<KeySource, Failure> {
    match (&trust.jwks_url, &trust.jwks_file) {
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
        (None, None) => Err(Failure::misuse("--jwks-url or --jwks-file is missing: see --help")),
    }
}

/// Whether a text can be the issuer or the audience of tokens. It stands in a line of the list.
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
