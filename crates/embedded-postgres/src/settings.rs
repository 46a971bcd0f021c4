//! The options of a server, and the fixed names that a client connects with. Knows no process and no file.

use std::path::PathBuf;

/// What to run, and where.
///
/// ```
/// use mancala_embedded_postgres::{Durability, Settings};
///
/// let settings = Settings { folder: "data".into(), durability: Durability::default() };
/// assert_eq!(settings.durability, Durability::Durable);
/// ```
#[derive(Clone, Debug)]
pub struct Settings {
    /// The data folder; created if it is missing. One server at a time may own it.
    pub folder: PathBuf,
    /// The failures that a commit survives.
    pub durability: Durability,
}

/// The failures that a commit survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// A commit survives power loss.
    #[default]
    Durable,
    /// A commit survives the death of the server, but not of the machine: for tests.
    Ephemeral,
}

/// The port to connect to. It only names the socket file, `.s.PGSQL.5432`: the server listens on no TCP port.
pub const PORT: u16 = 5432;

/// The role of clients. It owns [`DATABASE`] and may create databases. It is no superuser, so that injected SQL cannot
/// run programs.
pub const USER: &str = "mancala";

/// The database of clients.
pub const DATABASE: &str = "mancala";
