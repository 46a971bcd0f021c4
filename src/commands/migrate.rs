//! `migrate`: runs the pending migrations.

use mancala_server::{
    config::{self, Serve},
    db::{migrations, rights},
};

use super::{database::with_database, failure::Failure};

pub fn migrate(options: &Serve, of: &config::Migrate) -> Result<(), Failure> {
    with_database(options, async |database, _| {
        migrations::run_within(&database, options.database.wait()).await?;
        let Some(role) = &of.grant_to else { return Ok(()) };
        rights::grant(&database, role).await.map_err(|error| Failure::with_cause(&error))
    })
}
