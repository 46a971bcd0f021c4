//! `upgrade`: moves the embedded database to a newer major version of PostgreSQL.

use mancala_server::{
    config::{Serve, Upgrade},
    embedded::{self, Upgraded},
    telemetry,
};

use super::{
    database::{check_meant, data_folder},
    failure::Failure,
    output::print,
};

pub fn upgrade(options: &Serve, upgrade: &Upgrade) -> Result<(), Failure> {
    let _telemetry = telemetry::init(options.log_format).map_err(Failure::misuse)?;
    if options.database.database_url.is_some() {
        return Err(Failure::misuse(
            "upgrade is for the embedded PostgreSQL, and DATABASE_URL names another one: see its own documentation",
        ));
    }
    check_meant(options)?;
    let folder = data_folder(&options.database)?;
    // A signal kills the process, which changes nothing: the new database gets its place in one step.
    let Upgraded { from, to, kept } = embedded::upgrade(&folder, upgrade.programs.as_deref()).map_err(Failure::new)?;
    print(&format_args!("the database was moved from PostgreSQL {from} to {to}\n"))?;
    print(&format_args!("the former one is kept in {}: delete it when it is not needed\n", kept.display()))
}
