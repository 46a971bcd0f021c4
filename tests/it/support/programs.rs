//! Where PostgreSQL's programs are.

use std::{fs, path::PathBuf, process::Command};

/// The programs that the tests have: of one version only.
pub fn programs() -> PathBuf {
    let output = Command::new("pg_config").arg("--bindir").output();
    let named = output.ok().map(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()));
    let folders =
        fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten().map(|entry| entry.path().join("bin"));
    let mut all = named.into_iter().chain(folders);
    all.find(|folder| folder.join("postgres").is_file()).expect("the tests need the programs of PostgreSQL")
}
