//! The command line: starts the service, migrates the database, prints the OpenAPI document; what else it does is in `commands`.

mod commands;

use std::{
    fmt::Display,
    future::Future,
    io::Write,
    net::{SocketAddr, TcpListener},
    path::PathBuf,
    pin::pin,
    process::ExitCode,
    sync::Arc,
    thread::{self, available_parallelism},
    time::Duration,
};

use actix_web::dev::ServerHandle;
use mancala_server::{
    clock,
    config::{Cli, Command, Database, Misread, Serve, Switch},
    db::{Writers, migrations},
    embedded::{self, Durability, Embedded},
    http::{self, PublicKey, RateLimits, Service, Tokens},
    jobs::{self, analyses, computers, explorer, purge, webhooks},
    metrics::Metrics,
    telemetry::{self, Telemetry},
    webhook::{Reach, Sender, system_names},
};
use sqlx::postgres::PgConnectOptions;
use tikv_jemallocator::Jemalloc;
use tokio::{
    runtime,
    signal::unix::{Signal, SignalKind, signal},
    sync::oneshot,
    time::sleep,
};
use tokio_util::sync::CancellationToken;

/// Takes half as long as the system's for each of the hundreds of small values that a request needs, and a fifth less memory
/// for a client that waits.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// A failure in one line, and the exit status that goes with it.
struct Failure {
    line: String,
    status: u8,
}

/// The exit status for wrong options; the command line's own errors have it too.
const MISUSE: u8 = 2;

fn main() -> ExitCode {
    let outcome = match Cli::read() {
        Ok(cli) => match cli.command.unwrap_or(Command::Serve) {
            Command::Serve => serve(&cli.serve),
            Command::Migrate => migrate(&cli.serve),
            Command::Openapi => print_openapi(),
            Command::Verify => commands::verify(&cli.serve),
            Command::Export(export) => commands::export(&cli.serve, &export),
            Command::Solve(solve) => commands::solve(&solve),
            Command::Import(import) => commands::import(&cli.serve, &import),
            Command::Reindex => commands::reindex(&cli.serve),
        },
        Err(Misread::Shown(text)) => print(&text),
        Err(Misread::Wrong(line)) => Err(Failure::misuse(line)),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure { line, status }) => {
            eprintln!("mancala-server: {line}");
            ExitCode::from(status)
        }
    }
}

fn serve(options: &Serve) -> Result<(), Failure> {
    let _telemetry = start_telemetry(options)?;
    let mut embedded = None;
    let served = actix_web::rt::System::new().block_on(start_and_run(options, &mut embedded));
    // After everything that is connected to it.
    if let Some(embedded) = embedded {
        embedded.stop();
    }
    served
}

/// Starts what is needed, and serves. Who is told to stop before all has started stops then, without a failure.
async fn start_and_run(options: &Serve, embedded: &mut Option<Embedded>) -> Result<(), Failure> {
    // First of all: without it a signal would kill the process, or as the first of a container not even reach it.
    let mut stops = Stops::new()?;
    let accepted = accepted_keys(options)?;
    let given = given_tokens(options)?;
    let listener = listen(options.listen)?;
    let metrics_listener = options.metrics_listen.map(listen).transpose()?;
    let Some(database) = database(&options.database, embedded, &mut stops).await? else { return Ok(()) };
    let tokens = match given {
        Some(tokens) => tokens,
        None => own_tokens(options)?,
    };
    let Some(migrated) = stops.cut_short(migrations::run(database.clone())).await else {
        tracing::info!("stopped before the database was known to be up to date");
        return Ok(());
    };
    migrated.map_err(Failure::new)?;
    let metrics = Arc::new(Metrics::new(clock::now().unix_timestamp()));
    let (writers, writing) = Writers::start(&database, options.writers, Writers::QUEUE_MAX);
    let writers = Arc::new(writers);
    let working = actix_web::rt::spawn(jobs::run(database.clone(), writers.clone(), purge_settings(options)));
    let settling = actix_web::rt::spawn(jobs::run_deadlines(database.clone(), writers.clone()));
    let telling = start_telling(options, &database, &writers, &metrics)?;
    let thinking = start_thinking(options, &database, &writers, &metrics)?;
    let exploring = start_exploring(&database, &metrics)?;
    let service = service(options, database, writers, tokens.accepting(&accepted), metrics);
    let served = run(listener, metrics_listener, service, Duration::from_secs(options.drain_s), stops).await;
    working.abort();
    settling.abort();
    telling.end().await;
    for thread in thinking {
        thread.end().await;
    }
    exploring.end().await;
    // Also what clients have asked for who did not wait for the answer.
    writing.end().await;
    served
}

fn service(
    options: &Serve,
    database: PgConnectOptions,
    writers: Arc<Writers>,
    tokens: Tokens,
    metrics: Arc<Metrics>,
) -> Service {
    let workers = available_parallelism().map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(u32::MAX));
    Service {
        database,
        writers,
        tokens,
        cors_origins: options.cors_origins.clone(),
        rate_limits: match options.rate_limits {
            Switch::On => RateLimits::On,
            Switch::Off => RateLimits::Off,
        },
        trusted_proxies: options.trusted_proxies.clone(),
        keep_alive: http::KEEP_ALIVE,
        workers,
        public_url: options.public_url.clone(),
        shutdown_timeout_s: options.shutdown_timeout_s,
        open_for: time::Duration::days(options.open_game_days.into()),
        webhook_reach: reach(options),
        metrics,
        draining: CancellationToken::new(),
        hub: Arc::default(),
    }
}

/// Work on a thread of its own: what it takes, it takes from no move.
struct Beside {
    stopping: CancellationToken,
    ended: oneshot::Receiver<()>,
}

impl Beside {
    /// Starts `work`, which is told when to stop; `before` is done first of all on its thread.
    fn start<W: Future<Output = ()>>(
        name: &str,
        before: fn(),
        work: impl FnOnce(CancellationToken) -> W + Send + 'static,
    ) -> Result<Self, Failure> {
        let (stopping, (end, ended)) = (CancellationToken::new(), oneshot::channel());
        let runtime = runtime::Builder::new_current_thread().enable_all().build().map_err(Failure::new)?;
        let stop = stopping.clone();
        let run = move || {
            before();
            runtime.block_on(work(stop));
            // A look-up of a name that takes for ever keeps nobody.
            runtime.shutdown_background();
            let _ = end.send(());
        };
        thread::Builder::new().name(name.to_owned()).spawn(run).map_err(Failure::new)?;
        Ok(Self { stopping, ended })
    }

    async fn end(self) {
        self.stopping.cancel();
        let _ = self.ended.await;
    }
}

/// Tells players by webhooks.
fn start_telling(
    options: &Serve,
    database: &PgConnectOptions,
    writers: &Writers,
    metrics: &Arc<Metrics>,
) -> Result<Beside, Failure> {
    let sender = Sender::new(reach(options), system_names());
    let settings = webhooks::Settings { sender, write: http::write_message, metrics: metrics.clone() };
    let (database, webhook_events) = (database.clone(), writers.webhook_events());
    Beside::start("webhooks", || {}, move |stopping| webhooks::run(database, webhook_events, settings, stopping))
}

/// Plays for the computer, and analyses games.
fn start_thinking(
    options: &Serve,
    database: &PgConnectOptions,
    writers: &Arc<Writers>,
    metrics: &Arc<Metrics>,
) -> Result<Vec<Beside>, Failure> {
    let play = |_| {
        let (database, writers, metrics) = (database.clone(), writers.clone(), metrics.clone());
        let play = move |stopping| computers::run(database, writers, metrics, stopping);
        Beside::start("computer", jobs::be_nice, play)
    };
    let analyse = |_| {
        let (database, writers, metrics) = (database.clone(), writers.clone(), metrics.clone());
        let analyse = move |stopping| analyses::run(database, writers, metrics, stopping);
        Beside::start("analysis", jobs::be_nice, analyse)
    };
    (0..options.computer_threads).map(play).chain((0..options.analysis_threads).map(analyse)).collect()
}

/// Fills the explorer.
fn start_exploring(database: &PgConnectOptions, metrics: &Arc<Metrics>) -> Result<Beside, Failure> {
    let (database, metrics) = (database.clone(), metrics.clone());
    Beside::start("explorer", jobs::be_nice, move |stopping| explorer::run(database, metrics, stopping))
}

fn reach(options: &Serve) -> Reach {
    match options.webhook_allow_private {
        Switch::On => Reach::Anywhere,
        Switch::Off => Reach::Public,
    }
}

fn purge_settings(options: &Serve) -> purge::Settings {
    let days = Some(options.guest_retention_days).filter(|days| *days > 0);
    purge::Settings { guest_retention: days.map(|days| time::Duration::days(days.into())) }
}

fn listen(address: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).map_err(|error| Failure::new(format!("cannot listen on {address}: {error}")))
}

/// Serves until the process is told to stop, then answers what it has accepted. The metrics are there until the end.
async fn run(
    listener: TcpListener,
    metrics_listener: Option<TcpListener>,
    service: Service,
    drain: Duration,
    mut stops: Stops,
) -> Result<(), Failure> {
    let address = listener.local_addr().map_err(Failure::new)?;
    let (draining, hub) = (service.draining.clone(), service.hub.clone());
    let metrics_handle = match metrics_listener {
        Some(listener) => Some(serve_metrics(listener, &service)?),
        None => None,
    };
    let server = http::serve(listener, service).map_err(Failure::new)?;
    let handle = server.handle();
    tracing::info!(
        "ready: API http://{address}/v1, documentation http://{address}/docs/, OpenAPI http://{address}/openapi.json"
    );
    let stopping = async {
        stops.next().await;
        draining.cancel();
        hub.release_all();
        if !drain.is_zero() {
            tracing::info!("draining: not ready any more, still serving for {} s", drain.as_secs());
            stops.cut_short(sleep(drain)).await;
        }
        tracing::info!("stopping: answering what was accepted");
        stops.cut_short(handle.stop(true)).await
    };
    let mut server = pin!(server);
    let mut stopping = pin!(stopping);
    // The server is polled until it has ended, unless it was asked a second time: then what is left of it ends with the process.
    let outcome = tokio::select! {
        outcome = &mut server => outcome.map_err(Failure::new),
        ended = &mut stopping => match ended {
            Some(()) => server.await.map_err(Failure::new),
            None => Err(Failure::new("stopped at once, at a further signal: requests may have been cut off")),
        },
    };
    if let Some(handle) = metrics_handle {
        handle.stop(false).await;
    }
    tracing::info!("stopped");
    outcome
}

/// The metrics on their own listener, in the background.
fn serve_metrics(listener: TcpListener, service: &Service) -> Result<ServerHandle, Failure> {
    let address = listener.local_addr().map_err(Failure::new)?;
    let server = http::serve_metrics(listener, service.metrics.clone()).map_err(Failure::new)?;
    tracing::info!("metrics http://{address}/metrics");
    let handle = server.handle();
    actix_web::rt::spawn(server);
    Ok(handle)
}

/// The signals by which an operator stops the server.
struct Stops {
    interrupt: Signal,
    terminate: Signal,
}

impl Stops {
    fn new() -> Result<Self, Failure> {
        let interrupt = signal(SignalKind::interrupt()).map_err(Failure::new)?;
        let terminate = signal(SignalKind::terminate()).map_err(Failure::new)?;
        Ok(Self { interrupt, terminate })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    /// Waits for this; `None` if a further signal came before.
    async fn cut_short<T>(&mut self, wait: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            outcome = wait => Some(outcome),
            () = self.next() => None,
        }
    }
}

fn start_telemetry(options: &Serve) -> Result<Telemetry, Failure> {
    telemetry::init(options.log_format).map_err(Failure::misuse)
}

fn migrate(options: &Serve) -> Result<(), Failure> {
    let _telemetry = start_telemetry(options)?;
    let mut embedded = None;
    let migrated = actix_web::rt::System::new().block_on(async {
        let mut stops = Stops::new()?;
        let stopped = || Failure::new("stopped before the database was known to be up to date");
        let database = database(&options.database, &mut embedded, &mut stops).await?.ok_or_else(stopped)?;
        let migrated = stops.cut_short(migrations::run(database)).await.ok_or_else(stopped)?;
        migrated.map_err(Failure::new)
    });
    if let Some(embedded) = embedded {
        embedded.stop();
    }
    migrated
}

fn print_openapi() -> Result<(), Failure> {
    let document = http::document().to_pretty_json().map_err(Failure::new)?;
    print(&format_args!("{document}\n"))
}

fn print(text: &impl Display) -> Result<(), Failure> {
    let mut output = std::io::stdout();
    write!(output, "{text}").and_then(|()| output.flush()).map_err(Failure::new)
}

/// The database that the options name, or an embedded one, which runs until it is stopped. `None` if the server was told to stop
/// before there was one.
async fn database(
    options: &Database,
    embedded: &mut Option<Embedded>,
    stops: &mut Stops,
) -> Result<Option<PgConnectOptions>, Failure> {
    if let Some(url) = &options.database_url {
        // No error repeats the URL, which may hold a password.
        let known = ["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme));
        let parsed = known.then(|| url.parse().ok()).flatten();
        let wrong = || Failure::misuse("DATABASE_URL is not like postgres://user:password@host/name");
        return parsed.ok_or_else(wrong).map(Some);
    }
    let settings = embedded::Settings { folder: folder(options)?, durability: Durability::Durable };
    let (report, mut reported) = oneshot::channel();
    // On a thread of its own, which nobody waits for when the process ends. PostgreSQL then ends with the process.
    let start = move || drop(report.send(Embedded::start(&settings)));
    thread::Builder::new().name("starting".to_owned()).spawn(start).map_err(Failure::new)?;
    let started = stops.cut_short(&mut reported).await;
    let is_stopped = started.is_none();
    let started = if let Some(started) = started {
        started
    } else {
        tracing::info!("stopping: as soon as PostgreSQL has started, so that it stops in order");
        let at_once = || Failure::new("stopped at once, at a further signal, while PostgreSQL was starting");
        stops.cut_short(&mut reported).await.ok_or_else(at_once)?
    };
    let running = embedded.insert(started.map_err(Failure::new)?.map_err(Failure::new)?);
    Ok((!is_stopped).then(|| embedded::connect_options(running)))
}

/// The keys whose tokens are accepted beside those of the signing key.
fn accepted_keys(options: &Serve) -> Result<Vec<PublicKey>, Failure> {
    options.jwt_public_key_files.iter().map(|file| PublicKey::from_file(file).map_err(Failure::misuse)).collect()
}

/// What signs tokens with the key that the options name; without one, an embedded database brings its own.
fn given_tokens(options: &Serve) -> Result<Option<Tokens>, Failure> {
    let Serve { jwt_issuer: issuer, jwt_audience: audience, database, .. } = options;
    match &options.jwt_private_key_file {
        Some(file) => Tokens::from_file(file, issuer, audience).map(Some).map_err(Failure::misuse),
        None if database.database_url.is_none() => Ok(None),
        None => Err(Failure::misuse(
            "with DATABASE_URL set, a key is needed to sign tokens: make one with `openssl genpkey -algorithm ed25519 \
             -out jwt.pem` and name it by --jwt-private-key-file or JWT_PRIVATE_KEY_FILE",
        )),
    }
}

/// What signs tokens with the key beside the embedded database, which is made with it.
fn own_tokens(options: &Serve) -> Result<Tokens, Failure> {
    let file = folder(&options.database)?.join("jwt-private-key.pem");
    Tokens::from_file_or_new(&file, &options.jwt_issuer, &options.jwt_audience).map_err(Failure::new)
}

fn folder(options: &Database) -> Result<PathBuf, Failure> {
    options.folder().ok_or_else(|| Failure::misuse("there is no home folder for the database: set DATA_DIR"))
}

impl Failure {
    fn new(error: impl Display) -> Self {
        Self { line: error.to_string(), status: 1 }
    }

    fn misuse(error: impl Display) -> Self {
        Self { line: error.to_string(), status: MISUSE }
    }
}
