//! The REST API.
//!
//! A handler reads: extract, load, ask the domain, append, answer. Wire types live here and only here, and so do the
//! status codes of failures (`error`). This module knows the domain, the rules and the database's functions; it holds
//! no SQL and no rule of a game.

mod auth;
mod error;
mod extract;
mod games;
mod health;
mod moves;
mod openapi;
mod players;
mod positions;
mod problems;
mod routes;
mod variants;
mod wire;

use std::{net::TcpListener, sync::Arc, time::Duration};

use actix_web::{App, HttpServer, dev::Server, middleware::from_fn, web::Data};
pub use auth::{KeyError, Tokens, new_key};
use openapi::Methods;
use quick_cache::sync::Cache;
pub use routes::document;
use sqlx::PgPool;
use time::OffsetDateTime;
use tracing_actix_web::TracingLogger;

use crate::{db::games::SeatedGame, domain::GameId};

/// How long a stopping server waits for the requests that it has accepted.
const SHUTDOWN_TIMEOUT_S: u64 = 20;

/// How long a client may take to send the head of its request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// How many games are remembered after a move: those that are played right now, at 1 to 2 KiB each.
const RECENT_GAMES_MAX: usize = 4096;

/// What every handler can reach.
#[derive(Debug)]
pub struct AppState {
    db: PgPool,
    tokens: Tokens,
    /// Games as they were after their last move through this process. Another process may have changed them since: see
    /// [`games::carry_out`] for what they are good for.
    recent: Cache<GameId, Arc<SeatedGame>>,
}

impl AppState {
    pub fn new(db: PgPool, tokens: Tokens) -> Self {
        Self { db, tokens, recent: Cache::new(RECENT_GAMES_MAX) }
    }
}

/// The server on a listener, running until it is stopped or dropped. Signals are its caller's matter.
pub fn serve(listener: TcpListener, state: AppState, workers: usize) -> std::io::Result<Server> {
    let state = Data::new(state);
    let document = document();
    let methods = Data::new(Methods::of(&document));
    let server = HttpServer::new(move || {
        App::new()
            .app_data(state.clone())
            .configure(|config| routes::configure(config, &document, &methods))
            .wrap(from_fn(routes::negotiate))
            .wrap(from_fn(error::envelope))
            .wrap(TracingLogger::default())
    });
    let server = server
        .workers(workers)
        .shutdown_timeout(SHUTDOWN_TIMEOUT_S)
        .client_request_timeout(REQUEST_TIMEOUT)
        .disable_signals()
        .listen(listener)?;
    Ok(server.run())
}

/// The present moment in whole milliseconds, which is what the wire shows. The only clock of the service.
#[expect(clippy::disallowed_methods, reason = "this is the clock")]
fn now() -> OffsetDateTime {
    let now = OffsetDateTime::now_utc();
    now.replace_millisecond(now.millisecond()).expect("a millisecond that a time already has is in range")
}
