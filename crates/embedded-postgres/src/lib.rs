//! Runs a PostgreSQL server as a child process on a data folder.
//!
//! [`Embedded::start`] creates the database if there is none, starts the server, restarts it when it dies, and stops it
//! when the value is dropped. A client sees a socket folder, a user and a database, and no process.
//!
//! ```no_run
//! use mancala_embedded_postgres::{Durability, Embedded, PORT, Settings};
//!
//! let settings = Settings { folder: "data".into(), durability: Durability::Durable };
//! let postgres = Embedded::start(&settings)?;
//! let (folder, user, database) = (postgres.socket_folder(), postgres.user(), postgres.database());
//! println!("postgres://{user}@localhost:{PORT}/{database}?host={}", folder.display());
//! postgres.stop();
//! # Ok::<(), mancala_embedded_postgres::EmbeddedError>(())
//! ```
//!
//! `supervisor` keeps one PostgreSQL running. `cluster` owns the data folder. `postmaster` is one run of the server.
//! `leftovers` ends the processes of a killed run. `socket` is the folder that clients connect through. `log` is
//! PostgreSQL's log file. `binaries` finds the programs. `tools` are those that dump and restore. `upgrade` moves a
//! database to another major version. `fork` has the only unsafe code.
//!
//! The crate does not know tables, migrations, connection pools or any client library.

#![deny(missing_docs)]
#![deny(unsafe_op_in_unsafe_fn)]

mod binaries;
mod child;
mod cluster;
mod embedded;
mod error;
mod file_system;
mod fork;
mod home;
mod identity;
mod leftovers;
mod log;
mod poll;
mod postmaster;
mod processes;
mod settings;
mod socket;
mod stop;
mod supervisor;
mod tools;
mod upgrade;
mod version;
mod work_folder;

pub use embedded::Embedded;
pub use error::EmbeddedError;
pub use home::socket_of_running;
pub use settings::{DATABASE, Durability, PORT, Settings, USER};
pub use tools::Tools;
pub use upgrade::{Upgraded, upgrade};
