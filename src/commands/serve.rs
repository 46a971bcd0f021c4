//! `serve`: starts everything that the service needs, serves, and stops everything in order.

use std::{sync::Arc, time::Duration};

use mancala_server::{
    access_log::AccessLog,
    build_info, clock,
    config::{Serve, Switch},
    connection_plan::{ConnectionPlan, Demand, TooFew},
    db::{Database, Writers, migrations, records::usage::ImportTotal},
    domain::ReservedNames,
    embedded::Embedded,
    file_plan::FilePlan,
    http::{self, ImportQuotas, Mailing, Page, RateLimits, Service, Settings, Tokens},
    jobs,
    metrics::Metrics,
    openid::Issuers,
    push::Push,
    telemetry,
    webhook::{Sender, system_names},
};
use tokio_util::sync::CancellationToken;

use super::{
    background::{Background, Bounds, webhook_reach},
    connections,
    database::{self, cores},
    failure::Failure,
    keys, mailing, push,
    server::{self, Bound},
    stop_signals::StopSignals,
};

pub fn serve(options: &Serve) -> Result<(), Failure> {
    let _telemetry = telemetry::init(options.log_format).map_err(Failure::misuse)?;
    database::check_meant(options)?;
    let mut embedded = None;
    let served = actix_web::rt::System::new().block_on(start_and_run(options, &mut embedded));
    // PostgreSQL stops after all its clients.
    if let Some(embedded) = embedded {
        embedded.stop();
    }
    served
}

/// Starts all parts, and serves. A signal that arrives during the start stops the process without a failure.
async fn start_and_run(options: &Serve, embedded: &mut Option<Embedded>) -> Result<(), Failure> {
    // The signal handlers come first: without them a signal kills the process. As the first process of a container, it would not even
    // receive the signal.
    let mut stops = StopSignals::new()?;
    let database = database::described(&options.database)?;
    let accepted = keys::accepted(options)?;
    let given = keys::given(options)?;
    let issuers = issuers(options)?;
    let standby = database::standby(&options.database)?;
    let mail = mailing::sender(options)?;
    // This line comes after the options are checked: an error in them is the only line of a failed start.
    tracing::info!(database, "mancala-server {}, commit {}", build_info::VERSION, build_info::COMMIT);
    let bound = Bound::to(&options.listen)?;
    let metrics_bound = options.metrics_listen.as_ref().map(Bound::to).transpose()?;
    let demand = demand(options);
    // The plans come before the database is started: with too few connections or files the server does not start.
    let plan = ConnectionPlan::of(demand, options.db_connections).map_err(too_few_connections)?;
    let files = FilePlan::of_process(plan.total()).map_err(Failure::new)?;
    let Some(database) = database::open(&options.database, embedded, &mut stops).await? else { return Ok(()) };
    refuse_inspection();
    let tokens = match given {
        Some(tokens) => tokens,
        None => keys::embedded(options)?,
    };
    let push = push::push(options)?;
    let Some(migrated) = stops.unless_signalled(migrations::run_within(&database, options.database.wait())).await
    else {
        tracing::info!("stopped before the database was up to date");
        return Ok(());
    };
    migrated?;
    // The clock comes before any deadline is judged. If this fails, the server begins with the machine's time of day.
    database::follow_clock(&database).await;
    let (plan, jobs_delay) = connections::fitted(demand, plan, &database, options.database.wait()).await;
    let metrics = Arc::new(Metrics::new(clock::now().unix_timestamp()));
    let access_log = AccessLog::start(
        options.access_log.into(),
        options.access_log_format.into(),
        std::io::stdout(),
        metrics.clone(),
    );
    let access_log = access_log.map_err(Failure::new)?;
    let (writers, writing) = Writers::start(&database, plan.writers, Writers::QUEUE_MAX);
    let writers = Arc::new(writers);
    // Opens the connection of moves before the jobs open theirs.
    if let Err(not_ready) = writers.check().await {
        tracing::warn!("moves cannot be stored at present: {:?}", not_ready.fault);
    }
    let has_mail = mail.is_some();
    let mail = mail.map(|sender| jobs::mail::Settings::new(sender, tokens.mail_key(), metrics.clone()));
    let bounds = Bounds { plan, files, jobs_delay };
    let background = Background::start(options, &push, bounds, &database, &writers, &metrics, mail)?;
    let mut service = service(options, (plan, files), database, writers, tokens.accepting(&accepted), metrics);
    service.settings.push = push;
    service.access_log.clone_from(&access_log);
    service.standby = standby;
    service.issuers = Arc::new(issuers);
    if has_mail {
        service.settings.mailing = Mailing::On;
    }
    let drain = Duration::from_secs(options.drain_s);
    let served = server::run(bound, metrics_bound, service, drain, stops).await;
    background.stop().await;
    // Includes the appends of clients that did not wait for the answer.
    writing.end().await;
    if let Some(log) = access_log {
        log.flush().await;
    }
    served
}

/// From here on no core dump of the process is written, and no other process of its user reads its memory. The memory holds keys
/// and passwords.
fn refuse_inspection() {
    #[cfg(target_os = "linux")]
    if let Err(error) = nix::sys::prctl::set_dumpable(false) {
        tracing::warn!("other processes of this user can read the memory of the server: {error}");
    }
}

/// The demand of the options and the machine's processors for connections to the database.
fn demand(options: &Serve) -> Demand {
    Demand {
        workers: u32::try_from(cores()).unwrap_or(u32::MAX),
        writers: options.writers,
        computer_threads: options.computer_threads(cores()).into(),
        analysis_threads: options.analysis_threads.into(),
        has_standby: options.database.read_database_url.is_some(),
    }
}

/// The issuers by which people sign in. They are reached under the rules of webhooks.
fn issuers(options: &Serve) -> Result<Issuers, Failure> {
    let Some(file) = &options.sign_in_file else { return Ok(Issuers::default()) };
    http::read_issuers(file, &Sender::new(webhook_reach(options), system_names())).map_err(Failure::misuse)
}

fn too_few_connections(TooFew { least }: TooFew) -> Failure {
    Failure::misuse(format!("--db-connections or DB_CONNECTIONS: the server needs at least {least} with these options"))
}

fn service(
    options: &Serve,
    (plan, files): (ConnectionPlan, FilePlan),
    database: Database,
    writers: Arc<Writers>,
    tokens: Tokens,
    metrics: Arc<Metrics>,
) -> Service {
    Service {
        database,
        standby: None,
        writers,
        tokens,
        cors_origins: options.cors_origins.clone(),
        rate_limits: match options.rate_limits {
            Switch::On => RateLimits::On,
            Switch::Off => RateLimits::Off,
        },
        page: match options.page {
            Switch::On => Page::Served,
            Switch::Off => Page::Off,
        },
        trusted_proxies: options.trusted_proxies.clone(),
        keep_alive: http::KEEP_ALIVE,
        plan,
        files,
        public_url: options.public_url.clone(),
        shutdown_timeout_s: options.shutdown_timeout_s,
        issuers: Arc::default(),
        settings: Settings {
            open_for: time::Duration::days(options.open_game_days.into()),
            network_games_max: options.guest_network_games,
            webhook_reach: webhook_reach(options),
            mailing: Mailing::Off,
            push: Push::default(),
            import_quotas: ImportQuotas {
                account: ImportTotal { games: options.import_games_max, plies: options.import_plies_max },
                guest: ImportTotal { games: options.import_guest_games_max, plies: options.import_guest_plies_max },
            },
        },
        reserved_names: Arc::new(ReservedNames::new(options.reserved_names.iter().map(String::as_str))),
        metrics,
        access_log: None,
        draining: CancellationToken::new(),
        hub: Arc::default(),
    }
}
