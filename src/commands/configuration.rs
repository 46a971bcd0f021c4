//! `configuration`: prints `docs/configuration.md`.

use mancala_server::config;

use super::{failure::Failure, output::print};

pub fn configuration() -> Result<(), Failure> {
    print(&config::reference())
}
