//! The names of the service's sessions in PostgreSQL: `application_name` in `pg_stat_activity` and in PostgreSQL's log.

use std::sync::LazyLock;

use nix::unistd::gethostname;

/// How the names of all sessions of this and later releases begin; the version follows. Sessions of 0.3.0 have
/// [`OF_FORMER`].
const PRODUCT: &str = "mancala-server";

/// The name of all sessions of a server of 0.3.0, which reads no archived logs.
pub(crate) const OF_FORMER: &str = PRODUCT;

/// PostgreSQL cuts names at 63 bytes. This much is left for the name of the machine.
const HOST_BYTES_MAX: usize = 32;

static SESSION: LazyLock<String> = LazyLock::new(|| {
    let host = gethostname().ok().and_then(|host| host.into_string().ok()).unwrap_or_default();
    format!("{PRODUCT} {} {}", env!("CARGO_PKG_VERSION"), &host[..host.floor_char_boundary(HOST_BYTES_MAX)])
});

/// The name of a session: product, version and machine.
pub(super) fn session_name() -> &'static str {
    &SESSION
}

/// The name of a session with a task of its own, which stands at the end.
pub(crate) fn session_name_for(task: &str) -> String {
    format!("{} {task}", *SESSION)
}
