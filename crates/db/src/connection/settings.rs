//! The settings of the service's sessions: every wait has a limit, and every statement keeps its plan.

/// The name of a setting, and its value.
pub(crate) type Setting = (&'static str, &'static str);

/// A statement of the service touches a handful of rows. A query whose caller has gone keeps its connection busy until
/// this timeout.
const STATEMENT_TIMEOUT: &str = "5s";

/// A row is locked for the length of one statement. A statement that waits longer than this had better be retried.
const LOCK_TIMEOUT: &str = "250ms";

/// No transaction stays open across a round trip. One that does has lost its client.
const IDLE_TRANSACTION_TIMEOUT: &str = "5s";

/// How PostgreSQL notices that the machine at the other end of a connection is gone: after a minute. Without them a dead machine keeps its
/// connections for two hours. They have no effect on a Unix socket, and are not known behind a pooler.
pub(super) const KEEPALIVES: [Setting; 4] = [
    ("tcp_keepalives_idle", "30"),
    ("tcp_keepalives_interval", "10"),
    ("tcp_keepalives_count", "3"),
    ("tcp_user_timeout", "60000"),
];

/// The settings of the service's connections.
pub(crate) const LIMITS: [Setting; 10] = [
    ("statement_timeout", STATEMENT_TIMEOUT),
    ("lock_timeout", LOCK_TIMEOUT),
    ("idle_in_transaction_session_timeout", IDLE_TRANSACTION_TIMEOUT),
    // Every statement has one right plan for all values: a few rows, each by an index. The first setting keeps that plan; without it
    // PostgreSQL plans the query of a game on each load. The other settings keep the plan right: a plan made while the tables were small
    // would read whole tables later.
    ("plan_cache_mode", "force_generic_plan"),
    ("enable_seqscan", "off"),
    ("enable_bitmapscan", "off"),
    ("enable_hashjoin", "off"),
    ("enable_mergejoin", "off"),
    // Compiling a statement or starting parallel workers takes longer than running it. A plan for all values overestimates the rows of a
    // range, the more the larger the table is.
    ("jit", "off"),
    ("max_parallel_workers_per_gather", "0"),
];
