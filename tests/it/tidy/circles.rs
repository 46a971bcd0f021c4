//! No circle of imports among the files and folders of any folder.
//!
//! A file depends on the file that defines what it names; a re-export on the way counts for nothing. In each folder,
//! what its files depend on is a graph of its children: of files and of folders as wholes. This graph has no circle. A
//! `mod.rs`, or the `lib.rs` of a crate, is a child of its own, `(mod)`, that may re-export what is below it. If it
//! also defines something that the files below use, it may use nothing of them.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    paths::{Named, PathUse, modules, named},
    sources::Source,
};

type Module = Vec<String>;

/// For each folder and each child: on which other children it depends, and an example of why.
type Graphs = BTreeMap<Module, BTreeMap<String, BTreeMap<String, String>>>;

struct Tree {
    modules: BTreeSet<Module>,
    /// What a module gives out under a name that it has imported.
    imports: BTreeMap<(Module, String), Vec<String>>,
    files: Vec<(Module, Vec<Named>)>,
}

impl Tree {
    fn of(sources: &[&Source]) -> Self {
        let modules = modules(sources.iter().copied());
        let files: Vec<_> = sources.iter().map(|source| (source.module.clone(), named(source, &modules))).collect();
        let mut imports = BTreeMap::new();
        for (module, named) in &files {
            for named in named {
                if let PathUse::Import { name, .. } = &named.place {
                    imports.insert((module.clone(), name.clone()), named.path.clone());
                }
            }
        }
        Self { modules, imports, files }
    }

    /// The module whose file defines what is at a path; none if another crate does.
    fn definer(&self, path: &[String], depth: usize) -> Option<Module> {
        let path = path.strip_prefix(&["crate".to_owned()])?;
        let length = (0..=path.len()).rev().find(|length| self.modules.contains(&path[..*length]))?;
        let (module, rest) = path.split_at(length);
        if let Some(first) = rest.first()
            && depth < 8
            && let Some(imported) = self.imports.get(&(module.to_vec(), first.clone()))
        {
            let further = [&imported[..], &rest[1..]].concat();
            if further[..] != [&["crate".to_owned()], path].concat() {
                return self.definer(&further, depth + 1);
            }
        }
        Some(module.to_vec())
    }

    fn graphs(&self) -> Graphs {
        let mut graphs = Graphs::new();
        for (module, named) in &self.files {
            for named in named {
                let Some(definer) = self.definer(&named.path, 0) else { continue };
                let is_reexport =
                    matches!(named.place, PathUse::Import { is_public: true, .. }) && definer.starts_with(module);
                if definer == *module || is_reexport {
                    continue;
                }
                let common = module.iter().zip(&definer).take_while(|(one, other)| one == other).count();
                let child = |module: &[String]| module.get(common).cloned().unwrap_or_else(|| "(mod)".to_owned());
                let (from, to) = (child(module), child(&definer));
                let from_module = if module.is_empty() { "lib".to_owned() } else { module.join("::") };
                let why = format!("{from_module}:{} names {}", named.line, named.text());
                let edges = graphs.entry(module[..common].to_vec()).or_default().entry(from).or_default();
                edges.entry(to).or_insert(why);
            }
        }
        graphs
    }
}

/// The groups of children that reach each other.
fn circles(graph: &BTreeMap<String, BTreeMap<String, String>>) -> Vec<Vec<&str>> {
    let reached = |from: &str| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from.to_owned()]);
        while let Some(child) = next.pop() {
            for to in graph.get(&child).into_iter().flat_map(BTreeMap::keys) {
                if seen.insert(to.clone()) {
                    next.push(to.clone());
                }
            }
        }
        seen
    };
    let reach: BTreeMap<&str, BTreeSet<String>> = graph.keys().map(|child| (child.as_str(), reached(child))).collect();
    let mut groups: BTreeSet<Vec<&str>> = BTreeSet::new();
    for (child, seen) in &reach {
        if seen.contains(*child) {
            let both = |other: &&str| seen.contains(*other) && reach[*other].contains(*child);
            groups.insert(reach.keys().copied().filter(both).collect());
        }
    }
    groups.into_iter().collect()
}

pub fn findings(sources: &[Source]) -> Vec<String> {
    let packages: BTreeSet<&str> = sources.iter().map(|source| source.package.as_str()).collect();
    let mut findings = vec![];
    for package in packages {
        let own: Vec<&Source> = sources.iter().filter(|source| source.package == package).collect();
        for (folder, graph) in Tree::of(&own).graphs() {
            for circle in circles(&graph) {
                let folder = [&[package.to_owned()], &folder[..]].concat().join("::");
                let mut finding = vec![format!("{folder}: {}", circle.join(", "))];
                for from in &circle {
                    for to in circle.iter().filter(|to| *to != from) {
                        if let Some(why) = graph[*from].get(*to) {
                            finding.push(format!("    {from} -> {to}: {why}"));
                        }
                    }
                }
                findings.push(finding.join("\n    "));
            }
        }
    }
    findings
}

#[test]
fn a_circle_is_found_through_re_exports_and_folders() {
    let files = |files: &[(&str, &str)]| -> Vec<Source> {
        files.iter().map(|(path, text)| Source::parse(path, text)).collect()
    };
    let first_lines = |sources: &[Source]| -> Vec<String> {
        findings(sources).iter().map(|finding| finding.lines().next().unwrap_or_default().to_owned()).collect()
    };
    let two = [
        ("src/http/a.rs", "use super::b::B;"),
        ("src/http/b.rs", "fn f() { crate::http::a::g(); }"),
        ("src/http/mod.rs", ""),
    ];
    assert_eq!(first_lines(&files(&two)), ["server::http: a, b"]);
    let re_exported = [
        ("crates/db/src/lib.rs", "mod x; mod y; pub use x::inner::T; pub use y::U;"),
        ("crates/db/src/x/mod.rs", "pub mod inner;"),
        ("crates/db/src/x/inner.rs", "use crate::U; pub struct T;"),
        ("crates/db/src/y.rs", "use crate::T; pub struct U;"),
    ];
    assert_eq!(first_lines(&files(&re_exported)), ["db: x, y"]);
    let module = [
        ("src/m/mod.rs", "pub mod a; pub struct S; fn f() { a::g(); }"),
        ("src/m/a.rs", "use super::S; pub fn g() {}"),
    ];
    assert_eq!(first_lines(&files(&module)), ["server::m: (mod), a"]);
    let three =
        [("src/a.rs", "use crate::b::B;"), ("src/b.rs", "use crate::c::C;"), ("src/c.rs", "json!(crate::a::A);")];
    assert_eq!(first_lines(&files(&three)), ["server: a, b, c"]);
    let none =
        [("src/m/mod.rs", "mod a; mod b; pub use a::A;"), ("src/m/a.rs", "use super::b::B;"), ("src/m/b.rs", "")];
    assert_eq!(first_lines(&files(&none)), Vec::<String>::new());
}
