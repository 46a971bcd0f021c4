//! PostgreSQL's programs, and wrappers around them. The wrappers allow as many connections as pgbench needs, and can make
//! flushes to the disk slower.

use std::{
    env, fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use crate::settings::counts_statements;

/// Enough for the most clients of pgbench and for the service; the embedded PostgreSQL allows 100.
const CONNECTIONS_MAX: u32 = 400;

/// The duration of a flush to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disk {
    /// As on this machine.
    AsIs,
    /// A millisecond longer: virtual machines often flush in microseconds, and real disks do not.
    Slow,
}

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

/// Writes a folder of wrapper scripts around PostgreSQL's programs, for `PG_BIN`. They add options and an environment,
/// which the embedded PostgreSQL cannot pass on.
pub fn write_wrappers(folder: &Path, own: &Path, disk: Disk) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let preload = match disk {
        Disk::AsIs => String::new(),
        Disk::Slow => {
            let library = folder.join("slow_flush.so");
            compile(&library)?;
            format!("LD_PRELOAD='{}'\nexport LD_PRELOAD\n", library.display())
        }
    };
    let own = own.display();
    // Only the server gets the option: other uses of the program end with the name of a database.
    let counting = if counts_statements() { " -c shared_preload_libraries=pg_stat_statements" } else { "" };
    let option = format!("[ \"$1\" = -D ] && set -- \"$@\" -c max_connections={CONNECTIONS_MAX}{counting}\n");
    write_program(&folder.join("postgres"), &format!("{preload}{option}exec '{own}/postgres' \"$@\"\n"))?;
    for name in ["initdb", "pgbench"] {
        write_program(&folder.join(name), &format!("exec '{own}/{name}' \"$@\"\n"))?;
    }
    Ok(())
}

fn write_program(path: &Path, script: &str) -> io::Result<()> {
    fs::write(path, format!("#!/bin/sh\n{script}"))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

fn compile(library: &Path) -> io::Result<()> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/moves/slow_flush.c");
    let status =
        Command::new("cc").args(["-O2", "-shared", "-fPIC", "-o"]).arg(library).arg(source).arg("-ldl").status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other("cc: slow_flush.c did not compile")) }
}
