//! Files: how long each is. What lies at the root.

use std::fs;

use super::sources::{below_root, files, root};

const LINES_MAX: usize = 500;

/// Folders with sources that are written by hand, and the ends of their names.
const FOLDERS: [(&str, &str); 9] = [
    ("src", "rs"),
    ("crates", "rs"),
    ("tests", "rs"),
    ("benches", "rs"),
    ("web/src", "ts"),
    ("web/src", "tsx"),
    ("web/tests", "ts"),
    ("clients/typescript/src", "ts"),
    ("clients/typescript/test", "ts"),
];

/// What generators write: the types of the OpenAPI document, and clients that tests make.
const GENERATED: [&str; 2] = ["clients/typescript/src/schema.ts", "/generated/"];

/// What lies at the root, beside hidden folders. Notes, logs, drafts and what a run leaves have no place there. `.git` is a
/// file in a worktree, and `.env` is a developer's own.
const ROOT: [&str; 34] = [
    ".dockerignore",
    ".env",
    ".env.example",
    ".git",
    ".git-blame-ignore-revs",
    ".gitignore",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "Dockerfile",
    "LICENSE",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "RELEASES.md",
    "benches",
    "build.rs",
    "clients",
    "clippy.toml",
    "crates",
    "deny.toml",
    "deploy",
    "docker-compose.yml",
    "docs",
    "migrations",
    "openapi",
    "rustfmt.toml",
    "src",
    "target",
    "templates",
    "tests",
    "web",
];

fn long_file(path: &str, text: &str) -> Option<String> {
    let lines = text.lines().count();
    (lines > LINES_MAX && !GENERATED.iter().any(|part| path.contains(part))).then(|| format!("{path}: {lines} lines"))
}

pub fn long_files() -> Vec<String> {
    let mut paths = vec![root().join("build.rs")];
    paths.extend(FOLDERS.iter().flat_map(|(folder, extension)| files(&root().join(folder), extension)));
    assert!(paths.len() > 800, "{}", paths.len());
    let read = |path| fs::read_to_string(path).expect("a source is text");
    paths.iter().filter_map(|path| long_file(&below_root(path), &read(path))).collect()
}

fn is_out_of_place(name: &str, is_folder: bool) -> bool {
    !(ROOT.contains(&name) || is_folder && name.starts_with('.'))
}

pub fn out_of_place() -> Vec<String> {
    let entries = fs::read_dir(root()).expect("the root can be read").map(|entry| entry.expect("an entry"));
    let named = entries.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path().is_dir()));
    named.filter(|(name, is_folder)| is_out_of_place(name, *is_folder)).map(|(name, _)| name).collect()
}

#[test]
fn a_long_file_and_one_out_of_place_are_found() {
    let long = "a\n".repeat(LINES_MAX + 1);
    assert!(long_file("src/a.rs", &long).is_some() && long_file("src/a.rs", &long[2..]).is_none());
    assert_eq!(long_file(GENERATED[0], &long), None);
    assert!(is_out_of_place("NOTES.md", false) && is_out_of_place("pgdata", true));
    assert!(!is_out_of_place("README.md", false) && !is_out_of_place(".idea", true));
}
