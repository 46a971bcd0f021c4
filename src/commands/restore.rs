//! `restore`: replaces the database by a backup.
//!
//! The backup is restored into a new database beside the current one. When it is complete, both exchange their names in one transaction. So
//! a restore that fails or is interrupted changes nothing, and servers may run.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

use mancala_server::{
    clock,
    config::{Restore, Serve},
    db::{databases, migrations},
    http::Tokens,
};
use sqlx::postgres::PgConnectOptions;

use super::{
    backup::key_beside,
    database::{data_folder, with_database},
    failure::Failure,
    keys::EMBEDDED_KEY,
    output::print,
    tools,
    whole_file::Partial,
};

pub fn restore(options: &Serve, restore: &Restore) -> Result<(), Failure> {
    // pg_restore would say it after the database was created.
    fs::File::open(&restore.file).map_err(|error| Failure::of_file(&restore.file, &error))?;
    let stamp = clock::now().unix_timestamp();
    let (kept, key) = with_database(options, async |database, _| {
        let key = key_of(options, &restore.file)?;
        let database = database.present_host();
        let is_empty = databases::is_empty(&database).await.map_err(Failure::new)?;
        if !is_empty && !restore.replace {
            return Err(Failure::new(
                "the database has games or players: --replace puts the backup in its place, and keeps it under another name",
            ));
        }
        let current = databases::name(&database);
        let restored = databases::name_beside(current, "_restore");
        let kept = databases::name_beside(current, &format!("_before_{stamp}"));
        if let Err(failure) = fill(options, &database, &restored, &restore.file).await {
            // The next restore removes what an interruption leaves.
            let _ = databases::drop_unfinished(&database, &restored).await;
            return Err(failure);
        }
        databases::exchange(&database, &restored, &kept).await.map_err(Failure::new)?;
        let key = key.map_or(Ok(Key::Unchanged), |key| place_key(options, &key, stamp))?;
        if is_empty {
            databases::drop(&database, &kept).await.map_err(Failure::new)?;
        }
        Ok(((!is_empty).then_some(kept), key))
    })?;
    print(&format_args!("{} is restored\n", restore.file.display()))?;
    if let Some(kept) = kept {
        print(&format_args!("the database that was there is kept as {kept}: drop it when it is not needed\n"))?;
    }
    match key {
        Key::Unchanged => Ok(()),
        Key::Placed => print(&"the signing key of the backup is in place: restart a server that runs\n"),
        Key::Replaced(old) => print(&format_args!(
            "the signing key of the backup is in place: restart a server that runs; the former key is {}\n",
            old.display()
        )),
    }
}

/// Creates the database `name`, fills it from the file, and brings it up to date.
async fn fill(options: &Serve, database: &PgConnectOptions, name: &str, file: &Path) -> Result<(), Failure> {
    let programs = tools::find(database).await?;
    if !databases::drop_unfinished(database, name).await.map_err(Failure::new)? {
        return Err(Failure::new(format!(
            "there is a database {name} that no restore has made: rename it, or drop it"
        )));
    }
    databases::create(database, name).await.map_err(|error| {
        Failure::new(format!("the database user must be allowed to create databases (alter role … createdb): {error}"))
    })?;
    let mut command = programs.restore();
    command.args(["--no-owner", "--exit-on-error", "--jobs=2"]).arg(file);
    tools::connect(&mut command, &options.database, database, Some(name));
    tools::run(programs, command).await?;
    // A backup of an older release is brought up to date; one of a newer release is refused here.
    Ok(migrations::run(database.clone().database(name)).await?)
}

/// The fate of the signing key of the embedded database.
enum Key {
    Unchanged,
    Placed,
    /// The key was replaced; the former one is at this path.
    Replaced(PathBuf),
}

/// The key of the backup, if it belongs into the data folder.
fn key_of(options: &Serve, file: &Path) -> Result<Option<String>, Failure> {
    let beside = key_beside(file);
    let key = match fs::read_to_string(&beside) {
        Ok(key) => key,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Failure::of_file(&beside, &error)),
    };
    if options.database.database_url.is_some() {
        tracing::info!("the signing key is not placed: name {} in JWT_PRIVATE_KEY_FILE", beside.display());
        return Ok(None);
    }
    if Tokens::from_pem(&key, &options.jwt_issuer, &options.jwt_audience).is_none() {
        return Err(Failure::of_file(&beside, &"it is no Ed25519 key: nothing is restored"));
    }
    Ok(Some(key))
}

/// Puts a key into the data folder.
fn place_key(options: &Serve, key: &str, stamp: i64) -> Result<Key, Failure> {
    let place = data_folder(&options.database)?.join(EMBEDDED_KEY);
    exchange_key(&place, key.as_bytes(), stamp).map_err(|error| {
        let place = place.display();
        Failure::new(format!("the database is restored, and its signing key is not in place: {place}: {error}"))
    })
}

fn exchange_key(place: &Path, key: &[u8], stamp: i64) -> io::Result<Key> {
    let found = match fs::read(place) {
        Ok(found) if found == key => return Ok(Key::Unchanged),
        Ok(_) => true,
        Err(error) if error.kind() == io::ErrorKind::NotFound => false,
        Err(error) => return Err(error),
    };
    let partial = Partial::create(place)?;
    fs::write(partial.path(), key)?;
    if !found {
        partial.place_new(place)?;
        return Ok(Key::Placed);
    }
    let mut old = OsString::from(place);
    old.push(format!(".before_{stamp}"));
    let old = PathBuf::from(old);
    fs::hard_link(place, &old)?;
    partial.place(place)?;
    Ok(Key::Replaced(old))
}
