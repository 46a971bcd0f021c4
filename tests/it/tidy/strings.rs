//! Strings that go on in the next line. The compiler drops the break and the blanks behind it, so a word may run into the next one.

use std::fs;

use super::sources::{below_root, files, root};

/// Whether a line continues a string without a blank, a break or the opening quotation mark before the backslash.
fn joins_words(line: &str) -> bool {
    let is_comment = line.trim_start().starts_with("//");
    let Some(before) = line.strip_suffix('\\').filter(|_| !is_comment) else { return false };
    !(before.is_empty() || before.ends_with([' ', '"', '\\']) || before.ends_with("\\n"))
}

fn findings(path: &str, text: &str) -> Vec<String> {
    let lines = text.lines().enumerate().filter(|(_, line)| joins_words(line));
    lines.map(|(at, line)| format!("{path}:{}: {}", at + 1, line.trim())).collect()
}

pub fn joined_words() -> Vec<String> {
    let mut paths = vec![root().join("build.rs")];
    paths.extend(["src", "crates", "tests", "benches"].iter().flat_map(|folder| files(&root().join(folder), "rs")));
    let read = |path| fs::read_to_string(path).expect("a source is text");
    paths.iter().flat_map(|path| findings(&below_root(path), &read(path))).collect()
}

#[test]
fn a_string_that_joins_words_is_found() {
    let good = ["let a = \"an \\", "    account\\n\\", "let a = \"\\", "// an\\", "let a = 'a';"];
    assert!(!good.iter().any(|line| joins_words(line)));
    assert_eq!(findings("a.rs", "let a = \"an\\\n    account\";"), ["a.rs:1: let a = \"an\\"]);
}
