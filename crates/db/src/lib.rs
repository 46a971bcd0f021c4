//! PostgreSQL: the only SQL of the project, one file an aggregate.
//!
//! Functions are verbs on rows: they take a pool, and domain values where there are any, and give back domain values;
//! absence is `Option`. This module knows the domain; it knows nothing of HTTP.

pub mod analyses;
mod appends;
mod clock_rows;
pub mod computer_turns;
mod error;
pub mod events;
pub mod explorations;
pub mod explorer;
pub mod game_kinds;
pub mod game_list;
mod game_rows;
pub mod games;
pub mod idempotency;
pub mod imports;
pub mod invitations;
mod link;
mod lookups;
pub mod migrations;
pub mod notes;
pub mod notices;
pub mod player_events;
mod player_lists;
pub mod player_stats;
pub mod players;
pub mod refresh_tokens;
pub mod summary;
mod term_rows;
pub mod verification;
pub mod wakes;
pub mod webhook_deliveries;
pub mod webhook_events;
pub mod webhook_flags;
mod webhook_health;
pub mod webhooks;
mod writers;

use std::time::Duration;

pub use error::DbError;
pub use lookups::{Lookups, Signs};
use sqlx::{
    Connection,
    postgres::{PgConnectOptions, PgPool, PgPoolOptions},
};
use tracing::Span;
pub use writers::{Writers, Writing};

/// How long a request waits for a free connection before it is answered 503.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(3);

/// A connection that was idle for longer may have died unnoticed, of a restart or a firewall.
const RESTED: Duration = Duration::from_secs(1);

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
                if meta.idle_for > RESTED {
                    connection.ping().await?;
                }
                Ok(true)
            })
        })
        .connect_lazy_with(with_limits(options))
}

/// Connections of the service, with an end to everything that could wait for ever.
fn with_limits(options: PgConnectOptions) -> PgConnectOptions {
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

/// The span of a statement, named as OpenTelemetry names things: `summary` is what it does to which table, and nothing of
/// its values. It is there only if traces are exported or the log is at `debug`; otherwise this costs one comparison.
fn statement(summary: &'static str) -> Span {
    tracing::debug_span!(
        "statement",
        otel.name = summary,
        otel.kind = "client",
        db.system.name = "postgresql",
        db.operation.name = summary.split(' ').next(),
        db.query.summary = summary,
    )
}
