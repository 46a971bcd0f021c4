//! The service as a test sees it: one PostgreSQL for the whole run, and for each test a server on a database of its own.

use std::{
    net::{SocketAddr, TcpListener},
    path::Path,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use actix_web::dev::ServerHandle;
use mancala_server::{
    db::{self, Writers, migrations},
    domain::PlayerId,
    embedded::{self, Durability, Embedded, Settings},
    http::{self, ANY_ORIGIN, RateLimits, Service, Tokens},
    live::Hub,
    metrics::Metrics,
    webhook::Reach,
};
use reqwest::{Method, RequestBuilder, StatusCode, header::HeaderMap};
use serde_json::Value;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection, PgPool, postgres::PgConnectOptions};
use time::OffsetDateTime;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::storage::log::every_log_replays_to_its_row;

/// Names the databases of the tests, so that those of an earlier run that was killed are known and dropped.
const PREFIX: &str = "test_";

pub const ISSUER: &str = "mancala-server";
pub const AUDIENCE: &str = "mancala-server";

/// A PostgreSQL of this run. Its data are worth nothing, so it does not wait for the disk.
pub struct Cluster {
    embedded: Embedded,
}

impl Cluster {
    /// The one that nearly all tests share.
    fn shared() -> &'static Self {
        static CLUSTER: OnceLock<Cluster> = OnceLock::new();
        CLUSTER.get_or_init(|| Self::start("postgres"))
    }

    /// One that nobody else uses, in a folder of this name.
    pub fn start(folder: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
        let settings = Settings { folder, durability: Durability::Ephemeral };
        let cluster = Self { embedded: Embedded::start(&settings).expect("the tests need a PostgreSQL") };
        let owner = embedded::connect_options(&cluster.embedded);
        blocking(async move {
            let mut superuser = superuser_of(&owner).connect().await.expect("PostgreSQL has just started");
            let old: Vec<String> = sqlx::query_scalar("select datname::text from pg_database where datname like $1")
                .bind(format!("{PREFIX}%"))
                .fetch_all(&mut superuser)
                .await
                .expect("databases can be listed");
            for name in old {
                execute(&mut superuser, format!("drop database {name} with (force)")).await;
            }
            let mut connection = owner.connect().await.expect("PostgreSQL has just started");
            execute(&mut connection, format!("create database {PREFIX}template")).await;
            connection.close().await.expect("the connection closes");
            migrations::run(owner.database(&format!("{PREFIX}template"))).await.expect("migrations apply");
        });
        cluster
    }
}

/// A server of one test, on a database of its own, and a client for it.
pub struct TestApp {
    pub address: SocketAddr,
    pub db: PgPool,
    /// Signs as the server does.
    pub tokens: Tokens,
    pub options: PgConnectOptions,
    /// What the server counts.
    pub metrics: Arc<Metrics>,
    /// Tells the server that it will be stopped soon.
    pub draining: CancellationToken,
    /// Who waits at this server.
    pub hub: Arc<Hub>,
    /// What it appends by.
    pub writers: Arc<Writers>,
    /// What it signs with.
    pub key: String,
    client: reqwest::Client,
    server: ServerHandle,
    database: String,
}

/// What a server of a test may be told.
pub struct Setup {
    pub cors_origins: Vec<&'static str>,
    /// Off unless a test is about them: a test makes more calls than a person.
    pub rate_limits: RateLimits,
    pub trusted_proxies: Vec<&'static str>,
    pub keep_alive: Duration,
    /// How long a game waits for somebody to join.
    pub open_for: time::Duration,
    /// How many appends wait at most.
    pub queue_max: usize,
    /// Where webhooks may be: anywhere, unless a test is about that.
    pub webhook_reach: Reach,
    /// Where appends go, if not straight to the database.
    pub writers_database: Option<PgConnectOptions>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            cors_origins: vec![ANY_ORIGIN],
            rate_limits: RateLimits::Off,
            trusted_proxies: vec![],
            keep_alive: http::KEEP_ALIVE,
            open_for: time::Duration::days(14),
            queue_max: Writers::QUEUE_MAX,
            webhook_reach: Reach::Anywhere,
            writers_database: None,
        }
    }
}

/// What a server begins with unless a test says otherwise.
pub fn service(database: PgConnectOptions, tokens: Tokens, setup: &Setup) -> Service {
    let metrics = Arc::new(Metrics::new(now().unix_timestamp()));
    let (writers, _) =
        Writers::start(&setup.writers_database.clone().unwrap_or_else(|| database.clone()), 1, setup.queue_max);
    Service {
        database,
        writers: Arc::new(writers),
        tokens,
        cors_origins: setup.cors_origins.iter().map(ToString::to_string).collect(),
        rate_limits: setup.rate_limits,
        trusted_proxies: setup.trusted_proxies.iter().map(|text| text.parse().expect("a network")).collect(),
        keep_alive: setup.keep_alive,
        workers: 2,
        public_url: None,
        shutdown_timeout_s: 20,
        open_for: setup.open_for,
        webhook_reach: setup.webhook_reach,
        metrics,
        draining: CancellationToken::new(),
        hub: Arc::default(),
    }
}

/// A player with a token.
#[derive(Clone, Debug)]
pub struct Guest {
    pub id: String,
    pub token: String,
}

/// An answer, its body as JSON (null if it is empty or none).
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Value,
    pub text: String,
}

impl TestApp {
    pub async fn start() -> Self {
        Self::start_with(Setup::default()).await
    }

    /// A server for pages of some origins.
    pub async fn start_for(cors_origins: &[&'static str]) -> Self {
        Self::start_with(Setup { cors_origins: cors_origins.to_vec(), ..Setup::default() }).await
    }

    pub async fn start_with(setup: Setup) -> Self {
        Self::start_on(Cluster::shared(), setup).await
    }

    pub async fn start_on(cluster: &Cluster, setup: Setup) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(1);
        let database = format!("{PREFIX}{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let maintenance = embedded::connect_options(&cluster.embedded);
        let mut connection = maintenance.connect().await.expect("PostgreSQL runs");
        execute(&mut connection, format!("create database {database} template {PREFIX}template")).await;
        connection.close().await.expect("the connection closes");

        let options = maintenance.database(&database);
        let pool = db::pool(options.clone(), 2);
        let key = http::new_key();
        let Serving { address, handle: server, hub, writers, metrics, draining } = serve(&options, &key, &setup);
        let tokens = Tokens::from_pem(&key, ISSUER, AUDIENCE).expect("a new key is a key");
        let client = reqwest::Client::new();
        Self { address, db: pool, tokens, options, metrics, draining, hub, writers, key, client, server, database }
    }

    /// Another server on the same database, and who waits there.
    pub fn second_server(&self) -> (SocketAddr, Arc<Hub>) {
        let Serving { address, hub, .. } = serve(&self.options, &self.key, &Setup::default());
        (address, hub)
    }

    /// Another server on the same database, and what it counts.
    pub fn second_server_with(&self, setup: &Setup) -> (SocketAddr, Arc<Metrics>) {
        let Serving { address, metrics, .. } = serve(&self.options, &self.key, setup);
        (address, metrics)
    }

    /// Moves all that has happened in a game into the past, as if so many seconds had gone by since, and goes on with another server,
    /// which remembers nothing of it.
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

    /// A connection that may end other sessions, also those of PostgreSQL's own workers.
    pub async fn superuser(&self) -> PgConnection {
        superuser_of(&self.options).connect().await.expect("PostgreSQL runs")
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("http://{}{path}", self.address))
    }

    pub async fn guest(&self, name: &str) -> Guest {
        let answer = send(self.request(Method::POST, "/v1/players").json(&serde_json::json!({ "name": name }))).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        Guest { id: answer.string("/player/id"), token: answer.string("/access_token") }
    }

    /// A guest that no row knows.
    pub fn stranger(&self) -> Guest {
        let id = Uuid::now_v7();
        Guest { id: id.to_string(), token: self.tokens.issue(PlayerId(id), 0, now()) }
    }

    pub async fn get(&self, path: &str, guest: Option<&Guest>) -> Answer {
        send(signed(self.request(Method::GET, path), guest)).await
    }

    pub async fn post(&self, path: &str, guest: Option<&Guest>, body: &Value) -> Answer {
        send(signed(self.request(Method::POST, path), guest).json(body)).await
    }

    pub async fn patch(&self, path: &str, guest: Option<&Guest>, body: &Value) -> Answer {
        send(signed(self.request(Method::PATCH, path), guest).json(body)).await
    }

    pub async fn put(&self, path: &str, guest: Option<&Guest>, body: &Value) -> Answer {
        send(signed(self.request(Method::PUT, path), guest).json(body)).await
    }

    /// A new account.
    pub async fn account(&self, name: &str, password: &str) -> Guest {
        let body = serde_json::json!({ "name": name, "password": password });
        let answer = self.post("/v1/players", None, &body).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        Guest { id: answer.string("/player/id"), token: answer.string("/access_token") }
    }

    pub async fn sign_in(&self, name: &str, password: &str) -> Answer {
        let body = serde_json::json!({ "grant_type": "password", "name": name, "password": password });
        self.post("/v1/tokens", None, &body).await
    }

    pub async fn refresh(&self, token: &str) -> Answer {
        let body = serde_json::json!({ "grant_type": "refresh_token", "refresh_token": token });
        self.post("/v1/tokens", None, &body).await
    }

    pub async fn delete_me(&self, guest: &Guest) -> Answer {
        send(signed(self.request(Method::DELETE, "/v1/me"), Some(guest))).await
    }

    pub async fn create_game(&self, guest: &Guest, body: &Value) -> Answer {
        self.post("/v1/games", Some(guest), body).await
    }

    /// A game that was created, as its creator sees it.
    pub async fn created(&self, guest: &Guest, body: &Value) -> Value {
        let answer = self.create_game(guest, body).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.body
    }

    pub async fn get_game(&self, id: &str, guest: Option<&Guest>) -> Answer {
        self.get(&format!("/v1/games/{id}"), guest).await
    }

    pub async fn join_game(&self, id: &str, guest: &Guest) -> Answer {
        self.post(&format!("/v1/games/{id}/join"), Some(guest), &serde_json::json!({})).await
    }

    pub async fn play_move(&self, id: &str, guest: &Guest, ply: u32, mv: &str) -> Answer {
        let body = serde_json::json!({ "ply": ply, "move": mv });
        self.post(&format!("/v1/games/{id}/moves"), Some(guest), &body).await
    }

    pub async fn list_moves(&self, id: &str, query: &str, guest: Option<&Guest>) -> Answer {
        self.get(&format!("/v1/games/{id}/moves?{query}"), guest).await
    }

    pub async fn resign_game(&self, id: &str, guest: &Guest) -> Answer {
        send(signed(self.request(Method::POST, &format!("/v1/games/{id}/resign")), Some(guest))).await
    }

    pub async fn abort_game(&self, id: &str, guest: &Guest) -> Answer {
        send(signed(self.request(Method::POST, &format!("/v1/games/{id}/abort")), Some(guest))).await
    }

    pub async fn decline_game(&self, id: &str, guest: &Guest) -> Answer {
        send(signed(self.request(Method::POST, &format!("/v1/games/{id}/decline")), Some(guest))).await
    }

    /// Makes an offer.
    pub async fn offer(&self, id: &str, guest: &Guest, kind: &str) -> Answer {
        self.post(&format!("/v1/games/{id}/offers"), Some(guest), &serde_json::json!({ "type": kind })).await
    }

    /// Accepts, declines or withdraws an offer.
    pub async fn answer_offer(&self, id: &str, guest: &Guest, kind: &str, answer: &str) -> Answer {
        let path = format!("/v1/games/{id}/offers/{kind}/{answer}");
        send(signed(self.request(Method::POST, &path), Some(guest))).await
    }

    pub async fn list_games(&self, query: &str, guest: Option<&Guest>) -> Answer {
        self.get(&format!("/v1/games?{query}"), guest).await
    }

    pub async fn list_invitations(&self, query: &str, guest: &Guest) -> Answer {
        self.get(&format!("/v1/me/invitations?{query}"), Some(guest)).await
    }

    /// An active game of two guests, the first South.
    pub async fn started(&self, options: &Value) -> (String, Guest, Guest) {
        let (south, north) = (self.guest("South").await, self.guest("North").await);
        let mut body = serde_json::json!({ "variant": "kalah", "side": "south" });
        for (name, value) in options.as_object().expect("options are an object") {
            body[name] = value.clone();
        }
        let game = self.created(&south, &body).await;
        let id = game["id"].as_str().expect("a game has an id").to_owned();
        let joined = self.join_game(&id, &north).await;
        assert_eq!(joined.status, 200, "{joined:?}");
        (id, south, north)
    }
}

impl Drop for TestApp {
    fn drop(&mut self) {
        drop(self.server.stop(false));
        // A test that has failed has said why.
        if !thread::panicking() {
            let options = self.options.clone();
            blocking(async move { every_log_replays_to_its_row(&db::pool(options, 2)).await });
        }
        let (database, superuser) = (self.database.clone(), superuser_of(&self.options));
        blocking(async move {
            let mut connection = superuser.connect().await.expect("PostgreSQL runs");
            execute(&mut connection, format!("drop database {database} with (force)")).await;
        });
    }
}

impl Answer {
    /// The text at a JSON pointer.
    pub fn string(&self, pointer: &str) -> String {
        let value = self.body.pointer(pointer).and_then(Value::as_str);
        value.unwrap_or_else(|| panic!("no text at {pointer}: {self:?}")).to_owned()
    }

    /// The ids of a page's games, in order.
    pub fn ids(&self) -> Vec<String> {
        let items = self.body["items"].as_array().unwrap_or_else(|| panic!("no page: {self:?}"));
        items.iter().map(|game| game["id"].as_str().expect("a game has an id").to_owned()).collect()
    }

    /// Asserts that it is a failure of this code in the one envelope.
    #[track_caller]
    pub fn is_problem(&self, status: u16, code: &str) {
        assert_eq!((self.status.as_u16(), self.body["code"].as_str()), (status, Some(code)), "{self:?}");
        assert_eq!(self.headers["content-type"], "application/problem+json");
        assert_eq!(self.body["status"], status);
        assert_eq!(self.body["type"], format!("/problems/{code}"));
        assert!(self.body["title"].is_string() && self.body["detail"].is_string());
        assert_eq!(self.body["request_id"].as_str(), self.headers["x-request-id"].to_str().ok());
    }
}

pub fn signed(request: RequestBuilder, guest: Option<&Guest>) -> RequestBuilder {
    match guest {
        Some(guest) => request.bearer_auth(&guest.token),
        None => request,
    }
}

pub async fn send(request: RequestBuilder) -> Answer {
    let response = request.send().await.expect("the server answers");
    let (status, headers) = (response.status(), response.headers().clone());
    let text = response.text().await.expect("the answer has a body");
    Answer { status, headers, body: serde_json::from_str(&text).unwrap_or(Value::Null), text }
}

/// Who may do everything, beside the owner of the tests' databases: the embedded PostgreSQL's own superuser.
fn superuser_of(owner: &PgConnectOptions) -> PgConnectOptions {
    owner.clone().username("postgres").database("postgres")
}

async fn execute(connection: &mut PgConnection, sql: String) {
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection).await.expect("the statement is right");
}

/// A server on a database: where it listens, how it is stopped, and what it began with.
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

/// Lets everything else go on until it is so.
pub async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(30), "it never happened: {what}");
        actix_web::rt::task::yield_now().await;
    }
}

/// The present moment.
#[expect(clippy::disallowed_methods, reason = "the tests' clock is the machine's")]
pub fn now() -> OffsetDateTime {
    OffsetDateTime::now_utc()
}

/// Runs to the end on a thread of its own, from wherever it is called.
fn blocking<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> T {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    thread::spawn(move || runtime().block_on(future)).join().expect("the thread ends well")
}

/// Work that no request does, beside the server of a test, until it is told to stop.
pub struct Job {
    stopping: CancellationToken,
    working: JoinHandle<()>,
}

impl Job {
    pub fn start<W: Future<Output = ()> + Send + 'static>(work: impl FnOnce(CancellationToken) -> W) -> Self {
        let stopping = CancellationToken::new();
        let working = tokio::spawn(work(stopping.clone()));
        Self { stopping, working }
    }

    pub async fn end(self) {
        self.stopping.cancel();
        self.working.await.expect("it ends");
    }
}
