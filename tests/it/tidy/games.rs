//! A game is a folder of the rules. Elsewhere, few files name games:
//!
//! - in the rules `games.rs`, the list; `packed/`, forms for fast searches; and `notation/`, texts of other programs;
//! - in the engine `games.rs`, the table of what it knows of each game.

use std::fs;

use mancala_server::rules::Variant;
use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Attribute, LitStr, Macro, Path, UsePath,
    spanned::Spanned,
    visit::{self, Visit},
};

use super::sources::{Source, root};

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

/// The files that list games, by package and the first part of their module. The root of the rules names the folders.
const LISTS: [(&str, &str); 5] =
    [("rules", "games"), ("rules", "packed"), ("rules", "notation"), ("rules", ""), ("engine", "games")];

pub fn findings(sources: &[Source]) -> Vec<String> {
    let mut findings = vec![];
    for list in LISTS.iter().filter(|(_, module)| *module == "games") {
        let is_list = |source: &&Source| is_in(source, list);
        if !sources.iter().filter(is_list).any(|source| !words_of_games(source).is_empty()) {
            findings.push(format!("{list:?} does not list the games: the rule has lost sight of them"));
        }
    }
    findings.extend(elsewhere(sources));
    findings
}

fn is_in(source: &Source, (package, module): &(&str, &str)) -> bool {
    source.package == *package && source.module.first().map_or("", String::as_str) == *module
}

fn elsewhere(sources: &[Source]) -> Vec<String> {
    let elsewhere = sources.iter().filter(|source| !LISTS.iter().any(|list| is_in(source, list)));
    let found = elsewhere.flat_map(|source| words_of_games(source).into_iter().map(move |found| (source, found)));
    let others = found.filter(|(source, (_, word))| !is_own(source, word));
    others.map(|(source, (line, word))| format!("{}:{line} names {word}", source.path)).collect()
}

/// Whether a game's folder has this word of its own.
fn is_own(source: &Source, word: &str) -> bool {
    source.package == "rules" && word.split("::").any(|part| source.module.iter().any(|folder| folder == part))
}

/// Files with the list of games in a sentence.
const SENTENCES: [&str; 12] = [
    "Cargo.toml",
    "README.md",
    "clients/typescript/README.md",
    "clients/typescript/package.json",
    "crates/engine/README.md",
    "crates/rules/Cargo.toml",
    "crates/rules/README.md",
    "src/config/options.rs",
    "src/http/openapi/introduction.md",
    "src/lib.rs",
    "web/index.html",
    "web/public/manifest.webmanifest",
];

/// Sentences that list the games and miss one, or name them in another order.
pub fn sentences() -> Vec<String> {
    let misses_one =
        |path: &&str| !lists_all(&fs::read_to_string(root().join(path)).expect("a file of the repository"));
    SENTENCES.into_iter().filter(misses_one).map(str::to_owned).collect()
}

/// Whether each list of games in a text, which begins with the first two, has all of them.
fn lists_all(text: &str) -> bool {
    let titles = Variant::ALL.map(Variant::title);
    let (last, others) = titles.split_last().expect("there are games");
    let all = format!("{} and {last}", others.join(", "));
    let start = others[..2].join(", ");
    // A sentence may be broken into lines, in a comment too.
    let words: Vec<&str> = text.split_whitespace().filter(|word| !["//!", "///"].contains(word)).collect();
    let text = words.join(" ");
    let lists = text.match_indices(&start).count();
    lists > 0 && lists == text.match_indices(&all).count()
}

#[test]
fn a_sentence_that_misses_a_game_is_found() {
    let all = "Plays Kalah, Oware, Congkak, Bao,\n/// Omweso, Toguz Kumalak and Bestemshe: all.";
    assert!(lists_all(all));
    assert!(
        !lists_all(&all.replace("Bao,", ""))
            && !lists_all(&format!("{all} Kalah, Oware and more"))
            && !lists_all("none")
    );
}

#[test]
fn a_game_outside_of_its_folder_is_found() {
    for bad in [
        "fn f() { Variant::Oware }",
        "fn f() { match v { Variant::Kalah => 1 } }",
        "use mancala_rules::kalah::Options;",
        "fn f() { v == \"congkak\" }",
        "fn f() { json!({ \"variant\": \"kalah\" }) }",
        "fn f() { matches!(v, Variant::Oware) }",
    ] {
        assert!(!elsewhere(&[Source::parse("src/http/a.rs", bad)]).is_empty(), "{bad}");
        assert!(!elsewhere(&[Source::parse("crates/rules/src/a.rs", bad)]).is_empty(), "{bad}");
        assert!(elsewhere(&[Source::parse("crates/rules/src/games.rs", bad)]).is_empty(), "{bad}");
    }
    let own = "use crate::kalah::Options;";
    assert!(elsewhere(&[Source::parse("crates/rules/src/kalah/a.rs", own)]).is_empty());
    assert!(!elsewhere(&[Source::parse("crates/rules/src/oware/a.rs", own)]).is_empty());
    let shown = "/// Kalah.\n#[schema(example = \"kalah\")]\nfn f() { \"kalah and others\" }";
    assert_eq!(elsewhere(&[Source::parse("src/http/a.rs", shown)]), Vec::<String>::new());
}
