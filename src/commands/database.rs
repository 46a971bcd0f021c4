//! The database of a command: the one that the options name, which is waited for, or the embedded PostgreSQL, started for the
//! command.

use std::{env, num::NonZero, path::PathBuf, thread};

use mancala_server::{
    clock,
    config::{self, Misspelt, Serve},
    db::{self, Database, WrongUrl, describe, players::revocations},
    embedded::{self, Durability, Embedded},
    telemetry,
};
use sqlx::PgPool;
use tokio::{runtime, sync::oneshot};

use super::{failure::Failure, stop_signals::StopSignals};

/// Runs `work` with the database and a pool of a connection per core and one more, until it is done or a signal stops it.
pub fn with_database<T, W>(options: &Serve, work: impl FnOnce(Database, PgPool) -> W) -> Result<T, Failure>
where
    W: Future<Output = Result<T, Failure>>,
{
    let _telemetry = telemetry::init(options.log_format).map_err(Failure::misuse)?;
    check_meant(options)?;
    let mut embedded = None;
    let done = runtime::Builder::new_multi_thread().enable_all().build().map_err(Failure::new)?.block_on(async {
        let mut stops = StopSignals::new()?;
        let database = match of_running(&options.database)? {
            Some(running) => running,
            None => open(&options.database, &mut embedded, &mut stops).await?.ok_or_else(Failure::stopped)?,
        };
        follow_clock(&database).await;
        let connections = u32::try_from(cores() + 1).unwrap_or(u32::MAX);
        let pool = db::pool(database.clone(), connections.min(options.db_connections.unwrap_or(u32::MAX)));
        stops.unless_signalled(work(database, pool)).await.ok_or_else(Failure::stopped)?
    });
    if let Some(embedded) = embedded {
        embedded.stop();
    }
    done
}

/// Warns of variables that are nearly those of options, and refuses the embedded PostgreSQL where another database was probably
/// meant. It would be empty, and the server ready.
pub fn check_meant(options: &Serve) -> Result<(), Failure> {
    let embedded = options.database.database_url.is_none();
    for Misspelt { given, meant } in config::misspelt() {
        if embedded {
            return Err(Failure::misuse(format!(
                "{given} is the variable of no option: {meant} may be meant. Without DATABASE_URL the embedded PostgreSQL would start; \
                 rename {given}, or unset it"
            )));
        }
        tracing::warn!("{given} is the variable of no option, and is ignored: {meant} may be meant");
    }
    if embedded && options.jwt_private_key_file.is_some() && !options.database.has_data_dir_flag {
        return Err(Failure::misuse(
            "a signing key is named, and no database: set DATABASE_URL, or name the folder of the embedded PostgreSQL with --data-dir",
        ));
    }
    Ok(())
}

/// The database that the options name, for the log: hosts and name, or the folder of the embedded one.
pub fn described(options: &config::Database) -> Result<String, Failure> {
    match &options.database_url {
        Some(url) => describe(url).map_err(Failure::misuse),
        None => Ok(format!("embedded PostgreSQL in {}", data_folder(options)?.display())),
    }
}

/// The embedded PostgreSQL of a server that runs, so that a command works beside it.
fn of_running(options: &config::Database) -> Result<Option<Database>, Failure> {
    match options.database_url {
        Some(_) => Ok(None),
        None => Ok(embedded::connect_options_of_running(&data_folder(options)?).map(Database::from)),
    }
}

/// Sets the clock of the process by the database's. If that fails, the machine's time of day stays.
pub async fn follow_clock(database: &Database) {
    if let Ok(sight) = revocations::Reader::new(database.clone()).look().await {
        clock::follow(sight.clock, sight.asked_at, sight.took);
    }
}

/// The database that the options name; without one, starts the embedded PostgreSQL, which the caller stops.
///
/// `None` if a signal arrived before the database was ready.
pub async fn open(
    options: &config::Database,
    embedded: &mut Option<Embedded>,
    stops: &mut StopSignals,
) -> Result<Option<Database>, Failure> {
    warn_of_shown_passwords(options);
    if let Some(url) = &options.database_url {
        let database: Database = url.parse().map_err(Failure::misuse)?;
        let ready = stops.unless_signalled(database.wait_until_ready(options.wait())).await;
        return ready.transpose().map_err(Failure::new).map(|ready| ready.map(|()| database));
    }
    let settings = embedded::Settings { folder: data_folder(options)?, durability: Durability::Durable };
    let (report, mut reported) = oneshot::channel();
    // The thread is detached: a process that ends early takes PostgreSQL down with it.
    let start = move || drop(report.send(Embedded::start(&settings)));
    thread::Builder::new().name("starting".to_owned()).spawn(start).map_err(Failure::new)?;
    let started = stops.unless_signalled(&mut reported).await;
    let is_stopped = started.is_none();
    let started = if let Some(started) = started {
        started
    } else {
        tracing::info!("stopping as soon as PostgreSQL has started, so that it shuts down cleanly");
        let at_once = || Failure::new("stopped at once by a further signal while PostgreSQL was starting");
        stops.unless_signalled(&mut reported).await.ok_or_else(at_once)?
    };
    let running = embedded.insert(started.map_err(Failure::new)?.map_err(Failure::new)?);
    Ok((!is_stopped).then(|| embedded::connect_options(running).into()))
}

/// Warns of a URL with a password on the command line, which every user of the machine can read.
fn warn_of_shown_passwords(options: &config::Database) {
    let given = [
        (&options.database_url, "--database-url", "DATABASE_URL"),
        (&options.read_database_url, "--read-database-url", "READ_DATABASE_URL"),
    ];
    for (url, flag, variable) in given {
        let Some(url) = url.as_deref().filter(|url| has_password(url)) else { continue };
        if env::args().any(|argument| argument.strip_prefix(flag).unwrap_or(&argument).trim_start_matches('=') == url) {
            tracing::warn!(
                "{flag} has a password, which every user of this machine can read: set {variable} instead; \
                 the next release refuses it"
            );
        }
    }
}

/// Whether a URL of a database has a password, in front of the host or as a parameter.
fn has_password(url: &str) -> bool {
    let (address, parameters) = url.split_once('?').unwrap_or((url, ""));
    let user = address.split_once("://").and_then(|(_, rest)| rest.rsplit_once('@'));
    user.is_some_and(|(user, _)| user.contains(':'))
        || parameters.split('&').any(|parameter| parameter.starts_with("password="))
}

/// The standby that answers reads, if the options name one.
pub fn standby(options: &config::Database) -> Result<Option<Database>, Failure> {
    let Some(url) = &options.read_database_url else { return Ok(None) };
    let wrong =
        |error: &dyn std::fmt::Display| Failure::misuse(format!("--read-database-url or READ_DATABASE_URL: {error}"));
    if options.database_url.is_none() {
        return Err(wrong(&"a standby needs DATABASE_URL, the primary that it follows"));
    }
    let standby: Database = url.parse().map_err(|error| match error {
        WrongUrl::Target => wrong(&"leave target_session_attrs out: the host is a standby"),
        error => wrong(&error),
    })?;
    if standby.has_several_hosts() {
        return Err(wrong(&"name one host"));
    }
    Ok(Some(standby))
}

/// The folder of the embedded PostgreSQL and its signing key.
pub fn data_folder(options: &config::Database) -> Result<PathBuf, Failure> {
    options.folder().ok_or_else(|| Failure::misuse("no home folder was found for the database: set DATA_DIR"))
}

/// How many processor cores the process may use.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}
