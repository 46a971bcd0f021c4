//! A server for one test, on a database of its own. It knows the cluster, and none of the calls that tests make.

use std::{
    net::{Ipv4Addr, SocketAddr, TcpListener},
    sync::Arc,
    thread,
    time::Duration,
};

use actix_web::dev::ServerHandle;
use ipnet::{IpNet, Ipv4Net};
use mancala_server::{
    connection_plan::{ConnectionPlan, Demand, Supply},
    db::{self, Database, Writers, records::usage::ImportTotal},
    domain::ReservedNames,
    file_plan::FilePlan,
    http::{self, ANY_ORIGIN, ImportQuotas, Mailing, Page, RateLimits, Service, Settings, Tokens},
    live::Hub,
    metrics::Metrics,
    push::Push,
    webhook::Reach,
};
use reqwest::{Method, RequestBuilder};
use sqlx::{ConnectOptions, PgConnection, PgPool, postgres::PgConnectOptions};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::support::{
    clock::now,
    cluster::{Cluster, blocking, drop_database, superuser_of},
    replay::every_log_replays_to_its_row,
};

pub const ISSUER: &str = "mancala-server";
pub const AUDIENCE: &str = "mancala-server";

/// The test's own statements wait for a connection for so long: a machine that runs several tests at once may be busy.
const PATIENCE: Duration = Duration::from_mins(1);

/// A test's server has two workers.
const DEMAND: Demand = Demand { workers: 2, writers: 1, computer_threads: 0, analysis_threads: 0, has_standby: false };

/// The server of one test on its own database, and a client for it.
pub struct TestApp {
    pub address: SocketAddr,
    pub db: PgPool,
    /// Issues and reads the server's access tokens.
    pub tokens: Tokens,
    pub options: PgConnectOptions,
    /// The server's metrics.
    pub metrics: Arc<Metrics>,
    /// Cancelled to make the server drain.
    pub draining: CancellationToken,
    /// The subscribers of this server.
    pub hub: Arc<Hub>,
    /// The server's writers.
    pub writers: Arc<Writers>,
    /// The server's private key, as PEM.
    pub key: String,
    client: reqwest::Client,
    server: ServerHandle,
}

/// The network of a proxy on this machine.
pub const LOOPBACK: IpNet = IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(127, 0, 0, 0), 8));

/// Calls are limited.
pub fn limited(service: &mut Service) {
    service.rate_limits = RateLimits::On;
}

/// Calls are limited, and no quota is refilled.
pub fn never_refilled(service: &mut Service) {
    service.rate_limits = RateLimits::NeverRefilled;
}

/// Calls are limited, and come through a proxy that names their addresses.
pub fn behind_proxy(service: &mut Service) {
    limited(service);
    service.trusted_proxies = vec![LOOPBACK];
}

/// The connections of a test's server. They are opened at the start: few, because each test starts a server.
pub fn plan(has_standby: bool) -> ConnectionPlan {
    ConnectionPlan::of(Demand { has_standby, ..DEMAND }, Some(13)).expect("enough connections")
}

/// Writers of a database, whose queue holds so many appends at most.
pub fn writers(database: &Database, queue_max: usize) -> Arc<Writers> {
    Arc::new(Writers::start(database, 1, queue_max).0)
}

/// The service of a test, for `http::serve`. Its calls are not limited, because a test makes more of them than a person does.
pub fn service(database: impl Into<Database>, tokens: Tokens) -> Service {
    let database = database.into();
    Service {
        standby: None,
        writers: writers(&database, Writers::QUEUE_MAX),
        database,
        tokens,
        cors_origins: vec![ANY_ORIGIN.to_owned()],
        rate_limits: RateLimits::Off,
        page: Page::Served,
        trusted_proxies: vec![],
        keep_alive: http::KEEP_ALIVE,
        plan: plan(false),
        files: FilePlan::of_process(100).expect("enough files"),
        public_url: None,
        shutdown_timeout_s: 20,
        settings: Settings {
            open_for: time::Duration::days(14),
            network_games_max: 60,
            webhook_reach: Reach::Anywhere,
            mailing: Mailing::Off,
            push: Push::default(),
            import_quotas: ImportQuotas {
                account: ImportTotal { games: 5_000, plies: 250_000 },
                guest: ImportTotal { games: 100, plies: 10_000 },
            },
        },
        issuers: Arc::default(),
        reserved_names: Arc::new(ReservedNames::new(["admin", "support"])),
        metrics: Arc::new(Metrics::new(now().unix_timestamp())),
        access_log: None,
        draining: CancellationToken::new(),
        hub: Arc::default(),
    }
}

impl TestApp {
    pub async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    /// A server for pages of some origins.
    pub async fn start_for(cors_origins: &[&str]) -> Self {
        Self::start_with(|service| service.cors_origins = cors_origins.iter().map(ToString::to_string).collect()).await
    }

    /// A server on which guests of one network share limits, behind a proxy that names their addresses.
    pub async fn start_with_networks() -> Self {
        Self::start_with(|service| {
            behind_proxy(service);
            service.settings.network_games_max = 4;
        })
        .await
    }

    /// A server whose service this changes.
    pub async fn start_with(change: impl FnOnce(&mut Service)) -> Self {
        Self::start_on(Cluster::shared(), change).await
    }

    pub async fn start_on(cluster: &Cluster, change: impl FnOnce(&mut Service)) -> Self {
        let options = cluster.create_database().await;
        let pool = patient(&db::pool(options.clone(), 2));
        let key = http::new_key();
        let Serving { address, handle: server, hub, writers, metrics, draining } = serve(&options, &key, change);
        let tokens = Tokens::from_pem(&key, ISSUER, AUDIENCE).expect("a new key is a key");
        let client = reqwest::Client::new();
        Self { address, db: pool, tokens, options, metrics, draining, hub, writers, key, client, server }
    }

    /// A second server on the same database, and its hub.
    pub fn second_server(&self) -> (SocketAddr, Arc<Hub>) {
        // Tests start many of them, and stop none.
        let scarce = |service: &mut Service| service.plan.supply = Supply::Scarce;
        let Serving { address, hub, .. } = serve(&self.options, &self.key, scarce);
        (address, hub)
    }

    /// A second server on the same database, whose service this changes, and its metrics.
    pub fn second_server_with(&self, change: impl FnOnce(&mut Service)) -> (SocketAddr, Arc<Metrics>) {
        let Serving { address, metrics, .. } = serve(&self.options, &self.key, change);
        (address, metrics)
    }

    /// Moves every time of a game so many seconds into the past. Later calls go to a new server, whose cache is empty.
    pub async fn let_pass(&mut self, game: &str, seconds: u32) {
        let [events, row] = [
            r#"update event set at = at - make_interval(secs => $2), detail = case when detail ? 'expires_at'
                then jsonb_set(detail, '{expires_at}', to_jsonb(to_char(
                    ((detail ->> 'expires_at')::timestamptz - make_interval(secs => $2)) at time zone 'utc',
                    'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')))
                else detail end
            where game_id = $1"#,
            "update game set created_at = created_at - make_interval(secs => $2),
                started_at = started_at - make_interval(secs => $2), updated_at = updated_at - make_interval(secs => $2),
                deadline = deadline - make_interval(secs => $2), wake_at = wake_at - make_interval(secs => $2),
                expires_at = expires_at - make_interval(secs => $2)
            where id = $1",
        ];
        let id = Uuid::try_parse(game).expect("a game's id");
        for statement in [events, row] {
            let moved = sqlx::query(statement).bind(id).bind(f64::from(seconds)).execute(&self.db).await;
            moved.expect("time can be moved");
        }
        (self.address, self.hub) = self.second_server();
    }

    /// A connection that may end other sessions, including those of PostgreSQL's own workers.
    pub async fn superuser(&self) -> PgConnection {
        superuser_of(&self.options).connect().await.expect("PostgreSQL runs")
    }

    /// The address of the server as the start of a URL.
    pub fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base()))
    }
}

impl Drop for TestApp {
    fn drop(&mut self) {
        drop(self.server.stop(false));
        // A test that failed has already reported its own cause.
        if !thread::panicking() {
            let options = self.options.clone();
            blocking(async move { every_log_replays_to_its_row(&db::pool(options, 2)).await });
        }
        drop_database(&self.options);
    }
}

/// Starts a server on a database.
fn serve(options: &PgConnectOptions, key: &str, change: impl FnOnce(&mut Service)) -> Serving {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("a listener has an address");
    let tokens = Tokens::from_pem(key, ISSUER, AUDIENCE).expect("a new key is a key");
    let mut service = service(options.clone(), tokens);
    change(&mut service);
    let (hub, metrics, draining) = (service.hub.clone(), service.metrics.clone(), service.draining.clone());
    let writers = service.writers.clone();
    let server = http::serve(listener, service).expect("the server starts");
    let handle = server.handle();
    actix_web::rt::spawn(server);
    Serving { address, handle, hub, writers, metrics, draining }
}

struct Serving {
    address: SocketAddr,
    handle: ServerHandle,
    hub: Arc<Hub>,
    writers: Arc<Writers>,
    metrics: Arc<Metrics>,
    draining: CancellationToken,
}

/// The same pool for callers that wait longer than requests may.
fn patient(pool: &PgPool) -> PgPool {
    let options = pool.options().clone().acquire_timeout(PATIENCE);
    options.connect_lazy_with(pool.connect_options().as_ref().clone())
}
