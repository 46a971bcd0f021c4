//! PostgreSQL's programs, and wrappers around them, which add settings that the embedded PostgreSQL does not pass on.

use std::{
    env, fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

/// PostgreSQL's own folder of programs.
pub fn folder() -> io::Result<PathBuf> {
    let named = env::var_os("PG_BIN").map(PathBuf::from);
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let newest = versions
        .filter_map(|version| Some((version.file_name().to_str()?.parse::<u32>().ok()?, version.path().join("bin"))))
        .filter(|(_, folder)| folder.join("pgbench").is_file())
        .max()
        .map(|(_, folder)| folder);
    let configured = || {
        let output = Command::new("pg_config").arg("--bindir").output().ok()?;
        Some(PathBuf::from(String::from_utf8(output.stdout).ok()?.trim()))
    };
    let found = named.or(newest).or_else(configured).filter(|folder| folder.join("pgbench").is_file());
    found.ok_or_else(|| io::Error::other("the bench needs PostgreSQL's programs, and pgbench among them: see PG_BIN"))
}

/// Writes a folder of wrapper scripts around PostgreSQL's programs, for `PG_BIN`. The server gets `options` as well, and runs after the lines
/// of shell `before`.
pub fn write_wrappers(folder: &Path, own: &Path, before: &str, options: &str) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let own = own.display();
    // Only the server gets the options: other uses of the program end with the name of a database.
    let add = format!("[ \"$1\" = -D ] && set -- \"$@\" {options}\n");
    write_program(&folder.join("postgres"), &format!("{before}{add}exec '{own}/postgres' \"$@\"\n"))?;
    for name in ["initdb", "pgbench"] {
        write_program(&folder.join(name), &format!("exec '{own}/{name}' \"$@\"\n"))?;
    }
    Ok(())
}

fn write_program(path: &Path, script: &str) -> io::Result<()> {
    fs::write(path, format!("#!/bin/sh\n{script}"))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}
