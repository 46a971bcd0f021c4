//! The server: its parameters, its workers, and the layers around all routes. Knows no single route.

use std::{net::TcpListener, sync::Arc, time::Duration};

use actix_web::{
    App, HttpServer,
    dev::Server,
    middleware::from_fn,
    web::{Bytes, Data, ServiceConfig},
};
use ipnet::IpNet;
use sqlx::postgres::PgConnectOptions;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tracing_actix_web::TracingLogger;

use super::{
    answer::cursor::Cursors,
    layers::{
        client_address::{self, TrustedProxies},
        compress,
        connections::{self, REQUEST_TIMEOUT},
        cors, envelope, head,
        limits::{self, Limits},
        observe, response_headers,
    },
    paths,
    request::{accept, auth},
    routes,
    state::{
        AppState, passwords::Passwords, readiness::Readiness, readings::Readings, recent::RecentGames,
        sign_ins::SignIns, tokens::Tokens,
    },
};
use crate::{
    db::{self, Lookups, Writers, connection::notifications},
    live::{self, Hub},
    metrics::{Connections, Metrics, Waiters},
    webhook::Reach,
};

/// All pooled connections of a process, which read for requests. Each worker has one more for lookups. The process has one
/// for each writer, two for notifications between processes, one for revoked credentials, one for jobs, and three for webhooks.
///
/// More connections than cores pay off only while statements wait for the disk. Each costs the database memory, and
/// several processes share one database.
const DATABASE_CONNECTIONS_MAX: u32 = 16;

/// Workers, each with its own share of the connections. More workers would leave too few connections for each.
const WORKERS_MAX: u32 = 8;

/// The parameters of a service.
pub struct Service {
    pub database: PgConnectOptions,
    /// The caller ends them after the server has ended.
    pub writers: Arc<Writers>,
    pub tokens: Tokens,
    /// Origins whose pages may call from a browser, or [`super::ANY_ORIGIN`].
    pub cors_origins: Vec<String>,
    pub rate_limits: RateLimits,
    /// Networks of reverse proxies whose forwarding headers are trusted.
    pub trusted_proxies: Vec<IpNet>,
    /// How long a connection may idle between two requests; usually [`super::KEEP_ALIVE`].
    pub keep_alive: Duration,
    /// Threads that answer requests; at most 8.
    pub workers: u32,
    /// Wakes requests that wait for a game. The caller releases them before it stops the server.
    pub hub: Arc<Hub>,
    /// The URL at which clients reach the service, for the OpenAPI document.
    pub public_url: Option<String>,
    /// How long a stopping service waits for the requests that it has accepted.
    pub shutdown_timeout_s: u64,
    /// How long an open game waits for a second player.
    pub open_for: time::Duration,
    /// The addresses at which players may register webhooks.
    pub webhook_reach: Reach,
    pub metrics: Arc<Metrics>,
    /// Cancelled when the service is about to stop. It then reports that it is not ready and releases waiting requests, and
    /// still answers.
    pub draining: CancellationToken,
}

/// Omits the database's options, which may hold its password.
impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Service").field("tokens", &self.tokens).field("workers", &self.workers).finish_non_exhaustive()
    }
}

/// Whether calls are rate-limited, by player or by address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateLimits {
    On,
    Off,
}

/// Runs the server on a listener until it is stopped or dropped. The caller handles signals, and calls this on
/// actix-web's runtime.
pub fn serve(listener: TcpListener, service: Service) -> std::io::Result<Server> {
    let Service { database, tokens, cors_origins, rate_limits, trusted_proxies, keep_alive, workers, .. } = service;
    let Service { public_url, shutdown_timeout_s, open_for, metrics, draining, hub, writers, webhook_reach, .. } =
        service;
    let workers = workers.clamp(1, WORKERS_MAX);
    let limits = (rate_limits == RateLimits::On).then(|| Data::new(Limits::new()));
    let trusted_proxies = Data::new(TrustedProxies(trusted_proxies));
    let document = routes::document();
    paths::set(&document);
    let document = routes::document_json(document, public_url);
    watch(&hub, &writers, &metrics, &database);
    let shared = Shared {
        database,
        connections: DATABASE_CONNECTIONS_MAX / workers,
        writers,
        tokens: Arc::new(tokens),
        passwords: Arc::new(Passwords::start()?),
        sign_ins: (rate_limits == RateLimits::On).then(|| Arc::new(SignIns::new())),
        recent: Arc::new(RecentGames::new()),
        hub,
        readings: Arc::default(),
        metrics,
        readiness: Arc::default(),
        open_for,
        webhook_reach,
        draining,
    };
    watch_recent(&shared.recent, &shared.metrics);
    // Runs on each worker's own thread. A connection is used on the thread that made it, so no answer crosses threads.
    let server = HttpServer::new(move || {
        let state = shared.worker_state();
        // A request passes these layers from the last to the first, and its answer from the first to the last. A layer
        // that refuses a request answers from its place, so layers that add to answers stand below those that refuse.
        App::new()
            .app_data(Data::from(state))
            .app_data(trusted_proxies.clone())
            .configure(|config| configure(config, limits.as_ref(), &document))
            .wrap(from_fn(accept::negotiate))
            .wrap(from_fn(auth::refuse_bad_tokens))
            // Counts by caller, and counts requests with bad tokens too.
            .wrap(from_fn(limits::limit))
            .wrap(from_fn(auth::identify))
            .wrap(from_fn(head::head_as_get))
            .wrap(from_fn(head::drop_unread_headers))
            // Gives an answer its final form before it is compressed and before CORS adds headers.
            .wrap(from_fn(envelope::envelope))
            .wrap(from_fn(compress::compress))
            // Answers preflights itself, so they need no token and are not counted.
            .wrap(cors::cors(&cors_origins))
            // For what the three layers above refuse.
            .wrap(from_fn(envelope::envelope))
            .wrap(from_fn(response_headers::complete))
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
        // A client that closes its half of the connection no longer waits.
        .h1_allow_half_closed(false)
        .on_connect(move |io, data| connections::watch(io, data, keep_alive))
        .shutdown_timeout(shutdown_timeout_s)
        .disable_signals()
        .listen(listener)?;
    Ok(server.run())
}

/// The routes, and the rate limits for the layer that applies them; without limits the layer lets every request pass.
fn configure(config: &mut ServiceConfig, limits: Option<&Data<Limits>>, document: &Bytes) {
    if let Some(limits) = limits {
        config.app_data(limits.clone());
    }
    routes::configure(config, document);
}

/// What the workers of a process share.
#[derive(Clone)]
struct Shared {
    database: PgConnectOptions,
    /// The size of each worker's connection pool.
    connections: u32,
    writers: Arc<Writers>,
    tokens: Arc<Tokens>,
    passwords: Arc<Passwords>,
    sign_ins: Option<Arc<SignIns>>,
    recent: Arc<RecentGames>,
    hub: Arc<Hub>,
    readings: Arc<Readings>,
    metrics: Arc<Metrics>,
    readiness: Arc<Readiness>,
    open_for: time::Duration,
    webhook_reach: Reach,
    draining: CancellationToken,
}

impl Shared {
    /// The state of one more worker, with connections of its own. Call it on the worker's thread.
    fn worker_state(&self) -> Arc<AppState> {
        let read_permits = usize::try_from(self.connections / 2).unwrap_or(1).max(1);
        let state = Arc::new(AppState {
            db: db::pool(self.database.clone(), self.connections),
            writers: self.writers.clone(),
            cursors: Cursors::new(self.tokens.cursor_key()),
            tokens: self.tokens.clone(),
            passwords: self.passwords.clone(),
            sign_ins: self.sign_ins.clone(),
            lookups: Lookups::start(self.database.clone()),
            recent: self.recent.clone(),
            hub: self.hub.clone(),
            readings: self.readings.clone(),
            read_permits: Semaphore::new(read_permits),
            metrics: self.metrics.clone(),
            readiness: self.readiness.clone(),
            open_for: self.open_for,
            webhook_reach: self.webhook_reach,
            draining: self.draining.clone(),
        });
        let watched = Arc::downgrade(&state);
        self.metrics.watch_connections(move || watched.upgrade().map(|state| state.connections()));
        state
    }
}

/// Watches what waits, and what is written.
fn watch(hub: &Arc<Hub>, writers: &Arc<Writers>, metrics: &Arc<Metrics>, database: &PgConnectOptions) {
    watch_waiters(hub, writers, metrics, database);
    watch_writers(writers, metrics);
}

/// Counts waiting requests, and wakes them when this process or another one has changed their game. Follows the revocations of
/// credentials.
fn watch_waiters(hub: &Arc<Hub>, writers: &Writers, metrics: &Metrics, database: &PgConnectOptions) {
    let waiting = Arc::downgrade(hub);
    let (counted, notified) = (waiting.clone(), waiting.clone());
    metrics.watch_waiters(move || {
        let hub = counted.upgrade()?;
        Some(Waiters { all: hub.waiters(), streams: hub.audience().streams() })
    });
    writers.observe(move |change| {
        if let Some(hub) = notified.upgrade() {
            hub.stored(change);
        }
    });
    let sender = notifications::sender(database.clone());
    actix_web::rt::spawn(live::announce(waiting.clone(), sender.clone()));
    actix_web::rt::spawn(live::follow(waiting.clone(), sender, database.clone()));
    actix_web::rt::spawn(live::follow_revocations(waiting, database.clone()));
}

/// Counts the writers' groups, their busy connections and their queue.
fn watch_writers(writers: &Arc<Writers>, metrics: &Arc<Metrics>) {
    let groups = metrics.clone();
    writers.observe_groups(move |appends| groups.group_written(appends));
    // The metrics outlive the server and must not keep its connections open.
    let watched = Arc::downgrade(writers);
    metrics.watch_connections(move || {
        let writers = watched.upgrade()?;
        let (writers_in_use, appends_queued) = (writers.busy(), writers.queued());
        Some(Connections { writers_in_use, appends_queued, ..Connections::default() })
    });
}

/// Measures the cache of recent games.
fn watch_recent(recent: &Arc<RecentGames>, metrics: &Metrics) {
    let watched = Arc::downgrade(recent);
    metrics.watch_cache(move || watched.upgrade().map(|recent| recent.size()));
}
