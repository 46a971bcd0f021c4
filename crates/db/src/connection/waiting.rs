//! Waiting for a database at the start, finding the host that takes writes, and what a pooler between lets through.

use std::{
    fmt::Write,
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection, Row, postgres::PgConnectOptions};
use thiserror::Error;
use tokio::time::{sleep, timeout};
use tracing::Instrument;

use super::{
    Database,
    database::Pooling,
    hosts::place,
    session_name::session_name_for,
    settings::{LIMITS, Setting},
    statement,
};

/// How long a host may take to answer, with a new connection.
const ANSWER_WAIT: Duration = Duration::from_secs(2);

/// The pause between two attempts while the start waits.
const RETRY_PAUSE: Duration = Duration::from_millis(500);

/// The pause between two lines of the log while the start waits.
const REPORT_PAUSE: Duration = Duration::from_secs(5);

/// The pause between two polls of several hosts.
const WATCH_PAUSE: Duration = Duration::from_secs(1);

/// The SQLSTATE of protocol errors, which poolers use for most of their errors.
const PROTOCOL_VIOLATION: &str = "08P01";

/// Why a database cannot be used.
#[derive(Debug, Error)]
pub enum Unusable {
    /// The database does not answer, or refuses the connection.
    #[error("the database cannot be reached: {0}")]
    Unreachable(#[source] sqlx::Error),
    /// The database answers, and takes no writes.
    #[error("the database is a standby, or read-only")]
    ReadOnly,
    /// None of the hosts takes writes; `0` gives the reason for each host.
    #[error("no host of the database can be written to ({0})")]
    NoHost(String),
    /// The pooler lends connections for single transactions, and drops prepared statements.
    #[error(
        "the pooler lends connections for single transactions and keeps no prepared statements: use PgBouncer 1.21 or newer \
         with max_prepared_statements above 0, or pool_mode = session"
    )]
    NoPreparedStatements,
}

impl Unusable {
    /// Whether the same attempt may succeed later.
    fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable(error) => may_pass(error),
            Self::ReadOnly | Self::NoHost(_) => true,
            Self::NoPreparedStatements => false,
        }
    }
}

/// Whether a connection that failed so may succeed later. A wrong password, database or certificate stays wrong.
fn may_pass(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Database(error) => {
            !error.code().is_some_and(|code| code.starts_with("28") || code.starts_with("3D"))
        }
        sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::Protocol(_) => true,
        _ => false,
    }
}

/// The role that a host reports.
#[derive(Clone, Copy, Debug)]
struct Role {
    is_standby: bool,
    is_read_only: bool,
    /// 0 for a standby.
    timeline: i64,
}

impl Database {
    /// Waits until a host takes writes, for at most `wait`. Then detects a pooler in front of it, and follows the host from then on, on the
    /// current runtime.
    pub async fn wait_until_ready(&self, wait: Duration) -> Result<(), Unusable> {
        let begun = Instant::now();
        let mut reported: Option<Instant> = None;
        loop {
            let failure = match self.turn_to_best().await {
                Ok(()) => match self.find_pooling().await {
                    Ok(()) => break,
                    Err(failure) => failure,
                },
                Err(failure) => failure,
            };
            if !failure.may_pass() || begun.elapsed() >= wait {
                return Err(failure);
            }
            if reported.is_none_or(|at| at.elapsed() >= REPORT_PAUSE) {
                let left_s = wait.saturating_sub(begun.elapsed()).as_secs();
                tracing::warn!(cause = %failure, left_s, "waiting for the database");
                reported = Some(Instant::now());
            }
            sleep(RETRY_PAUSE).await;
        }
        if reported.is_some() {
            tracing::info!(elapsed_ms = begun.elapsed().as_millis(), "the database answers");
        }
        self.follow_hosts();
        Ok(())
    }

    /// Asks all hosts, and switches to the best one.
    async fn turn_to_best(&self) -> Result<(), Unusable> {
        let mut answers = join_all(self.hosts().iter().map(role_of)).await;
        if let Some(best) = self.best(&answers) {
            self.turn_to(best);
            return Ok(());
        }
        if let [answer] = &mut *answers {
            let only = std::mem::replace(answer, Err(sqlx::Error::WorkerCrashed));
            return Err(only.map_or_else(Unusable::Unreachable, |_| Unusable::ReadOnly));
        }
        // A wrong password at all hosts stays wrong.
        if answers.iter().all(|answer| answer.as_ref().is_err_and(|error| !may_pass(error))) {
            let last = answers.pop().and_then(Result::err).expect("there is a host, and it failed");
            return Err(Unusable::Unreachable(last));
        }
        let mut causes = String::new();
        for (n, answer) in answers.iter().enumerate() {
            let cause = answer.as_ref().map_or_else(ToString::to_string, |role| role.word().to_owned());
            let comma = if n == 0 { "" } else { ", " };
            write!(causes, "{comma}{}: {cause}", place(&self.hosts()[n])).expect("writing to a string does not fail");
        }
        Err(Unusable::NoHost(causes))
    }

    /// The host on the latest timeline that may be used. Among equal ones the present host stays, so that a host that comes
    /// back changes nothing.
    fn best(&self, answers: &[Result<Role, sqlx::Error>]) -> Option<usize> {
        let present = self.route().host();
        let target = self.target();
        let usable = answers.iter().enumerate().filter_map(|(host, answer)| {
            let role = answer.as_ref().ok()?;
            target.accepts(role.is_standby, role.is_read_only).then_some((host, role.timeline))
        });
        usable.max_by_key(|(host, timeline)| (*timeline, *host == present, usize::MAX - host)).map(|(host, _)| host)
    }

    /// Watches all hosts while the database is used, if there are several, and switches to another one when it takes over.
    fn follow_hosts(&self) {
        if self.hosts().len() < 2 {
            return;
        }
        let database = self.downgrade();
        tokio::spawn(async move {
            let mut connections: Vec<Option<PgConnection>> = vec![];
            loop {
                sleep(WATCH_PAUSE).await;
                let Some(database) = database.upgrade() else { return };
                connections.resize_with(database.hosts().len(), || None);
                let mut asked = vec![];
                for (options, connection) in database.options_of_watch().zip(&mut connections) {
                    asked.push(ask(options, connection.take()));
                }
                let mut answers = vec![];
                for ((answer, kept), connection) in join_all(asked).await.into_iter().zip(&mut connections) {
                    *connection = kept;
                    answers.push(answer);
                }
                let before = database.route().host();
                if let Some(best) = database.best(&answers).filter(|best| *best != before) {
                    database.turn_to(best);
                    let (from, to) = (place(&database.hosts()[before]), place(&database.hosts()[best]));
                    tracing::warn!(from, to, "another host of the database takes the writes");
                }
            }
        });
    }

    /// Finds out whether a pooler stands between, and whether it lends connections for sessions or for transactions.
    async fn find_pooling(&self) -> Result<(), Unusable> {
        let options = self.hosts()[self.route().host()].clone();
        let limited = answer_in_time(options.clone().options(LIMITS).connect()).await;
        let (mut first, takes_settings) = match limited {
            Ok(connection) => (connection, true),
            Err(error) if refuses_settings(&error) => {
                let plain = options.clone().extra_float_digits(None);
                (answer_in_time(plain.connect()).await.map_err(Unusable::Unreachable)?, false)
            }
            Err(error) => return Err(Unusable::Unreachable(error)),
        };
        let missing = answer_in_time(missing(&mut first)).await.map_err(Unusable::Unreachable)?;
        let mut second =
            answer_in_time(options.extra_float_digits(None).connect()).await.map_err(Unusable::Unreachable)?;
        let is_shared =
            answer_in_time(share_a_backend(&mut first, &mut second)).await.map_err(Unusable::Unreachable)?;
        let pooling = match (is_shared, takes_settings && missing.is_empty()) {
            (true, _) => Pooling::Transaction,
            (false, true) => Pooling::Direct,
            (false, false) => Pooling::Session,
        };
        if pooling == Pooling::Transaction {
            if !keeps_statements(&mut first, &mut second).await {
                return Err(Unusable::NoPreparedStatements);
            }
            report_transaction_pooling(&missing);
        }
        let pooling = if pooling == Pooling::Direct { None } else { Some(pooling) };
        if let Some(pooling) = pooling {
            self.set_pooling(pooling);
        }
        let _ = (first.close().await, second.close().await);
        Ok(())
    }
}

impl Role {
    const fn word(self) -> &'static str {
        match self {
            Self { is_standby: true, .. } => "a standby",
            Self { is_read_only: true, .. } => "read-only",
            _ => "not chosen",
        }
    }
}

async fn role_of(options: &PgConnectOptions) -> Result<Role, sqlx::Error> {
    let (answer, connection) = ask(options.clone(), None).await;
    if let Some(connection) = connection {
        let _ = connection.close().await;
    }
    answer
}

/// Asks a host for its role, over this connection or a new one, which is kept if the host answers.
async fn ask(
    options: PgConnectOptions,
    connection: Option<PgConnection>,
) -> (Result<Role, sqlx::Error>, Option<PgConnection>) {
    let asked = answer_in_time(async {
        let mut connection = match connection {
            Some(connection) => connection,
            // Poolers refuse the settings of a start.
            None => options.application_name(&session_name_for("hosts")).extra_float_digits(None).connect().await?,
        };
        let role = role(&mut connection).await?;
        Ok((role, connection))
    });
    match asked.await {
        Ok((role, connection)) => (Ok(role), Some(connection)),
        Err(error) => (Err(error), None),
    }
}

/// Simple statements, because a pooler may keep no prepared ones.
async fn role(connection: &mut PgConnection) -> Result<Role, sqlx::Error> {
    let row = sqlx::raw_sql(
        "select pg_is_in_recovery() as is_standby, current_setting('transaction_read_only')::boolean as is_read_only, \
         case when not pg_is_in_recovery() then ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint \
         else 0 end as timeline",
    )
    .fetch_one(connection)
    .await?;
    let (is_standby, is_read_only) = (row.try_get("is_standby")?, row.try_get("is_read_only")?);
    Ok(Role { is_standby, is_read_only, timeline: row.try_get("timeline")? })
}

async fn answer_in_time<T>(answer: impl Future<Output = Result<T, sqlx::Error>>) -> Result<T, sqlx::Error> {
    timeout(ANSWER_WAIT, answer).await.unwrap_or(Err(sqlx::Error::PoolTimedOut))
}

/// Whether a pooler refuses the settings that go with the start of a connection.
fn refuses_settings(error: &sqlx::Error) -> bool {
    let sqlx::Error::Database(error) = error else { return false };
    error.code().as_deref() == Some(PROTOCOL_VIOLATION) && error.message().contains("startup parameter")
}

/// The limits that are not in effect on a connection.
async fn missing(connection: &mut PgConnection) -> Result<Vec<Setting>, sqlx::Error> {
    let mut missing = vec![];
    for (name, value) in LIMITS {
        let row = sqlx::raw_sql(AssertSqlSafe(format!("select current_setting('{name}')")))
            .fetch_one(&mut *connection)
            .instrument(statement("select current_setting"))
            .await?;
        let found: String = row.try_get(0)?;
        if found != value {
            missing.push((name, value));
        }
    }
    Ok(missing)
}

/// Whether two open connections use the same process of PostgreSQL in turn: only a pooler that lends connections for single
/// transactions lets them. Other clients of the pooler may come between, so it is tried several times.
async fn share_a_backend(first: &mut PgConnection, second: &mut PgConnection) -> Result<bool, sqlx::Error> {
    for _ in 0..3 {
        if backend(first).await? == backend(second).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

async fn backend(connection: &mut PgConnection) -> Result<i32, sqlx::Error> {
    sqlx::raw_sql("select pg_backend_pid()").fetch_one(connection).await?.try_get(0)
}

/// Whether a prepared statement can be used while another client has the connection on which it was prepared.
async fn keeps_statements(first: &mut PgConnection, second: &mut PgConnection) -> bool {
    let outcome = answer_in_time(async {
        let double = "select $1::integer * 2";
        let mut doubled: Vec<i32> = vec![];
        doubled.push(sqlx::query_scalar(double).bind(1).fetch_one(&mut *first).await?);
        sqlx::raw_sql("begin").execute(&mut *second).await?;
        doubled.push(sqlx::query_scalar(double).bind(2).fetch_one(&mut *first).await?);
        doubled.push(sqlx::query_scalar(double).bind(3).fetch_one(&mut *second).await?);
        sqlx::raw_sql("rollback").execute(&mut *second).await?;
        Ok(doubled)
    });
    matches!(outcome.await.as_deref(), Ok([2, 4, 6]))
}

/// Logs the settings that are missing behind a pooler in transaction mode.
fn report_transaction_pooling(missing: &[Setting]) {
    tracing::warn!(
        "the pooler lends connections for single transactions: changes by other servers are seen by polling, within seconds"
    );
    if !missing.is_empty() {
        let settings: Vec<_> = missing.iter().map(|(name, value)| format!("set {name} = '{value}'")).collect();
        tracing::warn!(
            missing = settings.join("; "),
            "the pooler passes no settings on, so these are not in effect: give them to the database's user by `alter role … set …`"
        );
    }
}
