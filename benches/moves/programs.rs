//! PostgreSQL's programs: where they are, and how the bench's own run of them differs from a user's. It lets pgbench have as many
//! connections as there are games at once, and, when asked to, flushes to the disk more slowly.

use std::{
    env, fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

/// As many games at once as are measured, and the service's own connections; the embedded PostgreSQL allows 100.
const CONNECTIONS_MAX: u32 = 400;

/// How long a flush to the disk takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disk {
    /// As long as this machine's.
    AsIs,
    /// A millisecond longer: these days' virtual machines flush in microseconds, which real disks do not.
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
    let told = || {
        let output = Command::new("pg_config").arg("--bindir").output().ok()?;
        Some(PathBuf::from(String::from_utf8(output.stdout).ok()?.trim()))
    };
    let found = named.or(newest).or_else(told).filter(|folder| folder.join("pgbench").is_file());
    found.ok_or_else(|| io::Error::other("the bench needs PostgreSQL's programs, and pgbench among them: see PG_BIN"))
}

/// Makes a folder of programs that stand in for PostgreSQL's own: what `PG_BIN` is to name. The embedded PostgreSQL gives its
/// programs neither options nor an environment of ours, so they get them here.
pub fn stand_ins(folder: &Path, own: &Path, disk: Disk) -> io::Result<()> {
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
    // Only the server is told of connections: other uses of the program end with the name of a database.
    let more = format!("[ \"$1\" = -D ] && set -- \"$@\" -c max_connections={CONNECTIONS_MAX}\n");
    write_program(&folder.join("postgres"), &format!("{preload}{more}exec '{own}/postgres' \"$@\"\n"))?;
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
