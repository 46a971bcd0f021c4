//! The server: its parameters, its workers, and the layers around all routes. Knows no single route.

use std::{
    io,
    net::TcpListener,
    sync::{Arc, OnceLock, atomic::Ordering},
    time::Duration,
};

use actix_web::{
    App,
    dev::Server,
    middleware::{Condition, from_fn},
    web::{Data, ServiceConfig},
};
use ipnet::IpNet;
use sqlx::PgPool;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tracing_actix_web::TracingLogger;

use super::{
    answer::{code::Code, cursor::Cursors},
    docs::Documentation,
    layers::{
        access,
        client_address::{self, TrustedProxies},
        compress,
        connections::{self, Room},
        cors, envelope, head,
        limits::{self, LimitClock, Limits},
        observe, pieces, response_headers,
        unread::{self, Unread},
    },
    page::Page,
    paths,
    request::{accept, auth, origin::PublicUrl},
    routes,
    state::{
        AppState, ImportQuotas,
        clock_watch::ClockWatch,
        heavy::Heavy,
        mailing::Mailing,
        name_rules::NameRules,
        networks::Networks,
        passwords::Passwords,
        readiness::{Readiness, Worker},
        readings::Readings,
        recent::RecentGames,
        shared_reads::SharedReads,
        sign_ins::SignIns,
        tokens::Tokens,
        uploads::Uploads,
    },
};
use crate::{
    access_log::AccessLog,
    connection_plan::ConnectionPlan,
    db::{
        self, Database, Freshness, Lookups, Reads, Standby, StandbyEvent, Writers,
        connection::{
            notifications,
            sight::{Continuity, Sight},
        },
        players::name_filter::StoredFilter,
    },
    domain::ReservedNames,
    file_plan::FilePlan,
    jose::KeySets,
    live::{self, Hub},
    metrics::{Connections, Metrics, Reader, Waiters},
    openid::Issuers,
    outage::Outage,
    push::Push,
    repeats,
    rules::Variant,
    webhook::{Reach, Sender, system_names},
};

/// The log's lines about an outage of appends.
const APPENDS_FAIL: &str = "moves cannot be stored: the database is away or takes no writes";
const APPENDS_WORK: &str = "moves are stored again";

/// The log's lines about a standby that may not answer.
const STANDBY_FAILS: &str = "the standby answers no reads, so the primary answers them";
const STANDBY_WORKS: &str = "the standby answers reads again";

/// The parameters of a service.
pub struct Service {
    pub database: Database,
    /// A standby that answers reads.
    pub standby: Option<Database>,
    /// The caller ends them after the server has ended.
    pub writers: Arc<Writers>,
    pub tokens: Tokens,
    /// Origins whose pages may call from a browser, or [`super::ANY_ORIGIN`].
    pub cors_origins: Vec<String>,
    pub rate_limits: RateLimits,
    /// Whether a page for people is served beside the API.
    pub page: Page,
    /// Networks of reverse proxies whose forwarding headers are trusted.
    pub trusted_proxies: Vec<IpNet>,
    /// How long a connection may idle between two requests; usually [`super::KEEP_ALIVE`].
    pub keep_alive: Duration,
    /// The connections to the database, and the threads that answer requests.
    pub plan: ConnectionPlan,
    /// The connections of clients.
    pub files: FilePlan,
    /// Wakes requests that wait for a game. The caller releases them before it stops the server.
    pub hub: Arc<Hub>,
    /// The URL at which clients reach the service, for the OpenAPI document and the pages of games.
    pub public_url: Option<String>,
    /// How long a stopping service waits for the requests that it has accepted.
    pub shutdown_timeout_s: u64,
    /// How long an open game waits for a second player.
    pub open_for: time::Duration,
    /// How many games against the computer all guests and new accounts of one network may have at once, if rate limits are on.
    pub network_games_max: u32,
    /// The issuers by which people sign in.
    pub issuers: Arc<Issuers>,
    /// The addresses at which players may register webhooks.
    pub webhook_reach: Reach,
    /// Whether the caller sends the mails that are queued.
    pub mailing: Mailing,
    /// Which push notifications are sent.
    pub push: Push,
    /// How much of imports each player may have stored.
    pub import_quotas: ImportQuotas,
    /// Names that no player may take.
    pub reserved_names: Arc<ReservedNames>,
    pub metrics: Arc<Metrics>,
    /// Where answered requests are noted. The caller flushes it after the server has ended.
    pub access_log: Option<Arc<AccessLog>>,
    /// Cancelled when the service is about to stop. It then reports that it is not ready and releases waiting requests, and
    /// still answers.
    pub draining: CancellationToken,
}

/// Omits the database's options, which may hold its password.
impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Service").field("tokens", &self.tokens).field("plan", &self.plan).finish_non_exhaustive()
    }
}

/// Whether calls are rate-limited, by player or by address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateLimits {
    On,
    /// On, and no quota is refilled: for tests, which may run on a slow machine.
    NeverRefilled,
    Off,
}

impl RateLimits {
    /// The clock of the limits, if there are limits.
    fn clock(self) -> Option<LimitClock> {
        match self {
            Self::On => Some(LimitClock::running()),
            Self::NeverRefilled => Some(LimitClock::stopped()),
            Self::Off => None,
        }
    }
}

/// Runs the server on a listener until it is stopped or dropped. The caller handles signals, and calls this on
/// actix-web's runtime.
pub fn serve(listener: TcpListener, service: Service) -> io::Result<Server> {
    let (plan, files) = (service.plan, service.files);
    let (keep_alive, shutdown_timeout_s) = (service.keep_alive, service.shutdown_timeout_s);
    let cors_origins = service.cors_origins.clone();
    let data = LayerData::of(&service);
    let connections_max = (files.connections / plan.workers as usize).max(1);
    let room = Room::of_worker(connections_max, plan.workers, &service.trusted_proxies, data.limits.is_some());
    service.hub.limit(files.waiters);
    data.watch(&service.metrics, &room);
    let shared = Shared::start(service)?;
    watch(&shared);
    // Runs on each worker's own thread. A connection is used on the thread that made it, so no answer crosses threads.
    let app = move || {
        let state = shared.worker_state();
        // A request passes these layers from the last to the first, and its answer from the first to the last. A layer
        // that refuses a request answers from its place, so layers that add to answers stand below those that refuse.
        App::new()
            .app_data(Data::from(state))
            .configure(|config| data.configure(config))
            .wrap(from_fn(accept::negotiate))
            .wrap(from_fn(auth::refuse_bad_tokens))
            // Counts by caller, and counts requests with bad tokens too.
            .wrap(from_fn(limits::limit))
            .wrap(from_fn(auth::identify))
            .wrap(from_fn(head::simplify))
            // Gives an answer its final form before it is compressed and before CORS adds headers.
            .wrap(from_fn(envelope::envelope))
            .wrap(from_fn(compress::compress))
            .wrap(from_fn(unread::bound))
            // Answers preflights itself, so they need no token and are not counted.
            .wrap(cors::cors(&cors_origins))
            // For what the four layers above refuse.
            .wrap(from_fn(envelope::envelope))
            .wrap(from_fn(response_headers::complete))
            .wrap(from_fn(observe::count))
            .wrap(Condition::new(data.access_log.is_some(), from_fn(access::note)))
            .wrap(TracingLogger::<observe::RequestSpan>::new())
            .wrap(from_fn(client_address::identify))
            .wrap(from_fn(connections::follow))
    };
    let server = Server::build()
        .workers(plan.workers as usize)
        .max_concurrent_connections(room.connections_max)
        .shutdown_timeout(shutdown_timeout_s)
        .disable_signals();
    pieces::serve(server, listener, keep_alive, room, app)
}

/// Lets the metrics read what the workers share, and the hub hear of all changes.
fn watch(shared: &Shared) {
    let Shared { hub, writers, metrics, database, recent, .. } = shared;
    watch_database(hub, recent, database);
    watch_waiters(shared);
    watch_writers(writers, metrics);
    watch_recent(recent, metrics);
    watch_resources(shared);
    actix_web::rt::spawn(repeats::report());
}

/// What the layers and the routes of all workers share.
#[derive(Clone)]
struct LayerData {
    /// `None` if limits are off: the layer lets every request pass.
    limits: Option<Data<Limits>>,
    trusted_proxies: Data<TrustedProxies>,
    unread: Data<Unread>,
    access_log: Option<Data<AccessLog>>,
    documentation: Data<Documentation>,
    public_url: Data<PublicUrl>,
    page: Page,
}

impl LayerData {
    fn of(service: &Service) -> Self {
        Self {
            limits: service.rate_limits.clock().map(|clock| Data::new(Limits::new(clock))),
            trusted_proxies: Data::new(TrustedProxies(service.trusted_proxies.clone())),
            unread: Data::new(Unread::default()),
            access_log: service.access_log.clone().map(Data::from),
            documentation: Data::new(documentation(service.public_url.clone())),
            public_url: Data::new(PublicUrl(service.public_url.clone())),
            page: service.page,
        }
    }

    /// Measures the connections of clients and the answers that they have not read.
    fn watch(&self, metrics: &Metrics, room: &Room) {
        let open = Arc::downgrade(&room.open);
        let connections_max = room.connections_max * room.workers as usize;
        metrics.watched().resource("client_connections", connections_max, move || {
            open.upgrade().map(|open| open.load(Ordering::Relaxed))
        });
        let unread = Arc::downgrade(&self.unread.clone().into_inner());
        metrics
            .watched()
            .resource("unread_answer_bytes", Unread::BYTES_MAX, move || unread.upgrade().map(|unread| unread.bytes()));
    }

    fn configure(&self, config: &mut ServiceConfig) {
        config.app_data(self.trusted_proxies.clone()).app_data(self.unread.clone()).app_data(self.public_url.clone());
        if let Some(limits) = &self.limits {
            config.app_data(limits.clone());
        }
        if let Some(log) = &self.access_log {
            config.app_data(log.clone());
        }
        routes::configure(config, &self.documentation, self.page);
    }
}

/// The documentation of the routes. Without a URL of its own, every server of a process has the same.
fn documentation(public_url: Option<String>) -> Documentation {
    static WITHOUT_URL: OnceLock<Documentation> = OnceLock::new();
    let of = |url| {
        let document = routes::document();
        // Requests are compared with the paths of the document.
        paths::set(&document);
        Documentation::of(document, url)
    };
    match public_url {
        None => WITHOUT_URL.get_or_init(|| of(None)).clone(),
        url => of(url),
    }
}

/// What the workers of a process share.
#[derive(Clone)]
struct Shared {
    database: Database,
    standby: Option<(Database, Arc<Freshness>)>,
    plan: ConnectionPlan,
    writers: Arc<Writers>,
    tokens: Arc<Tokens>,
    key_sets: Arc<KeySets>,
    passwords: Arc<Passwords>,
    sign_ins: Option<Arc<SignIns>>,
    issuers: Arc<Issuers>,
    recent: Arc<RecentGames>,
    heavy: Arc<Heavy>,
    hub: Arc<Hub>,
    readings: Arc<Readings>,
    seeks: Arc<Semaphore>,
    metrics: Arc<Metrics>,
    append_outage: Arc<Outage>,
    readiness: Arc<Readiness>,
    open_for: time::Duration,
    networks: Networks,
    network_games_max: u32,
    webhook_reach: Reach,
    mailing: Mailing,
    push: Push,
    import_quotas: ImportQuotas,
    uploads: Arc<Uploads>,
    reserved_names: Arc<NameRules>,
}

impl Shared {
    fn start(service: Service) -> io::Result<Self> {
        let readiness = Readiness::start(
            service.writers.clone(),
            service.hub.clone(),
            service.plan,
            service.metrics.clone(),
            service.draining.clone(),
        );
        // Behind a proxy that is not known as one, all guests seem to share a network: without rate limits they share nothing.
        let network_key = (service.rate_limits != RateLimits::Off).then(|| service.tokens.network_key());
        let standby = service.standby.map(|standby| {
            let outage = Outage::new(STANDBY_FAILS, STANDBY_WORKS);
            let metrics = service.metrics.clone();
            let observe = move |event: StandbyEvent<'_>| match event {
                StandbyEvent::OutOfUse(cause) => outage.failed(cause),
                StandbyEvent::Answered => {
                    outage.works();
                    metrics.standby_read(Reader::Standby);
                }
                StandbyEvent::FellBack => metrics.standby_read(Reader::Primary),
            };
            let freshness = Freshness::start(service.database.clone(), standby.clone(), observe);
            (standby, Arc::new(freshness))
        });
        let ConnectionPlan { heavy, .. } = service.plan;
        let heavy_reads = || {
            let (pool, _) = db::kept_pool(service.database.clone(), heavy, service.plan.kept(heavy));
            reads(pool, standby.as_ref(), heavy)
        };
        let variants = Variant::ALL.into_iter().map(Variant::word);
        service.metrics.know_words(Code::ALL.iter().map(|code| code.as_str()), variants);
        for issuer in service.issuers.iter() {
            service.metrics.know_issuer(&issuer.settings().id);
        }
        Ok(Self {
            heavy: Arc::new(Heavy::start(heavy_reads)?),
            database: service.database,
            standby,
            plan: service.plan,
            writers: service.writers,
            tokens: Arc::new(service.tokens),
            key_sets: Arc::new(KeySets::new(Sender::new(service.webhook_reach, system_names()))),
            passwords: Arc::new(Passwords::start()?),
            sign_ins: (service.rate_limits != RateLimits::Off).then(|| Arc::new(SignIns::new())),
            issuers: service.issuers,
            recent: Arc::new(RecentGames::new()),
            hub: service.hub,
            readings: Arc::default(),
            seeks: Arc::new(Semaphore::new(1)),
            metrics: service.metrics,
            append_outage: Arc::new(Outage::behind_database(APPENDS_FAIL, APPENDS_WORK)),
            readiness,
            open_for: service.open_for,
            networks: Networks::new(network_key),
            network_games_max: service.network_games_max,
            webhook_reach: service.webhook_reach,
            mailing: service.mailing,
            push: service.push,
            reserved_names: Arc::new(NameRules::new(service.reserved_names)),
            import_quotas: service.import_quotas,
            uploads: Arc::default(),
        })
    }

    /// The state of one more worker, with connections of its own. Call it on the worker's thread.
    fn worker_state(&self) -> Arc<AppState> {
        let read_permits = usize::try_from(self.plan.reads_each / 2).unwrap_or(1).max(1);
        let ConnectionPlan { reads_each, .. } = self.plan;
        // However few there are, one is opened at once.
        let (db, db_last_use) = db::kept_pool(self.database.clone(), reads_each, self.plan.kept(reads_each).max(1));
        let lookups = Lookups::start(self.database.clone());
        let worker = self.readiness.follow(Worker { db: db.clone(), db_last_use, lookups });
        let state = Arc::new(AppState {
            reads: reads(db.clone(), self.standby.as_ref(), self.plan.reads_each),
            db,
            worker,
            writers: self.writers.clone(),
            cursors: Cursors::new(self.tokens.cursor_key()),
            tokens: self.tokens.clone(),
            key_sets: self.key_sets.clone(),
            passwords: self.passwords.clone(),
            sign_ins: self.sign_ins.clone(),
            issuers: self.issuers.clone(),
            recent: self.recent.clone(),
            heavy: self.heavy.clone(),
            hub: self.hub.clone(),
            readings: self.readings.clone(),
            pages: SharedReads::default(),
            explored: SharedReads::default(),
            read_permits: Semaphore::new(read_permits),
            seeks: self.seeks.clone(),
            metrics: self.metrics.clone(),
            append_outage: self.append_outage.clone(),
            readiness: self.readiness.clone(),
            open_for: self.open_for,
            networks: self.networks,
            network_games_max: self.network_games_max,
            webhook_reach: self.webhook_reach,
            mailing: self.mailing,
            push: self.push.clone(),
            import_quotas: self.import_quotas,
            uploads: self.uploads.clone(),
            reserved_names: self.reserved_names.clone(),
        });
        let watched = Arc::downgrade(&state);
        self.metrics.watched().connections(move || watched.upgrade().map(|state| state.connections()));
        let (pool, lookups) = (Arc::downgrade(&state), Arc::downgrade(&state));
        // The bound is what could be opened.
        self.metrics.watched().changing_resource("db_pool_connections", move || {
            let Connections { pool, pool_idle, .. } = pool.upgrade()?.connections();
            Some((pool.saturating_sub(pool_idle), pool))
        });
        self.metrics.watched().resource("lookup_queue", Lookups::QUEUE_MAX, move || {
            lookups.upgrade().map(|state| state.worker.lookups.queued())
        });
        state
    }
}

/// The pools for reads of one thread.
fn reads(primary: PgPool, standby: Option<&(Database, Arc<Freshness>)>, connections: u32) -> Reads {
    let standby = standby.map(|(database, freshness)| Standby::new(database, connections, freshness.clone()));
    Reads::new(primary, standby)
}

/// Forgets what was read of a database that was set back. After a restart of PostgreSQL the cached games are read anew as well:
/// its files may have been restored while it was down.
fn watch_database(hub: &Arc<Hub>, recent: &Arc<RecentGames>, database: &Database) {
    let (hub, recent) = (Arc::downgrade(hub), Arc::downgrade(recent));
    database.observe(move |continuity| {
        if let Some(recent) = recent.upgrade() {
            recent.clear();
        }
        if let Some(hub) = hub.upgrade().filter(|_| continuity == Continuity::SetBack) {
            hub.set_back();
        }
    });
}

/// Counts waiting requests, and wakes them when this process or another one has changed their game. Follows the revocations of
/// credentials.
fn watch_waiters(Shared { hub, writers, metrics, database, plan, reserved_names, .. }: &Shared) {
    let waiting = Arc::downgrade(hub);
    let (counted, notified) = (waiting.clone(), waiting.clone());
    metrics.watched().waiters(move || {
        let hub = counted.upgrade()?;
        Some(Waiters { all: hub.waiters(), streams: hub.audience().streams() })
    });
    writers.observe(move |change| {
        if let Some(hub) = notified.upgrade() {
            hub.stored(change);
        }
    });
    // First: without its connection no token is accepted.
    let clock = ClockWatch::new(metrics.clone());
    let on_sight = move |sight: &Sight| clock.set(sight);
    let names = reserved_names.clone();
    let on_names = move |filter: &StoredFilter| {
        // A long list takes some time to read, and this thread reads revocations.
        let (names, list) = (names.clone(), filter.list.clone());
        drop(actix_web::rt::task::spawn_blocking(move || names.set_filter(&list)));
    };
    actix_web::rt::spawn(live::follow_revocations(waiting.clone(), database.clone(), on_sight, on_names));
    let sender = notifications::sender(database);
    actix_web::rt::spawn(live::announce(waiting.clone(), sender.clone()));
    actix_web::rt::spawn(live::follow(waiting, sender, plan.has_listener.then(|| database.clone())));
}

/// Counts the writers' groups, their busy connections and their queue.
fn watch_writers(writers: &Arc<Writers>, metrics: &Arc<Metrics>) {
    let groups = metrics.clone();
    writers.observe_groups(move |appends| groups.group_written(appends));
    // The metrics outlive the server and must not keep its connections open.
    let watched = Arc::downgrade(writers);
    metrics.watched().connections(move || {
        let writers = watched.upgrade()?;
        let (writers_in_use, appends_queued) = (writers.busy(), writers.queued());
        Some(Connections { writers_in_use, appends_queued, ..Connections::default() })
    });
}

/// Measures the cache of recent games.
fn watch_recent(recent: &Arc<RecentGames>, metrics: &Metrics) {
    let watched = Arc::downgrade(recent);
    metrics.watched().cache(move || watched.upgrade().map(|recent| recent.size()));
}

/// Measures what is bounded. Owners that are gone are no longer measured.
fn watch_resources(shared: &Shared) {
    let Shared { metrics, hub, writers, heavy, uploads, .. } = shared;
    let watched = Arc::downgrade(hub);
    metrics.watched().resource("waiters", live::WAITERS_MAX, move || watched.upgrade().map(|hub| hub.waiters()));
    let watched = Arc::downgrade(writers);
    let queue_max = writers.queue_max();
    metrics.watched().resource("append_queue", queue_max, move || watched.upgrade().map(|writers| writers.queued()));
    let watched = Arc::downgrade(heavy);
    metrics
        .watched()
        .resource("heavy_work", Heavy::AT_ONCE_MAX, move || watched.upgrade().map(|heavy| heavy.running()));
    let watched = Arc::downgrade(uploads);
    metrics
        .watched()
        .resource("upload_bytes", Uploads::BYTES_MAX, move || watched.upgrade().map(|uploads| uploads.bytes()));
}
