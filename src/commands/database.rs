//! The database of a command: the one that the options name, or the embedded PostgreSQL, started for the command.

use std::{num::NonZero, path::PathBuf, thread};

use mancala_server::{
    config::{Database, Serve},
    db,
    embedded::{self, Durability, Embedded},
    telemetry,
};
use sqlx::{PgPool, postgres::PgConnectOptions};
use tokio::{runtime, sync::oneshot};

use super::{failure::Failure, stop_signals::StopSignals};

/// Runs `work` with the database and a pool of a connection per core and one more, until it is done or a signal stops it.
/// `stopped` is the failure after a signal.
pub fn with_database<T, W>(
    options: &Serve,
    stopped: &str,
    work: impl FnOnce(PgConnectOptions, PgPool) -> W,
) -> Result<T, Failure>
where
    W: Future<Output = Result<T, Failure>>,
{
    let _telemetry = telemetry::init(options.log_format).map_err(Failure::misuse)?;
    let mut embedded = None;
    let done = runtime::Builder::new_multi_thread().enable_all().build().map_err(Failure::new)?.block_on(async {
        let mut stops = StopSignals::new()?;
        let stopped = || Failure::new(stopped);
        let database = open(&options.database, &mut embedded, &mut stops).await?.ok_or_else(stopped)?;
        let pool = db::pool(database.clone(), u32::try_from(cores() + 1).unwrap_or(u32::MAX));
        stops.unless_signalled(work(database, pool)).await.ok_or_else(stopped)?
    });
    if let Some(embedded) = embedded {
        embedded.stop();
    }
    done
}

/// The database that the options name; without one, starts the embedded PostgreSQL, which the caller stops.
///
/// `None` if a signal arrived before the database was ready.
pub async fn open(
    options: &Database,
    embedded: &mut Option<Embedded>,
    stops: &mut StopSignals,
) -> Result<Option<PgConnectOptions>, Failure> {
    if let Some(url) = &options.database_url {
        // No error repeats the URL: it may hold a password.
        let has_scheme = ["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme));
        let parsed = has_scheme.then(|| url.parse().ok()).flatten();
        let wrong = || Failure::misuse("DATABASE_URL must look like postgres://user:password@host/name");
        return parsed.ok_or_else(wrong).map(Some);
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
    Ok((!is_stopped).then(|| embedded::connect_options(running)))
}

/// The folder of the embedded PostgreSQL and its signing key.
pub fn data_folder(options: &Database) -> Result<PathBuf, Failure> {
    options.folder().ok_or_else(|| Failure::misuse("no home folder was found for the database: set DATA_DIR"))
}

/// How many processor cores the process may use.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}
