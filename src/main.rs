//! The command line: starts the service, migrates the database, prints the OpenAPI document.

use std::{fmt::Display, io::Write, net::TcpListener, path::PathBuf, process::ExitCode, thread::available_parallelism};

use clap::Parser;
use mancala_server::{
    config::{Cli, Command, Database, Serve},
    db::{
        self,
        embedded::{self, Durability, Embedded},
        migrations,
    },
    http::{self, Service, Tokens},
    jobs::{self, purge},
    telemetry,
};
use sqlx::postgres::PgConnectOptions;
use time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// A failure in one line, and the exit status that goes with it.
struct Failure {
    line: String,
    status: u8,
}

/// The exit status for wrong options; the command line's own errors have it too.
const MISUSE: u8 = 2;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match cli.command.unwrap_or(Command::Serve) {
        Command::Serve => serve(&cli.serve),
        Command::Migrate => migrate(&cli.serve),
        Command::Openapi => print_openapi(),
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
    telemetry::init(options.log_format);
    let given = given_tokens(options)?;
    let listener = TcpListener::bind(options.listen)
        .map_err(|error| Failure::new(format!("cannot listen on {}: {error}", options.listen)))?;
    let (embedded, database) = database(&options.database)?;
    let tokens = match given {
        Some(tokens) => tokens,
        None => own_tokens(options)?,
    };
    let served = actix_web::rt::System::new().block_on(async {
        migrations::run(database.clone()).await.map_err(Failure::new)?;
        let workers = available_parallelism().map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(u32::MAX));
        let cors_origins = options.cors_origins.clone();
        let retention = Some(options.guest_retention_days).filter(|days| *days > 0);
        let settings = purge::Settings { guest_retention: retention.map(|days| Duration::days(days.into())) };
        let working = actix_web::rt::spawn(jobs::run(database.clone(), settings));
        let served = run(listener, Service { database, tokens, cors_origins, workers }).await;
        working.abort();
        served
    });
    if let Some(embedded) = embedded {
        embedded.stop();
    }
    served
}

/// Serves until the process is told to stop, then answers what it has accepted.
async fn run(listener: TcpListener, service: Service) -> Result<(), Failure> {
    let mut interrupt = signal(SignalKind::interrupt()).map_err(Failure::new)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(Failure::new)?;
    let address = listener.local_addr().map_err(Failure::new)?;
    let server = http::serve(listener, service).map_err(Failure::new)?;
    let handle = server.handle();
    tracing::info!(
        "ready: API http://{address}/v1, documentation http://{address}/docs/, OpenAPI http://{address}/openapi.json"
    );
    let stopping = async {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        tracing::info!("stopping: answering what was accepted");
        handle.stop(true).await;
    };
    let (outcome, ()) = tokio::join!(server, stopping);
    tracing::info!("stopped");
    outcome.map_err(Failure::new)
}

fn migrate(options: &Serve) -> Result<(), Failure> {
    telemetry::init(options.log_format);
    let (embedded, database) = database(&options.database)?;
    let migrated = actix_web::rt::System::new().block_on(migrations::run(database)).map_err(Failure::new);
    if let Some(embedded) = embedded {
        embedded.stop();
    }
    migrated
}

fn print_openapi() -> Result<(), Failure> {
    let document = http::document().to_pretty_json().map_err(Failure::new)?;
    writeln!(std::io::stdout(), "{document}").map_err(Failure::new)
}

/// The database that the options name, or an embedded one, which runs until it is stopped.
fn database(options: &Database) -> Result<(Option<Embedded>, PgConnectOptions), Failure> {
    if let Some(url) = &options.database_url {
        // No error repeats the URL, which may hold a password.
        let known = ["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme));
        let parsed = known.then(|| url.parse().ok()).flatten();
        let parsed =
            parsed.ok_or_else(|| Failure::misuse("DATABASE_URL is not like postgres://user:password@host/name"));
        return Ok((None, parsed?));
    }
    let settings = embedded::Settings { folder: folder(options)?, durability: Durability::Durable };
    let embedded = Embedded::start(&settings).map_err(Failure::new)?;
    let options = db::embedded_options(&embedded);
    Ok((Some(embedded), options))
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
