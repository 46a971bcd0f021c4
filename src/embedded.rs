//! The embedded PostgreSQL, which is the default database, and how sqlx connects to it.
//!
//! The crate `mancala-embedded-postgres` runs the server and knows no client library; the crate `mancala-db` knows no
//! embedded server. This module connects the two.

pub use mancala_embedded_postgres::{Durability, Embedded, EmbeddedError, PORT, Settings};
use sqlx::postgres::PgConnectOptions;

/// The options of a connection to a running embedded PostgreSQL, through its Unix socket.
pub fn connect_options(embedded: &Embedded) -> PgConnectOptions {
    PgConnectOptions::new_without_pgpass()
        .host(&embedded.socket_folder().to_string_lossy())
        .port(PORT)
        .username(embedded.user())
        .database(embedded.database())
}
