//! `backup`: writes the database to a file, and the signing key of the embedded one beside it.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

use mancala_server::{
    config::{Backup, Serve},
    db::backups,
};
use sqlx::postgres::PgConnectOptions;

use super::{
    database::{data_folder, with_database},
    failure::Failure,
    keys::EMBEDDED_KEY,
    output::print,
    tools,
    whole_file::Partial,
};

pub fn backup(options: &Serve, backup: &Backup) -> Result<(), Failure> {
    let (place, key_place) = (&backup.file, key_beside(&backup.file));
    let key = match options.database.database_url {
        None => Some(data_folder(&options.database)?.join(EMBEDDED_KEY)),
        Some(_) => None,
    };
    for place in [Some(place), key.as_ref().map(|_| &key_place)].into_iter().flatten() {
        if fs::symlink_metadata(place).is_ok() {
            return Err(Failure::new(format!("{} is there already: a backup replaces no file", place.display())));
        }
    }
    let has_key = with_database(options, async |database, pool| {
        let dump = dump(options, &database.present_host(), place).await?;
        let has_key = match &key {
            Some(key) => copy_key(key, &key_place).map_err(|error| Failure::of_file(&key_place, &error))?,
            None => false,
        };
        // The dump is placed last: if it is there, the whole backup is.
        dump.place_new(place).map_err(|error| Failure::of_file(place, &error))?;
        // The backup is good without it: the database may be a standby, or of an older release.
        if let Err(error) = backups::note(&pool).await {
            tracing::warn!(
                "the backup is complete, but the database does not know of it, and alerts will say so: {error}"
            );
        }
        Ok(has_key)
    })?;
    print(&format_args!("{}\n", place.display()))?;
    if has_key { print(&format_args!("{}\n", key_place.display())) } else { Ok(()) }
}

/// The file of the key that belongs to a backup.
pub fn key_beside(file: &Path) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(".key");
    PathBuf::from(name)
}

/// Dumps a snapshot of the database, while servers run.
async fn dump(options: &Serve, database: &PgConnectOptions, place: &Path) -> Result<Partial, Failure> {
    let programs = tools::find(database).await?;
    let partial = Partial::create(place).map_err(|error| Failure::of_file(place, &error))?;
    let mut command = programs.dump();
    command.args(["--format=custom", "--file"]).arg(partial.path());
    tools::connect(&mut command, &options.database, database, None);
    tools::run(programs, command).await?;
    Ok(partial)
}

/// Copies the key. `false` if there is none yet: no server has run.
fn copy_key(key: &Path, place: &Path) -> io::Result<bool> {
    let content = match fs::read(key) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        content => content?,
    };
    let partial = Partial::create(place)?;
    fs::write(partial.path(), content)?;
    partial.place_new(place)?;
    Ok(true)
}
