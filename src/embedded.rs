//! The embedded PostgreSQL, which is the default database, and how sqlx connects to it.
//!
//! The crate `mancala-embedded-postgres` runs the server and knows no client library; the crate `mancala-db` knows no
//! embedded server. This module connects the two.

use std::path::Path;

use mancala_embedded_postgres::{DATABASE, USER, socket_of_running};
pub use mancala_embedded_postgres::{Durability, Embedded, EmbeddedError, PORT, Settings, Tools, Upgraded, upgrade};
use sqlx::postgres::PgConnectOptions;

/// The options of a connection to a running embedded PostgreSQL, through its Unix socket.
pub fn connect_options(embedded: &Embedded) -> PgConnectOptions {
    through(embedded.socket_folder())
}

/// The options of a connection to the PostgreSQL that another process runs on a data folder; `None` if none does.
pub fn connect_options_of_running(folder: &Path) -> Option<PgConnectOptions> {
    socket_of_running(folder).map(|socket_folder| through(&socket_folder))
}

fn through(socket_folder: &Path) -> PgConnectOptions {
    let options = PgConnectOptions::new_without_pgpass().host(&socket_folder.to_string_lossy()).port(PORT);
    options.username(USER).database(DATABASE)
}
