//! Tests wait for what they expect, by polling, and not for a time that may be too short on a busy machine.

use std::fs;

use syn::{
    ExprCall, ExprForLoop, ExprLoop, ExprPath, ExprWhile,
    visit::{self, Visit},
};

use super::sources::{below_root, files, root};

/// Files with a wait that is no loop, and why.
const ALLOWED: [(&str, &str); 6] = [
    ("crates/engine/tests/engine/searching.rs", "a search is stopped while it runs, and a paused one finds nothing"),
    ("tests/it/operation/database.rs", "the database comes back while a command waits for it"),
    ("tests/it/operation/outage_log.rs", "the log is read as a whole, after the rounds of all jobs"),
    ("tests/it/players/blocked_games.rs", "an append comes behind another one, which no client can see"),
    ("tests/it/support/issuer.rs", "a server that does not answer"),
    ("tests/it/webhooks/queues.rs", "a lock lasts longer than a request would wait for it"),
];

/// Looks for calls of `sleep` outside of loops.
#[derive(Default)]
struct Waits {
    loops: usize,
    found: Vec<usize>,
}

impl Waits {
    fn within_loop(&mut self, visit: impl FnOnce(&mut Self)) {
        self.loops += 1;
        visit(self);
        self.loops -= 1;
    }
}

impl<'ast> Visit<'ast> for Waits {
    fn visit_expr_loop(&mut self, node: &'ast ExprLoop) {
        self.within_loop(|waits| visit::visit_expr_loop(waits, node));
    }

    fn visit_expr_while(&mut self, node: &'ast ExprWhile) {
        self.within_loop(|waits| visit::visit_expr_while(waits, node));
    }

    fn visit_expr_for_loop(&mut self, node: &'ast ExprForLoop) {
        self.within_loop(|waits| visit::visit_expr_for_loop(waits, node));
    }

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        if let syn::Expr::Path(ExprPath { path, .. }) = &*call.func
            && let Some(name) = path.segments.last()
            && name.ident == "sleep"
            && self.loops == 0
        {
            self.found.push(name.ident.span().start().line);
        }
        visit::visit_expr_call(self, call);
    }
}

fn lines(text: &str) -> Vec<usize> {
    let mut waits = Waits::default();
    waits.visit_file(&syn::parse_file(text).expect("a source is Rust"));
    waits.found
}

pub fn fixed_waits() -> Vec<String> {
    let mut paths = files(&root().join("tests/it"), "rs");
    paths.extend(files(&root().join("crates"), "rs").into_iter().filter(|path| below_root(path).contains("/tests/")));
    let mut findings = vec![];
    let mut used = vec![];
    for path in paths {
        let text = fs::read_to_string(&path).expect("a source is text");
        let found = if text.contains("sleep") { lines(&text) } else { vec![] };
        let path = below_root(&path);
        if ALLOWED.iter().any(|(allowed, _)| *allowed == path) {
            used.extend((!found.is_empty()).then_some(path));
        } else {
            findings.extend(found.into_iter().map(|line| format!("{path}:{line} waits for a fixed time")));
        }
    }
    let unused = ALLOWED.iter().filter(|(allowed, _)| !used.iter().any(|path| path == allowed));
    findings.extend(unused.map(|(allowed, _)| format!("{allowed} has no fixed wait any more")));
    findings
}

#[test]
fn a_fixed_wait_is_found_and_a_poll_is_none() {
    let bad = "async fn f() {\n    tokio::time::sleep(A).await;\n    let g = || thread::sleep(A);\n}";
    assert_eq!(lines(bad), [2, 3]);
    let good = "fn f() { while !is_so() { sleep(A); } loop { thread::sleep(A) } for _ in 0..3 { sleep(A).await } }";
    assert_eq!(lines(good), Vec::<usize>::new());
}
