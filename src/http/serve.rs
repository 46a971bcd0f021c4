//! The server: what it needs to begin, its workers, and the layers around all routes.

use std::{net::TcpListener, sync::Arc, time::Duration};

use actix_web::{App, HttpServer, dev::Server, middleware::from_fn, web::Data};
use ipnet::IpNet;
use sqlx::postgres::PgConnectOptions;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tracing_actix_web::TracingLogger;

use super::{
    answer::{cursor::Cursors, headers, problem},
    layers::{
        client_address::{self, TrustedProxies},
        compress,
        connections::{self, REQUEST_TIMEOUT},
        cors, head,
        limits::{self, Limits},
        observe,
    },
    paths,
    request::{accept, auth},
    routes,
    state::{
        AppState, passwords::Passwords, readiness::Readiness, readings::Readings, recent::RecentGames, tokens::Tokens,
    },
};
use crate::{
    db::{self, Lookups, Writers, connection::notifications},
    live::{self, Hub},
    metrics::{Connections, Metrics, Waiters},
    webhook::Reach,
};

/// All connections of a process to the database that read for requests. Beside them each worker has one for lookups, and the
/// process one for each writer, two for what other processes tell or are asked about, one of the jobs', and three for webhooks. More than cores pay off only
/// while statements wait for the disk; every one costs the database memory, and several processes share one.
const DATABASE_CONNECTIONS_MAX: u32 = 16;

/// Workers, each with connections of its own: more would leave each too few.
const WORKERS_MAX: u32 = 8;

/// What a service needs to begin.
pub struct Service {
    pub database: PgConnectOptions,
    /// To be ended by whoever started them, when the server has.
    pub writers: Arc<Writers>,
    pub tokens: Tokens,
    /// Origins whose pages may call from a browser, or [`super::ANY_ORIGIN`].
    pub cors_origins: Vec<String>,
    pub rate_limits: RateLimits,
    /// Networks of reverse proxies that are believed when they say who calls.
    pub trusted_proxies: Vec<IpNet>,
    /// How long a connection may idle between two requests; [`super::KEEP_ALIVE`] unless there is a reason.
    pub keep_alive: Duration,
    /// Threads that answer requests; at most 8.
    pub workers: u32,
    /// Who waits for a game. To be released by whoever stops the server, before it does.
    pub hub: Arc<Hub>,
    /// Where clients reach the service, if the document shall say so.
    pub public_url: Option<String>,
    /// How long the service waits, once it is stopped, for the requests that it has accepted.
    pub shutdown_timeout_s: u64,
    /// How long a game waits for somebody to join.
    pub open_for: time::Duration,
    /// Which addresses players may have notices sent to.
    pub webhook_reach: Reach,
    /// What it counts.
    pub metrics: Arc<Metrics>,
    /// To be cancelled when the service shall stop soon: it says that it is not ready, and who waits is released, while it
    /// still answers.
    pub draining: CancellationToken,
}

/// A database's options may hold its password.
impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Service").field("tokens", &self.tokens).field("workers", &self.workers).finish_non_exhaustive()
    }
}

/// Whether calls are limited, by player or by address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateLimits {
    On,
    Off,
}

/// Counts who waits, and wakes them when this process or another one has changed their game.
fn watch_waiters(hub: &Arc<Hub>, writers: &Writers, metrics: &Metrics, database: &PgConnectOptions) {
    let waiting = Arc::downgrade(hub);
    let (count, tell) = (waiting.clone(), waiting.clone());
    metrics.watch_waiters(move || {
        let hub = count.upgrade()?;
        Some(Waiters { all: hub.waiters(), streams: hub.audience().streams() })
    });
    writers.observe(move |change| {
        if let Some(hub) = tell.upgrade() {
            hub.stored(change);
        }
    });
    let sender = notifications::sender(database.clone());
    actix_web::rt::spawn(live::announce(waiting.clone(), sender.clone()));
    actix_web::rt::spawn(live::follow(waiting, sender, database.clone()));
}

/// Counts what the writers do.
fn watch_writers(writers: &Arc<Writers>, metrics: &Arc<Metrics>) {
    let groups = metrics.clone();
    writers.observe_groups(move |appends| groups.group_written(appends));
    // The metrics outlive the server, and must not keep its connections open.
    let watched = Arc::downgrade(writers);
    metrics.watch_connections(move || {
        let writers = watched.upgrade()?;
        let (writers_in_use, appends_queued) = (writers.busy(), writers.queued());
        Some(Connections { writers_in_use, appends_queued, ..Connections::default() })
    });
}

/// Counts what is remembered.
fn watch_recent(recent: &Arc<RecentGames>, metrics: &Metrics) {
    let watched = Arc::downgrade(recent);
    metrics.watch_cache(move || watched.upgrade().map(|recent| recent.size()));
}

/// The server on a listener, running until it is stopped or dropped. Signals are its caller's matter. To be called where
/// actix-web's runtime is.
pub fn serve(listener: TcpListener, service: Service) -> std::io::Result<Server> {
    let Service { database, tokens, cors_origins, rate_limits, trusted_proxies, keep_alive, workers, .. } = service;
    let Service { public_url, shutdown_timeout_s, open_for, metrics, draining, hub, writers, webhook_reach, .. } =
        service;
    let workers = workers.clamp(1, WORKERS_MAX);
    let connections = DATABASE_CONNECTIONS_MAX / workers;
    let (tokens, recent) = (Arc::new(tokens), Arc::new(RecentGames::new()));
    let (passwords, readiness) = (Arc::new(Passwords::start()?), Arc::<Readiness>::default());
    let readings = Arc::<Readings>::default();
    let limits = (rate_limits == RateLimits::On).then(|| Data::new(Limits::new()));
    let trusted_proxies = Data::new(TrustedProxies(trusted_proxies));
    let document = routes::document_of(public_url);
    paths::set(&routes::document());
    watch_waiters(&hub, &writers, &metrics, &database);
    watch_writers(&writers, &metrics);
    watch_recent(&recent, &metrics);
    // Runs on each worker's own thread: a connection is used where it was made, so no answer crosses threads.
    let server = HttpServer::new(move || {
        let state = Arc::new(AppState {
            db: db::pool(database.clone(), connections),
            writers: writers.clone(),
            cursors: Cursors::new(tokens.cursor_key()),
            tokens: tokens.clone(),
            passwords: passwords.clone(),
            lookups: Lookups::start(database.clone()),
            recent: recent.clone(),
            hub: hub.clone(),
            readings: readings.clone(),
            crowd: Semaphore::new(usize::try_from(connections / 2).unwrap_or(1).max(1)),
            metrics: metrics.clone(),
            readiness: readiness.clone(),
            open_for,
            webhook_reach,
            draining: draining.clone(),
        });
        let watched = Arc::downgrade(&state);
        metrics.watch_connections(move || watched.upgrade().map(|state| state.connections()));
        // A request goes through these from the last to the first, and its answer from the first to the last. What is
        // refused on the way goes back from where it is, so whoever adds to an answer stands below whoever refuses.
        App::new()
            .app_data(Data::from(state))
            .app_data(trusted_proxies.clone())
            .configure(|config| {
                if let Some(limits) = &limits {
                    config.app_data(limits.clone());
                }
                routes::configure(config, &document);
            })
            .wrap(from_fn(accept::negotiate))
            .wrap(from_fn(auth::refuse_bad_tokens))
            // Counts by who calls, and bad tokens too.
            .wrap(from_fn(limits::limit))
            .wrap(from_fn(auth::identify))
            .wrap(from_fn(head::head_as_get))
            .wrap(from_fn(head::slim_down))
            // Before an answer is compressed, or read by a page, it is in its final form.
            .wrap(from_fn(problem::envelope))
            .wrap(from_fn(compress::compress))
            // Answers preflights itself, so that they need no token and are not counted.
            .wrap(cors::cors(&cors_origins))
            // What the three above refuse.
            .wrap(from_fn(problem::envelope))
            .wrap(from_fn(headers::complete))
            .wrap(from_fn(observe::count))
            .wrap(TracingLogger::<observe::RequestSpan>::new())
            .wrap(from_fn(client_address::identify))
            .wrap(from_fn(connections::follow))
    });
    let server = server
        .workers(workers as usize)
        .max_connections(connections::maximum() / workers as usize)
        .keep_alive(keep_alive)
        .client_request_timeout(REQUEST_TIMEOUT)
        // Who hangs up does not wait any more.
        .h1_allow_half_closed(false)
        .on_connect(move |io, data| connections::watch(io, data, keep_alive))
        .shutdown_timeout(shutdown_timeout_s)
        .disable_signals()
        .listen(listener)?;
    Ok(server.run())
}
