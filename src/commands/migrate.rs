//! `migrate`: runs the pending migrations.

use mancala_server::{config::Serve, db::migrations};

use super::{database::with_database, failure::Failure};

pub fn migrate(options: &Serve) -> Result<(), Failure> {
    with_database(options, "stopped before the database was up to date", async |database, _| {
        migrations::run(database).await.map_err(Failure::new)
    })
}
