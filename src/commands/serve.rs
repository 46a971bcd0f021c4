//! `serve`: starts everything that the service needs, serves, and stops everything in order.

use std::{sync::Arc, time::Duration};

use mancala_server::{
    clock,
    config::{Serve, Switch},
    db::{Writers, migrations, records::usage::ImportTotal},
    domain::ReservedNames,
    embedded::Embedded,
    http::{self, ImportQuotas, RateLimits, Service, Tokens},
    metrics::Metrics,
    telemetry,
};
use sqlx::postgres::PgConnectOptions;
use tokio_util::sync::CancellationToken;

use super::{
    background::{Background, webhook_reach},
    database::{self, cores},
    failure::Failure,
    keys, server,
    stop_signals::StopSignals,
};

pub fn serve(options: &Serve) -> Result<(), Failure> {
    let _telemetry = telemetry::init(options.log_format).map_err(Failure::misuse)?;
    let mut embedded = None;
    let served = actix_web::rt::System::new().block_on(start_and_run(options, &mut embedded));
    // After all its clients.
    if let Some(embedded) = embedded {
        embedded.stop();
    }
    served
}

/// Starts what is needed, and serves. A signal that arrives during the start stops the process without a failure.
async fn start_and_run(options: &Serve, embedded: &mut Option<Embedded>) -> Result<(), Failure> {
    // First: before this a signal kills the process, or does not reach it if it is the first of a container.
    let mut stops = StopSignals::new()?;
    let accepted = keys::accepted(options)?;
    let given = keys::given(options)?;
    let listener = server::listen(options.listen)?;
    let metrics_listener = options.metrics_listen.map(server::listen).transpose()?;
    let Some(database) = database::open(&options.database, embedded, &mut stops).await? else { return Ok(()) };
    let tokens = match given {
        Some(tokens) => tokens,
        None => keys::embedded(options)?,
    };
    let Some(migrated) = stops.unless_signalled(migrations::run(database.clone())).await else {
        tracing::info!("stopped before the database was up to date");
        return Ok(());
    };
    migrated.map_err(Failure::new)?;
    let metrics = Arc::new(Metrics::new(clock::now().unix_timestamp()));
    let (writers, writing) = Writers::start(&database, options.writers, Writers::QUEUE_MAX);
    let writers = Arc::new(writers);
    let background = Background::start(options, &database, &writers, &metrics)?;
    let service = service(options, database, writers, tokens.accepting(&accepted), metrics);
    let drain = Duration::from_secs(options.drain_s);
    let served = server::run(listener, metrics_listener, service, drain, stops).await;
    background.stop().await;
    // Includes the appends of clients that did not wait for the answer.
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
        workers: u32::try_from(cores()).unwrap_or(u32::MAX),
        public_url: options.public_url.clone(),
        shutdown_timeout_s: options.shutdown_timeout_s,
        network_games_max: options.guest_network_games,
        open_for: time::Duration::days(options.open_game_days.into()),
        webhook_reach: webhook_reach(options),
        import_quotas: ImportQuotas {
            account: ImportTotal { games: options.import_games_max, plies: options.import_plies_max },
            guest: ImportTotal { games: options.import_guest_games_max, plies: options.import_guest_plies_max },
        },
        reserved_names: Arc::new(ReservedNames::new(options.reserved_names.iter().map(String::as_str))),
        metrics,
        draining: CancellationToken::new(),
        hub: Arc::default(),
    }
}
