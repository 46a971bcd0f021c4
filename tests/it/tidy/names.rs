//! Names: of files, of modules and of tests; and `//!` at the head of each file.

use std::fs;

use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Attribute, ItemFn, Macro,
    visit::{self, Visit},
};

use super::sources::{Source, below_root, files, root};

const NAME_MAX: usize = 70;

/// Names for rooms in which anything may be put.
const LEFTOVERS: [&str; 10] =
    ["utils", "util", "helpers", "helper", "common", "misc", "services", "repositories", "models", "managers"];

pub fn without_head(sources: &[Source]) -> Vec<String> {
    let without = sources.iter().filter(|source| !source.text.starts_with("//!"));
    without.map(|source| format!("{} begins without //!", source.path)).collect()
}

pub fn leftovers(sources: &[Source]) -> Vec<String> {
    let is_leftover =
        |source: &&Source| source.path.trim_end_matches(".rs").split('/').any(|part| LEFTOVERS.contains(&part));
    sources.iter().filter(is_leftover).map(|source| source.path.clone()).collect()
}

/// The names of the tests in a file, also of those inside `proptest!`.
pub fn tests(text: &str) -> Vec<String> {
    struct Tests(Vec<String>);
    impl Tests {
        fn scan(&mut self, tokens: TokenStream) {
            let trees: Vec<TokenTree> = tokens.into_iter().collect();
            for at in 0..trees.len() {
                if let (TokenTree::Ident(word), Some(TokenTree::Ident(name))) = (&trees[at], trees.get(at + 1))
                    && word == "fn"
                {
                    self.0.push(name.to_string());
                }
            }
        }
    }
    impl<'ast> Visit<'ast> for Tests {
        fn visit_item_fn(&mut self, function: &'ast ItemFn) {
            let is_test =
                |attribute: &Attribute| attribute.path().segments.last().is_some_and(|name| name.ident == "test");
            if function.attrs.iter().any(is_test) {
                self.0.push(function.sig.ident.to_string());
            }
            visit::visit_item_fn(self, function);
        }

        fn visit_macro(&mut self, call: &'ast Macro) {
            if call.path.is_ident("proptest") {
                self.scan(call.tokens.clone());
            }
        }
    }
    let mut tests = Tests(vec![]);
    tests.visit_file(&syn::parse_file(text).expect("a source is Rust"));
    tests.0
}

fn long_names(path: &str, text: &str) -> Vec<String> {
    let long = tests(text).into_iter().filter(|name| name.len() > NAME_MAX);
    long.map(|name| format!("{path}: {} letters: {name}", name.len())).collect()
}

/// The long names of all tests of the workspace.
pub fn long_test_names() -> Vec<String> {
    let folders = ["src", "crates", "tests", "benches"];
    let (mut count, mut long) = (0, vec![]);
    for path in folders.iter().flat_map(|folder| files(&root().join(folder), "rs")) {
        let text = fs::read_to_string(&path).expect("a source is text");
        if text.contains("test]") {
            count += tests(&text).len();
            long.extend(long_names(&below_root(&path), &text));
        }
    }
    if count < 500 {
        long.push(format!("only {count} tests: the rule has lost sight of them"));
    }
    long
}

#[test]
fn bad_names_and_missing_heads_are_found() {
    let long = "a".repeat(NAME_MAX + 1);
    let is_found = |text: &str| !long_names("a.rs", text).is_empty();
    assert!(is_found(&format!("#[test] fn {long}() {{}}")));
    assert!(is_found(&format!("#[cfg(test)] mod tests {{ #[actix_web::test] async fn {long}() {{}} }}")));
    assert!(is_found(&format!("proptest! {{ #[test] fn {long}(a in 0..1) {{}} }}")));
    assert!(!is_found(&format!("fn {long}() {{}} #[test] fn a() {{}}")));
    let bad = [Source::parse("crates/db/src/utils.rs", "fn f() {}"), Source::parse("src/http/common/a.rs", "//! A.")];
    assert_eq!((without_head(&bad).len(), leftovers(&bad).len()), (1, 2));
}
