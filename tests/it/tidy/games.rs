//! Only the rules distinguish games, and the engine, which searches each well.
//!
//! So another game needs nothing outside of `rules` but to be searched well. Inside, `variant.rs` and the files of `any/` list
//! the games.

use mancala_server::rules::Variant;
use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Attribute, LitStr, Macro, Path, UsePath,
    spanned::Spanned,
    visit::{self, Visit},
};

use super::sources::Source;

/// Looks for the words of games in code: `Variant::Kalah`, `kalah::…` and `"kalah"`.
struct Words {
    games: Vec<(&'static str, String)>,
    found: Vec<(usize, String)>,
}

impl Words {
    fn path(&mut self, parts: &[String], line: usize) {
        let is_game = |(title, word): &(&str, String)| {
            parts.iter().skip(1).any(|part| part == title) || parts.iter().rev().skip(1).any(|part| part == word)
        };
        if self.games.iter().any(is_game) {
            self.found.push((line, parts.join("::")));
        }
    }

    fn text(&mut self, text: &str, line: usize) {
        if self.games.iter().any(|(_, word)| text == word) {
            self.found.push((line, format!("{text:?}")));
        }
    }

    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = vec![];
        for tree in tokens {
            let line = tree.span().start().line;
            match tree {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Literal(literal) => self.text(literal.to_string().trim_matches('"'), line),
                TokenTree::Ident(ident) => {
                    path.push(ident.to_string());
                    self.path(&path.clone(), line);
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => {}
                TokenTree::Punct(_) => path.clear(),
            }
        }
    }
}

impl<'ast> Visit<'ast> for Words {
    fn visit_use_path(&mut self, path: &'ast UsePath) {
        // An import of a game's module, and what it takes from there.
        self.path(&[path.ident.to_string(), String::new()], path.ident.span().start().line);
        visit::visit_use_path(self, path);
    }

    fn visit_path(&mut self, path: &'ast Path) {
        let parts: Vec<_> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.path(&parts, path.span().start().line);
        visit::visit_path(self, path);
    }

    fn visit_lit_str(&mut self, literal: &'ast LitStr) {
        self.text(&literal.value(), literal.span().start().line);
    }

    /// What a document shows as an example is no decision.
    fn visit_attribute(&mut self, _: &'ast Attribute) {}

    fn visit_macro(&mut self, call: &'ast Macro) {
        self.tokens(call.tokens.clone());
    }
}

fn words_of_games(source: &Source) -> Vec<(usize, String)> {
    let games = Variant::ALL.map(|variant| (variant.title(), variant.to_string())).to_vec();
    let mut words = Words { games, found: vec![] };
    words.visit_file(&source.file);
    words.found
}

pub fn findings(sources: &[Source]) -> Vec<String> {
    let mut findings = vec![];
    for list in ["variant", "any"] {
        let is_list =
            |source: &&Source| source.package == "rules" && source.module.first().is_some_and(|first| first == list);
        if !sources.iter().filter(is_list).any(|source| !words_of_games(source).is_empty()) {
            findings.push(format!("rules/{list} does not list the games: the rule has lost sight of them"));
        }
    }
    findings.extend(elsewhere(sources));
    findings
}

fn elsewhere(sources: &[Source]) -> Vec<String> {
    let elsewhere = sources.iter().filter(|source| !source.is_of(&["rules", "engine"]));
    let found = elsewhere.flat_map(|source| words_of_games(source).into_iter().map(move |found| (source, found)));
    found.map(|(source, (line, word))| format!("{}:{line} names {word}", source.path)).collect()
}

#[test]
fn a_game_outside_of_the_rules_is_found() {
    for bad in [
        "fn f() { Variant::Oware }",
        "fn f() { match v { Variant::Kalah => 1 } }",
        "use mancala_rules::kalah::Options;",
        "fn f() { v == \"congkak\" }",
        "fn f() { json!({ \"variant\": \"kalah\" }) }",
        "fn f() { matches!(v, Variant::Oware) }",
    ] {
        assert!(!elsewhere(&[Source::parse("src/http/a.rs", bad)]).is_empty(), "{bad}");
        assert!(elsewhere(&[Source::parse("crates/rules/src/a.rs", bad)]).is_empty(), "{bad}");
    }
    let shown = "/// Kalah.\n#[schema(example = \"kalah\")]\nfn f() { \"kalah and others\" }";
    assert_eq!(elsewhere(&[Source::parse("src/http/a.rs", shown)]), Vec::<String>::new());
}
