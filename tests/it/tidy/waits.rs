//! Tests wait by the functions of `support/clock.rs` for what they expect, and not for a time that may be too short.

use std::fs;

use syn::{
    ExprCall, ExprForLoop, ExprLoop, ExprPath, ExprWhile,
    visit::{self, Visit},
};

use super::sources::{below_root, files, root};

/// Files with a wait that is no loop, and why.
const FIXED: [(&str, &str); 6] = [
    ("crates/engine/tests/engine/searching.rs", "a search is stopped while it runs, and a paused one finds nothing"),
    ("tests/it/operation/database.rs", "the database comes back while a command waits for it"),
    ("tests/it/operation/outage_log.rs", "the log is read as a whole, after the rounds of all jobs"),
    ("tests/it/players/blocked_games.rs", "an append comes behind another one, which no client can see"),
    ("tests/it/support/issuer.rs", "a server that does not answer"),
    ("tests/it/webhooks/queues.rs", "a lock lasts longer than a request would wait for it"),
];

/// Files with a loop that waits, and why it polls for nothing.
const LOOPS: [(&str, &str); 6] = [
    ("tests/it/email/process.rs", "a mail is asked for again, and the server refuses too many requests"),
    ("tests/it/events/streams.rs", "a client sends byte by byte"),
    ("tests/it/layers/slow_clients.rs", "clients send byte by byte"),
    ("tests/it/operation/connections.rs", "connections are counted while clients play"),
    ("tests/it/operation/standby.rs", "reads go on for a time in which no standby may answer"),
    ("tests/it/records/uploads.rs", "a client sends byte by byte"),
];

/// The lines of a file that wait.
#[derive(Default)]
struct Waits {
    /// How many loops the visited expression is in, and how many of them are `while` or `loop`.
    loops: usize,
    open_ended: usize,
    /// Calls of `sleep` outside of loops.
    fixed: Vec<usize>,
    /// Calls of `sleep` and `yield_now` in a `while` or `loop`.
    polls: Vec<usize>,
}

impl Waits {
    fn of(text: &str) -> Self {
        let mut waits = Self::default();
        waits.visit_file(&syn::parse_file(text).expect("a source is Rust"));
        waits
    }

    fn within_loop(&mut self, visit: impl FnOnce(&mut Self)) {
        self.loops += 1;
        visit(self);
        self.loops -= 1;
    }

    fn within_open_ended(&mut self, visit: impl FnOnce(&mut Self)) {
        self.open_ended += 1;
        self.within_loop(visit);
        self.open_ended -= 1;
    }
}

impl<'ast> Visit<'ast> for Waits {
    fn visit_expr_loop(&mut self, node: &'ast ExprLoop) {
        self.within_open_ended(|waits| visit::visit_expr_loop(waits, node));
    }

    fn visit_expr_while(&mut self, node: &'ast ExprWhile) {
        self.within_open_ended(|waits| visit::visit_expr_while(waits, node));
    }

    fn visit_expr_for_loop(&mut self, node: &'ast ExprForLoop) {
        self.within_loop(|waits| visit::visit_expr_for_loop(waits, node));
    }

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        if let syn::Expr::Path(ExprPath { path, .. }) = &*call.func
            && let Some(name) = path.segments.last()
        {
            let (line, is_sleep) = (name.ident.span().start().line, name.ident == "sleep");
            if is_sleep && self.loops == 0 {
                self.fixed.push(line);
            } else if self.open_ended > 0 && (is_sleep || name.ident == "yield_now") {
                self.polls.push(line);
            }
        }
        visit::visit_expr_call(self, call);
    }
}

/// The calls in files that are not on a list, and the files of the list that have no such call any more.
fn findings(list: &[(&str, &str)], found: &[(String, usize)], what: &str) -> Vec<String> {
    let is_listed = |path: &str| list.iter().any(|(listed, _)| *listed == path);
    let new = found.iter().filter(|(path, _)| !is_listed(path)).map(|(path, line)| format!("{path}:{line} is {what}"));
    let is_used = |listed: &str| found.iter().any(|(path, _)| path == listed);
    let unused =
        list.iter().filter(|(listed, _)| !is_used(listed)).map(|(listed, _)| format!("{listed} is no longer {what}"));
    new.chain(unused).collect()
}

pub fn waits_of_tests() -> Vec<String> {
    let mut paths = files(&root().join("tests/it"), "rs");
    paths.extend(files(&root().join("crates"), "rs").into_iter().filter(|path| below_root(path).contains("/tests/")));
    let (mut fixed, mut polls) = (vec![], vec![]);
    for path in paths {
        let text = fs::read_to_string(&path).expect("a source is text");
        if ["sleep", "yield_now"].iter().any(|name| text.contains(name)) {
            let (waits, path) = (Waits::of(&text), below_root(&path));
            fixed.extend(waits.fixed.into_iter().map(|line| (path.clone(), line)));
            // The functions that poll for all tests, and stand-ins for slow servers.
            if !path.contains("/support/") {
                polls.extend(waits.polls.into_iter().map(|line| (path.clone(), line)));
            }
        }
    }
    let mut all = findings(&FIXED, &fixed, "a wait for a fixed time");
    all.extend(findings(&LOOPS, &polls, "a poll by hand, beside those of support/clock.rs"));
    all
}

#[test]
fn a_fixed_wait_and_a_poll_by_hand_are_found() {
    let fixed = Waits::of("async fn f() {\n    tokio::time::sleep(A).await;\n    let g = || thread::sleep(A);\n}");
    assert_eq!((fixed.fixed, fixed.polls), (vec![2, 3], vec![]));
    let polls = "fn f() {\nwhile !is_so() { sleep(A); }\nloop { for _ in B {\nthread::sleep(A) } }\nwhile c { yield_now().await }\n}";
    let polls = Waits::of(polls);
    assert_eq!((polls.fixed, polls.polls), (vec![], vec![2, 4, 5]));
    let good = Waits::of(
        "fn f() { until(\"it is so\", || is_so()).await; for _ in 0..3 { sleep(A).await; yield_now().await } }",
    );
    assert_eq!((good.fixed, good.polls), (vec![], vec![]));
}

#[test]
fn a_file_is_listed_as_long_as_it_waits() {
    let found = [("a.rs".to_owned(), 1), ("b.rs".to_owned(), 2)];
    let list = [("a.rs", "why"), ("c.rs", "why")];
    assert_eq!(findings(&list, &found, "a wait"), ["b.rs:2 is a wait", "c.rs is no longer a wait"]);
}
