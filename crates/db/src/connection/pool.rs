//! Connection pools, and the settings that all connections of the service share.

use std::time::Duration;

use sqlx::{
    Connection,
    postgres::{PgConnectOptions, PgPool, PgPoolOptions},
};

/// How long a request waits for a free connection before it is answered 503.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(3);

/// A connection that was idle for longer is pinged before use: a restart or a firewall may have closed it.
const IDLE_UNCHECKED_MAX: Duration = Duration::from_secs(1);

/// A statement of the service touches a handful of rows. A query whose caller has gone keeps its connection busy until
/// this timeout.
const STATEMENT_TIMEOUT: &str = "5s";

/// A row is locked for the length of one statement. A statement that waits longer than this had better be retried.
const LOCK_TIMEOUT: &str = "250ms";

/// No transaction stays open across a round trip. One that does has lost its client.
const IDLE_TRANSACTION_TIMEOUT: &str = "5s";

/// A pool for everything but appends. It connects on first use, so that a server can start while its database is down.
pub fn pool(options: PgConnectOptions, connections_max: u32) -> PgPool {
    PgPoolOptions::new()
        .max_connections(connections_max.max(1))
        .acquire_timeout(ACQUIRE_TIMEOUT)
        // A ping before every request would cost a third of the throughput, so only a connection that was idle is
        // pinged.
        .test_before_acquire(false)
        .before_acquire(|connection, meta| {
            Box::pin(async move {
                if meta.idle_for > IDLE_UNCHECKED_MAX {
                    connection.ping().await?;
                }
                Ok(true)
            })
        })
        .connect_lazy_with(with_limits(options))
}

/// The settings of the service's connections: every wait has a limit.
pub(crate) fn with_limits(options: PgConnectOptions) -> PgConnectOptions {
    options.application_name("mancala-server").options([
        ("statement_timeout", STATEMENT_TIMEOUT),
        ("lock_timeout", LOCK_TIMEOUT),
        ("idle_in_transaction_session_timeout", IDLE_TRANSACTION_TIMEOUT),
        // Every statement has one right plan, whatever its values: a few rows, each by an index. The first setting
        // keeps the plan: without it a game's query is planned on each load. The others keep it right: without them a
        // plan that was made while the tables were small would go on to read whole tables.
        ("plan_cache_mode", "force_generic_plan"),
        ("enable_seqscan", "off"),
        ("enable_bitmapscan", "off"),
        ("enable_hashjoin", "off"),
        ("enable_mergejoin", "off"),
        // Compiling a statement takes longer than running it.
        ("jit", "off"),
    ])
}
