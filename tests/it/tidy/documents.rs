//! Words that sources and documents do without, and examples that nothing compiles.

use std::{fs, path::PathBuf};

use super::sources::{Source, below_root, files, root};

/// A process has no person in it. What does something has a name: the writer, the client, the job.
const BANNED: [&str; 3] = ["whoever", "somebody", "nobody"];

fn findings(path: &str, text: &str) -> Vec<String> {
    let mut found = vec![];
    for (line, text) in text.lines().enumerate() {
        for word in text.split(|letter: char| !letter.is_alphabetic()) {
            if BANNED.contains(&word.to_lowercase().as_str()) && !is_unix_user(path, word) {
                found.push(format!("{path}:{}: {word}", line + 1));
            }
        }
    }
    found
}

/// The findings in the sources of the workspace and in its documents.
pub fn persons() -> Vec<String> {
    let mut paths = files(&root().join("src"), "rs");
    paths.extend(files(&root().join("crates"), "rs").into_iter().filter(|path| below_root(path).contains("/src/")));
    paths.extend(files(&root().join("docs"), "md"));
    paths.extend(files(&root().join("migrations"), "md"));
    for package in ["rules", "engine", "picture", "domain", "embedded-postgres", "db"] {
        paths.extend(files(&root().join("crates").join(package).join("src"), "md"));
        paths.push(root().join("crates").join(package).join("README.md"));
    }
    paths.extend(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|name| root().join(name)));
    let read = |path: &PathBuf| findings(&below_root(path), &fs::read_to_string(path).expect("it is text"));
    paths.iter().flat_map(read).collect()
}

/// PostgreSQL refuses to run as root; `nobody` is a Unix user that it may run as.
fn is_unix_user(path: &str, word: &str) -> bool {
    word == "nobody" && path.starts_with("crates/embedded-postgres/")
}

/// Whether a source has an example that rustdoc would compile.
fn has_example(text: &str) -> bool {
    text.lines().any(|line| ["//! ```", "/// ```"].contains(&line.trim()))
}

/// Examples of crates whose manifest says that they have none: nothing would compile them.
pub fn untested_examples(sources: &[Source]) -> Vec<String> {
    let says_none = |package: &str| {
        let manifest = root().join("crates").join(package).join("Cargo.toml");
        fs::read_to_string(manifest).is_ok_and(|text| text.contains("doctest = false"))
    };
    let with_example = sources.iter().filter(|source| has_example(&source.text) && says_none(&source.package));
    with_example.map(|source| source.path.clone()).collect()
}

#[test]
fn an_example_that_nothing_compiles_is_found() {
    let example = |path| Source::parse(path, "//! A.\n//!\n//! ```\n//! f();\n//! ```\n");
    assert_eq!(untested_examples(&[example("crates/jobs/src/lib.rs")]), ["crates/jobs/src/lib.rs"]);
    assert_eq!(untested_examples(&[example("crates/domain/src/lib.rs")]), Vec::<String>::new());
}

#[test]
fn a_person_for_a_process_is_found() {
    let bad = "A\nWhoever lost; and of nobody\nsomebody_waits";
    assert_eq!(findings("a.md", bad), ["a.md:2: Whoever", "a.md:2: nobody", "a.md:3: somebody"]);
}
