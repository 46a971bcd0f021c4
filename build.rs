//! Gives the binary the commit that it is built from, as `MANCALA_COMMIT`.
//!
//! The variable `MANCALA_COMMIT` of the build wins, because an image is built without git's folder. A release build asks git.
//! A debug build without the variable has no commit: otherwise every commit would build the tests anew.

use std::{env, process::Command};

fn main() {
    println!("cargo::rerun-if-env-changed=MANCALA_COMMIT");
    let given = env::var("MANCALA_COMMIT").ok().filter(|commit| is_commit(commit));
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let commit = given.or_else(|| is_release.then(of_git).flatten());
    println!("cargo::rustc-env=MANCALA_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
}

/// The commit that git has checked out, if the sources are in a repository.
fn of_git() -> Option<String> {
    // Changes with every commit and every checkout; in a worktree it is in another folder.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    println!("cargo::rerun-if-changed={log}");
    git(&["rev-parse", "HEAD"]).filter(|commit| is_commit(commit))
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Whether this is a full or a shortened hash of git.
fn is_commit(text: &str) -> bool {
    (7..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
