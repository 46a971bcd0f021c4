//! Gives the binary the commit that it is built from, as `MANCALA_COMMIT`, and the files of the web page, as `page_files.rs`.
//!
//! The variable `MANCALA_COMMIT` of the build wins, because an image is built without git's folder. A release build asks git, and
//! adds `-dirty` if files of the commit were changed. A debug build without the variable says `debug`: otherwise every commit
//! would build the tests anew.

use std::{
    env,
    fmt::Write,
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

/// The built web page. It is committed, so that a build needs no Node.js.
const PAGE: &str = "web/dist";

fn main() {
    println!("cargo::rerun-if-env-changed=MANCALA_COMMIT");
    let given = env::var("MANCALA_COMMIT").ok().filter(|commit| is_commit(commit));
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let found = || if is_release { of_git().unwrap_or_else(|| "unknown".to_owned()) } else { "debug".to_owned() };
    println!("cargo::rustc-env=MANCALA_COMMIT={}", given.unwrap_or_else(found));
    embed_page();
}

/// Writes the list of the page's files, each as its path below `web/dist` and its content, which the compiler includes.
fn embed_page() {
    println!("cargo::rerun-if-changed={PAGE}");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join(PAGE);
    let mut files = vec![];
    collect_files(&root, &mut files).expect("web/dist is committed and can be read");
    files.sort();
    let mut list = String::from("[\n");
    for file in &files {
        let below = file.strip_prefix(&root).expect("it was found there");
        let name = below.to_str().expect("names are ASCII").replace('\\', "/");
        let path = file.to_str().expect("the compiler reads paths in UTF-8");
        writeln!(list, "    ({name:?}, include_bytes!({path:?})),").expect("a String takes everything");
    }
    list.push_str("]\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("page_files.rs");
    fs::write(out, list).expect("cargo's folder can be written");
}

/// The files of a folder and of those in it.
fn collect_files(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            collect_files(&entry.path(), files)?;
        } else {
            files.push(entry.path());
        }
    }
    Ok(())
}

/// The commit that git has checked out, if the sources are in a repository.
fn of_git() -> Option<String> {
    // Changes with every commit and every checkout; in a worktree it is in another folder.
    // Sources in a folder of another repository, such as those of a tarball, have no commit.
    git(&["rev-parse", "--show-prefix"]).filter(String::is_empty)?;
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    println!("cargo::rerun-if-changed={log}");
    let commit = git(&["rev-parse", "HEAD"]).filter(|commit| is_commit(commit))?;
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
    }
    let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changed.is_empty() { commit } else { format!("{commit}-dirty") })
}

/// What a release is built from. A change there makes the tree dirty, or clean again.
const SOURCES: [&str; 10] =
    ["Cargo.toml", "Cargo.lock", ".cargo", ".sqlx", "build.rs", "src", "crates", "docs", "migrations", "templates"];

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Whether this is a full or a shortened hash of git, which may be marked as dirty.
fn is_commit(text: &str) -> bool {
    let text = text.strip_suffix("-dirty").unwrap_or(text);
    (7..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
