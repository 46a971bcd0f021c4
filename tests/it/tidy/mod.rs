//! What the compiler cannot keep of the architecture, read off the sources.
//!
//! Each rule is a function from sources to findings. One test applies it to the workspace and prints every finding.
//! Another one applies it to a small bad source, so that no rule can pass because it finds nothing. `syn` parses the
//! sources, and items under `#[cfg(test)]` are left out.

mod boundaries;
mod circles;
mod documents;
mod functions;
mod games;
mod layout;
mod names;
mod paths;
mod sentences;
mod snapshots;
mod sources;
mod statements;
mod strings;
mod waits;

use self::sources::{Source, workspace};

type Rule = fn(&[Source]) -> Vec<String>;

/// Each rule by what it finds.
const RULES: [(&str, Rule); 27] = [
    ("circles of imports", circles::findings),
    ("modules of the server that are used where they may not be", boundaries::unknown_neighbours),
    ("modules of the server that MAY_USE does not list", boundaries::unlisted_modules),
    ("frameworks in the wrong module", boundaries::frameworks),
    ("clocks, randomness and I/O in pure crates", boundaries::impurities),
    ("clocks that are read beside clock.rs", boundaries::clocks),
    ("SQL outside of crates/db", boundaries::sql_elsewhere),
    ("statuses of failures that answer/code.rs does not choose", boundaries::statuses_elsewhere),
    ("crates that may be unsafe", boundaries::crates_that_allow_unsafe),
    ("re-exports by glob", boundaries::globs),
    ("games that are named outside of their folders and the lists", games::findings),
    ("sentences that list the games and miss one", |_| games::sentences()),
    ("statements without a span", statements::without_span),
    ("statements that PostgreSQL has not checked at compile time", statements::unchecked),
    ("files that name archived_log beside the reader of logs", statements::of_archives_elsewhere),
    ("statements of the append that find games by other than their ids", statements::of_the_append),
    ("files without a head", names::without_head),
    ("names for rooms of leftovers", names::leftovers),
    ("long functions", functions::findings),
    ("long files", |_| layout::long_files()),
    ("files at the root that are not on the list", |_| layout::out_of_place()),
    ("strings that join words where they are continued", |_| strings::joined_words()),
    ("fixed waits and polls by hand of tests", |_| waits::waits_of_tests()),
    ("long names of tests", |_| names::long_test_names()),
    ("examples that nothing compiles", documents::untested_examples),
    ("persons in the place of processes", |_| documents::persons()),
    ("comments with long sentences, wide lines or no subject at their beginning", |_| sentences::hard_comments()),
];

#[test]
fn the_workspace_keeps_every_rule() {
    let sources = workspace();
    let broken = RULES.into_iter().map(|(rule, find)| (rule, find(&sources))).filter(|(_, found)| !found.is_empty());
    let report = broken.map(|(rule, found)| format!("\n{rule}: {}\n    {}\n", found.len(), found.join("\n    ")));
    let report: String = report.collect();
    assert!(report.is_empty(), "{report}");
}

#[test]
fn every_snapshot_belongs_to_a_test() {
    assert_eq!(snapshots::flaws(), Vec::<String>::new());
}
