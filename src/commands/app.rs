//! `app`: makes and changes the apps of a server.

use std::fmt::Write;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use mancala_server::{
    clock,
    config::{self, AppAction, Serve},
    db::{
        apps::{self, KeyHash},
        migrations,
    },
    domain::{AppName, PlayerId},
};
use sha2::{Digest, Sha256};
use sqlx::PgPool;
use time::format_description::well_known::Rfc3339;
use uuid::Uuid;

use super::{database::with_database, failure::Failure, output::print};

/// Random bytes of a key.
const KEY_BYTES: usize = 32;

/// The prefix of a key: the server and scanners for secrets recognize it.
const KEY_PREFIX: &str = "mapp_";

pub fn app(options: &Serve, app: &config::App) -> Result<(), Failure> {
    let name = name(app)?;
    let text = with_database(options, async |database, pool| {
        migrations::run(database).await.map_err(Failure::new)?;
        match name {
            None => list(&pool).await,
            Some(name) => change(&pool, app.action, &name).await,
        }
    })?;
    print(&text)
}

/// The app that the options name; `None` for the list of all.
fn name(app: &config::App) -> Result<Option<AppName>, Failure> {
    match (app.action, &app.name) {
        (AppAction::List, None) => Ok(None),
        (AppAction::List, Some(_)) => Err(Failure::misuse("the list has all apps: leave the name out")),
        (_, None) => Err(Failure::misuse("the name of the app is missing: see --help")),
        (_, Some(name)) => name.parse().map(Some).map_err(Failure::misuse),
    }
}

/// Changes an app; returns what is printed: a new key.
async fn change(pool: &PgPool, action: AppAction, name: &AppName) -> Result<String, Failure> {
    let (key, hash) = new_key();
    let now = clock::now();
    let is_done = match action {
        AppAction::Create => {
            let stored = apps::insert(pool, PlayerId(Uuid::now_v7()), name, &hash, now).await;
            if !stored.map_err(Failure::new)? {
                return Err(Failure::new("there is an app of this name"));
            }
            Ok(true)
        }
        AppAction::Rotate => apps::change_key(pool, name, &hash, now).await,
        AppAction::Disable => apps::disable(pool, name, now).await,
        AppAction::Enable => apps::enable(pool, name).await,
        AppAction::List => Ok(false),
    };
    if !is_done.map_err(Failure::new)? {
        return Err(Failure::new("there is no such app"));
    }
    let has_key = matches!(action, AppAction::Create | AppAction::Rotate);
    Ok(if has_key { format!("{key}\n") } else { String::new() })
}

async fn list(pool: &PgPool) -> Result<String, Failure> {
    let mut text = String::new();
    for app in apps::list(pool).await.map_err(Failure::new)? {
        let moment = |at: time::OffsetDateTime| at.format(&Rfc3339).map_err(Failure::new);
        let state = if app.disabled_at.is_some() { "disabled" } else { "enabled" };
        let (since, key_since) = (moment(app.created_at)?, moment(app.key_since)?);
        writeln!(text, "{} {} {since} {key_since} {state}", app.name, app.id.0).map_err(Failure::new)?;
    }
    Ok(text)
}

/// A new key, and its hash.
fn new_key() -> (String, KeyHash) {
    let key = format!("{KEY_PREFIX}{}", BASE64_URL_SAFE_NO_PAD.encode(rand::random::<[u8; KEY_BYTES]>()));
    let hash = Sha256::digest(&key).into();
    (key, hash)
}
