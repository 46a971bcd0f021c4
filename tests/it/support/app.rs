//! A server for one test, on a database of its own. It knows the cluster, and none of the calls that tests make.

use std::{
    net::{SocketAddr, TcpListener},
    sync::Arc,
    thread,
    time::Duration,
};

use actix_web::dev::ServerHandle;
use mancala_server::{
    connection_plan::{ConnectionPlan, Demand, Supply},
    db::{self, Database, Writers, records::usage::ImportTotal},
    domain::ReservedNames,
    file_plan::FilePlan,
    http::{self, ANY_ORIGIN, ImportQuotas, Mailing, Page, RateLimits, Service, Tokens},
    live::Hub,
    metrics::Metrics,
    openid::Issuers,
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

/// The options of a test's server.
pub struct Setup {
    pub cors_origins: Vec<&'static str>,
    /// Off by default, because a test makes more calls than a person does.
    pub rate_limits: RateLimits,
    pub page: Page,
    pub trusted_proxies: Vec<&'static str>,
    pub keep_alive: Duration,
    /// How long a game stays open for a second player.
    pub open_for: time::Duration,
    /// How many games against the computer all guests of one network may have.
    pub network_games_max: u32,
    /// How many appends the queue holds at most.
    pub queue_max: usize,
    /// The issuers by which people sign in.
    pub issuers: Arc<Issuers>,
    /// Which addresses webhooks may have. Any by default.
    pub webhook_reach: Reach,
    /// Whether addresses can be set. Off by default.
    pub mailing: Mailing,
    /// Which push notifications are sent. None by default.
    pub push: Push,
    /// How much of imports each player may have stored.
    pub import_quotas: ImportQuotas,
    /// How many connections the server opens at most.
    pub db_connections: Option<u32>,
    /// Whether the database has as many for it.
    pub supply: Supply,
    /// The database of the writers, if it is not the server's own.
    pub writers_database: Option<Database>,
    /// A standby of the server's database, which answers reads.
    pub standby: Option<Database>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            cors_origins: vec![ANY_ORIGIN],
            rate_limits: RateLimits::Off,
            page: Page::Served,
            trusted_proxies: vec![],
            keep_alive: http::KEEP_ALIVE,
            open_for: time::Duration::days(14),
            network_games_max: 60,
            queue_max: Writers::QUEUE_MAX,
            issuers: Arc::default(),
            webhook_reach: Reach::Anywhere,
            mailing: Mailing::Off,
            push: Push::default(),
            import_quotas: ImportQuotas {
                account: ImportTotal { games: 5_000, plies: 250_000 },
                guest: ImportTotal { games: 100, plies: 10_000 },
            },
            // They are opened at the start: few, because each test starts a server.
            db_connections: Some(13),
            supply: Supply::Full,
            writers_database: None,
            standby: None,
        }
    }
}

/// The service with these options, for `http::serve`.
pub fn service(database: impl Into<Database>, tokens: Tokens, setup: &Setup) -> Service {
    let database = database.into();
    let metrics = Arc::new(Metrics::new(now().unix_timestamp()));
    let (writers, _) = Writers::start(setup.writers_database.as_ref().unwrap_or(&database), 1, setup.queue_max);
    let demand = Demand { has_standby: setup.standby.is_some(), ..DEMAND };
    Service {
        database,
        standby: setup.standby.clone(),
        writers: Arc::new(writers),
        tokens,
        cors_origins: setup.cors_origins.iter().map(ToString::to_string).collect(),
        rate_limits: setup.rate_limits,
        page: setup.page,
        trusted_proxies: setup.trusted_proxies.iter().map(|text| text.parse().expect("a network")).collect(),
        keep_alive: setup.keep_alive,
        plan: ConnectionPlan {
            supply: setup.supply,
            ..ConnectionPlan::of(demand, setup.db_connections).expect("enough connections")
        },
        files: FilePlan::of_process(100).expect("enough files"),
        public_url: None,
        shutdown_timeout_s: 20,
        open_for: setup.open_for,
        network_games_max: setup.network_games_max,
        issuers: setup.issuers.clone(),
        webhook_reach: setup.webhook_reach,
        mailing: setup.mailing,
        push: setup.push.clone(),
        import_quotas: setup.import_quotas,
        reserved_names: Arc::new(ReservedNames::new(["admin", "support"])),
        metrics,
        access_log: None,
        draining: CancellationToken::new(),
        hub: Arc::default(),
    }
}

impl TestApp {
    pub async fn start() -> Self {
        Self::start_with(Setup::default()).await
    }

    /// A server for pages of some origins.
    pub async fn start_for(cors_origins: &[&'static str]) -> Self {
        Self::start_with(Setup { cors_origins: cors_origins.to_vec(), ..Setup::default() }).await
    }

    /// A server on which guests of one network share limits, behind a proxy that names their addresses.
    pub async fn start_with_networks() -> Self {
        let trusted_proxies = vec!["127.0.0.0/8"];
        Self::start_with(Setup {
            rate_limits: RateLimits::On,
            trusted_proxies,
            network_games_max: 4,
            ..Setup::default()
        })
        .await
    }

    pub async fn start_with(setup: Setup) -> Self {
        Self::start_on(Cluster::shared(), setup).await
    }

    pub async fn start_on(cluster: &Cluster, setup: Setup) -> Self {
        let options = cluster.create_database().await;
        let pool = patient(&db::pool(options.clone(), 2));
        let key = http::new_key();
        let Serving { address, handle: server, hub, writers, metrics, draining } = serve(&options, &key, &setup);
        let tokens = Tokens::from_pem(&key, ISSUER, AUDIENCE).expect("a new key is a key");
        let client = reqwest::Client::new();
        Self { address, db: pool, tokens, options, metrics, draining, hub, writers, key, client, server }
    }

    /// A second server on the same database, and its hub.
    pub fn second_server(&self) -> (SocketAddr, Arc<Hub>) {
        // Tests start many of them, and stop none.
        let setup = Setup { supply: Supply::Scarce, ..Setup::default() };
        let Serving { address, hub, .. } = serve(&self.options, &self.key, &setup);
        (address, hub)
    }

    /// A second server on the same database with these options, and its metrics.
    pub fn second_server_with(&self, setup: &Setup) -> (SocketAddr, Arc<Metrics>) {
        let Serving { address, metrics, .. } = serve(&self.options, &self.key, setup);
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
fn serve(options: &PgConnectOptions, key: &str, setup: &Setup) -> Serving {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("a listener has an address");
    let tokens = Tokens::from_pem(key, ISSUER, AUDIENCE).expect("a new key is a key");
    let service = service(options.clone(), tokens, setup);
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
