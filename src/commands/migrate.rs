//! `migrate`: runs the pending migrations.

use mancala_server::{config::Serve, db::migrations};

use super::{database::with_database, failure::Failure};

pub fn migrate(options: &Serve) -> Result<(), Failure> {
    with_database(options, async |database, _| {
        migrations::run_within(&database, options.database.wait()).await.map_err(Failure::new)
    })
}
