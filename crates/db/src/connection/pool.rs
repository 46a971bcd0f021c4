//! Pools of connections, and the settings that all connections of the service have.

use std::time::Duration;

use sqlx::{
    Connection,
    postgres::{PgConnectOptions, PgPool, PgPoolOptions},
};

/// How long a request waits for a free connection before it is answered 503.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(3);

/// A connection that was idle for longer may have died unnoticed, of a restart or a firewall.
const IDLE_UNCHECKED_MAX: Duration = Duration::from_secs(1);

/// A statement of the service touches a handful of rows. A query whose caller has gone keeps its connection busy until
/// this ends it.
const STATEMENT_TIMEOUT: &str = "5s";

/// A row is locked for the length of one statement; who waits longer than this is better off trying again.
const LOCK_TIMEOUT: &str = "250ms";

/// No transaction is held open across a round trip; one that is has lost its client.
const IDLE_TRANSACTION_TIMEOUT: &str = "5s";

/// A pool for everything but appends. It connects when first used, so that a server can start while its database is away.
pub fn pool(options: PgConnectOptions, connections_max: u32) -> PgPool {
    PgPoolOptions::new()
        .max_connections(connections_max.max(1))
        .acquire_timeout(ACQUIRE_TIMEOUT)
        // A round trip before every request would cost a third of the throughput: only who has rested is asked.
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

/// Connections of the service, with an end to everything that could wait for ever.
pub(crate) fn with_limits(options: PgConnectOptions) -> PgConnectOptions {
    options.application_name("mancala-server").options([
        ("statement_timeout", STATEMENT_TIMEOUT),
        ("lock_timeout", LOCK_TIMEOUT),
        ("idle_in_transaction_session_timeout", IDLE_TRANSACTION_TIMEOUT),
        // Every statement has one right plan, whatever its values: a few rows, each by an index. Without the first of these
        // a game is planned anew each time that it is loaded; without the others a plan that was made while the tables
        // were small, and is kept, reads them whole.
        ("plan_cache_mode", "force_generic_plan"),
        ("enable_seqscan", "off"),
        ("enable_bitmapscan", "off"),
        ("enable_hashjoin", "off"),
        ("enable_mergejoin", "off"),
        // It takes longer to compile them than to run them.
        ("jit", "off"),
    ])
}
