//! Statements: each is checked at compile time and has a span, but for those that are listed here. The statements of the append
//! find games by their ids alone. Few files name the table of archived logs.

use proc_macro2::TokenTree;
use syn::{
    Expr, ExprAwait, ExprCall, ExprMethodCall, Macro, Path,
    visit::{self, Visit},
};

use super::sources::Source;

/// Ends of a statement: what sends it.
const SENDS: [&str; 4] = ["execute", "fetch_all", "fetch_one", "fetch_optional"];

/// The statements of the first two are for many requests at once, and each request has a span around its wait. No request and no job sends
/// the others: they open a connection, or are those of a command.
const EXEMPT: [&str; 6] =
    ["games::append", "games::lookups", "connection::database", "connection::waiting", "databases", "migrations"];

/// Modules with statements that are not checked at compile time. They set what holds for a session or a transaction, or define, grant and
/// lock tables. Some ask a database that may lack the schema. Deletions of personal data are made of a list of columns.
const UNCHECKED: [&str; 14] = [
    "connection::database",
    "connection::lock_wait",
    "connection::waiting",
    "databases",
    "migrations",
    "players::personal_data",
    "readiness",
    "records::deletion",
    "records::import",
    "rights",
    "study::explorer_index",
    "study::rebuild::loading",
    "study::rebuild::state",
    "study::rebuild::swap",
];

/// Where the table of archives is named: the folder of what writes them, the reader of logs, the decoder and the list of all columns.
const NAME_ARCHIVES: [&str; 4] = [
    "crates/db/src/records/archive/",
    "crates/db/src/games/logs.rs",
    "crates/db/src/games/archived.rs",
    "crates/db/src/players/personal_data.rs",
];

/// Looks for statements that are awaited without a span.
struct Bare {
    /// How many statements have one.
    with_span: usize,
    found: Vec<usize>,
}

/// Whether a path names a function of sqlx that takes a statement as text.
fn takes_text(path: &Path) -> bool {
    let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    names.len() == 2 && names[0] == "sqlx" && (names[1].starts_with("query") || names[1] == "raw_sql")
}

/// Whether a chain of calls begins with a statement.
fn is_statement(receiver: &Expr) -> bool {
    match receiver {
        Expr::MethodCall(call) => is_statement(&call.receiver),
        Expr::Call(call) => matches!(&*call.func, Expr::Path(function) if takes_text(&function.path)),
        Expr::Macro(call) => {
            call.mac.path.segments.last().is_some_and(|name| name.ident.to_string().starts_with("query"))
        }
        // A variable that holds a statement.
        Expr::Path(_) => true,
        _ => false,
    }
}

fn sends(call: &ExprMethodCall) -> bool {
    SENDS.contains(&call.method.to_string().as_str()) && is_statement(&call.receiver)
}

impl<'ast> Visit<'ast> for Bare {
    fn visit_expr_await(&mut self, awaited: &'ast ExprAwait) {
        if let Expr::MethodCall(call) = &*awaited.base {
            if sends(call) {
                self.found.push(call.method.span().start().line);
            }
            if call.method == "instrument" && matches!(&*call.receiver, Expr::MethodCall(inner) if sends(inner)) {
                self.with_span += 1;
            }
        }
        visit::visit_expr_await(self, awaited);
    }
}

fn counted(sources: &[Source]) -> (usize, Vec<String>) {
    let (mut count, mut findings) = (0, vec![]);
    let is_exempt = |source: &&Source| EXEMPT.contains(&source.module.join("::").as_str());
    for source in sources.iter().filter(|source| source.is_of(&["db"]) && !is_exempt(source)) {
        let mut bare = Bare { with_span: 0, found: vec![] };
        bare.visit_file(&source.file);
        count += bare.with_span;
        findings
            .extend(bare.found.iter().map(|line| format!("{}:{line} sends a statement without a span", source.path)));
    }
    (count, findings)
}

pub fn without_span(sources: &[Source]) -> Vec<String> {
    let (count, mut findings) = counted(sources);
    if count < 100 {
        findings.push(format!("only {count} statements with a span: the rule has lost sight of them"));
    }
    findings
}

/// Looks for statements that are given as text.
struct Texts(Vec<usize>);

impl<'ast> Visit<'ast> for Texts {
    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        if let Expr::Path(function) = &*call.func
            && takes_text(&function.path)
        {
            self.0.extend(function.path.segments.last().map(|name| name.ident.span().start().line));
        }
        visit::visit_expr_call(self, call);
    }
}

fn texts(source: &Source) -> Vec<usize> {
    let mut texts = Texts(vec![]);
    texts.visit_file(&source.file);
    texts.0
}

pub fn unchecked(sources: &[Source]) -> Vec<String> {
    let mut findings = vec![];
    let mut used = vec![];
    for source in sources.iter().filter(|source| source.is_of(&["db"])) {
        let (module, lines) = (source.module.join("::"), texts(source));
        if UNCHECKED.contains(&module.as_str()) {
            used.extend((!lines.is_empty()).then_some(module));
        } else {
            findings.extend(lines.iter().map(|line| format!("{}:{line} sends an unchecked statement", source.path)));
        }
    }
    let unused = UNCHECKED.iter().filter(|listed| !used.iter().any(|module| module == *listed));
    findings.extend(unused.map(|listed| format!("{listed} has no unchecked statement any more")));
    findings
}

pub fn of_archives_elsewhere(sources: &[Source]) -> Vec<String> {
    let name_them = sources.iter().filter(|source| source.text.contains("archived_log"));
    let elsewhere = name_them.filter(|source| !NAME_ARCHIVES.iter().any(|place| source.path.starts_with(place)));
    elsewhere.map(|source| format!("{} names archived_log", source.path)).collect()
}

/// The SQL of a source's checked statements.
fn statements(source: &Source) -> Vec<String> {
    struct Statements(Vec<String>);
    impl<'ast> Visit<'ast> for Statements {
        fn visit_macro(&mut self, call: &'ast Macro) {
            if call.path.segments.last().is_some_and(|name| name.ident.to_string().starts_with("query")) {
                let literals = call.tokens.clone().into_iter().filter_map(|tree| match tree {
                    TokenTree::Literal(literal) => syn::parse_str::<syn::LitStr>(&literal.to_string()).ok(),
                    _ => None,
                });
                self.0.push(literals.map(|literal| literal.value()).collect());
            }
        }
    }
    let mut statements = Statements(vec![]);
    statements.visit_file(&source.file);
    statements.0
}

/// So that the tables of games can be distributed by the game's id: every row of an append is found by it.
fn by_other_than_ids(sql: &str) -> Vec<String> {
    let words: Vec<&str> = sql.split_whitespace().collect();
    let mut findings = vec![];
    for (at, word) in words.iter().enumerate().filter(|(_, word)| **word == "join") {
        if words.get(at + 2..at + 4) != Some(&["using", "(game_id)"]) {
            findings.push(format!("a {word} by other than game_id: {}", words[at..words.len().min(at + 6)].join(" ")));
        }
    }
    let names = |columns: &[&str]| {
        words.windows(columns.len() + 1).any(|window| window[0] == "where" && window[1..] == *columns)
    };
    if !names(&["game.id", "=", "given.game_id"]) && !names(&["id", "=", "any($1)"]) {
        findings.push(format!("games are not named by their ids: {sql}"));
    }
    for (at, _) in words.iter().enumerate().filter(|(_, word)| **word == "where") {
        let condition: Vec<&str> = words[at + 1..].iter().copied().take_while(|word| !ENDS.contains(word)).collect();
        for (n, part) in condition.split(|word| *word == "and").enumerate() {
            let part = part.join(" ");
            let is_id = ["game.id = given.game_id", "id = any($1)"].contains(&part.as_str());
            let is_version = part == "game.version = given.expected" && n > 0;
            let is_filter = part.ends_with("is not null") || part.ends_with("is null") || !part.contains('=');
            if !is_id && !is_version && !is_filter {
                findings.push(format!("a condition on other than ids: {part}"));
            }
        }
    }
    findings
}

/// What ends a condition.
const ENDS: [&str; 7] = ["returning", "order", ")", "),", "for", "union", "on"];

pub fn of_the_append(sources: &[Source]) -> Vec<String> {
    let append = sources.iter().find(|source| source.path == "crates/db/src/games/append.rs");
    let statements = append.map(statements).unwrap_or_default();
    let mut findings: Vec<String> = statements.iter().flat_map(|sql| by_other_than_ids(sql)).collect();
    if statements.len() != 2 {
        findings.push(format!("the append has {} statements instead of 2", statements.len()));
    }
    findings
}

#[test]
fn a_statement_without_a_span_is_found() {
    let (count, bad) = counted(&[Source::parse(
        "crates/db/src/games/a.rs",
        "async fn f() {
            sqlx::query!(\"select 1\").fetch_one(pool).await?;
            sqlx::query!(\"select 1\").fetch_one(pool).instrument(statement(\"a\")).await?;
            let all = found.fetch_all(connection).await.unwrap();
            sqlx::query(\"set local a = 1\").execute(pool).await?;
        }",
    )]);
    assert_eq!((count, bad.len()), (1, 3), "{bad:?}");
}

#[test]
fn a_statement_that_is_given_as_text_is_found() {
    let text = "async fn f() { sqlx::query(\"a\").execute(pool).await?; sqlx::query_scalar::<_, bool>(b).fetch_one(pool); sqlx::query!(\"c\") }";
    assert_eq!(texts(&Source::parse("crates/db/src/games/a.rs", text)), [1, 1]);
    let found = unchecked(&[Source::parse("crates/db/src/games/a.rs", text)]);
    assert_eq!(found.iter().filter(|finding| finding.contains("games/a.rs:1")).count(), 2);
    assert!(found.iter().any(|finding| finding.starts_with("migrations has no")), "{found:?}");
    assert!(
        !unchecked(&[Source::parse("crates/db/src/migrations.rs", text)])
            .iter()
            .any(|finding| finding.contains("migrations"))
    );
}

#[test]
fn a_statement_of_archives_elsewhere_is_found() {
    let found = |path| of_archives_elsewhere(&[Source::parse(path, "const A: &str = \"select from archived_log\";")]);
    assert_eq!(found("crates/db/src/games/find.rs"), ["crates/db/src/games/find.rs names archived_log"]);
    assert!(found("crates/db/src/games/logs.rs").is_empty() && found("crates/db/src/records/archive/a.rs").is_empty());
}

#[test]
fn a_statement_by_other_than_ids_is_found() {
    let good =
        "update game set a = 1 from given where game.id = given.game_id and game.version = given.expected returning 1";
    assert_eq!(by_other_than_ids(good), Vec::<String>::new());
    for bad in [
        "select * from given join player using (player_id) where game.id = given.game_id",
        "update game set a = 1 where status = 'open'",
        "update game set a = 1 from given where game.id = given.game_id and player = 1",
        "select 1",
    ] {
        assert!(!by_other_than_ids(bad).is_empty(), "{bad}");
    }
    let source = Source::parse(
        "crates/db/src/games/a.rs",
        "fn f() { sqlx::query_as!(A, r#\"select 1\"#, x); sqlx::query!(\"a\") }",
    );
    assert_eq!(statements(&source), ["select 1", "a"]);
}
