//! The paths that a source names, each from its root: `crate::…` for what is its own, or the name of another crate.
//!
//! A path in the tokens of a macro or of an attribute counts as well. A single word does not: if it comes from elsewhere, the
//! import that brought it counts.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Attribute, ItemMod, ItemUse, Macro, Path, UseTree, Visibility,
    spanned::Spanned,
    visit::{self, Visit},
};

use super::sources::Source;

/// A path that a source names.
#[derive(Clone, Debug)]
pub struct Named {
    /// The path from its root, with a `*` at the end of a glob.
    pub path: Vec<String>,
    pub line: usize,
    pub place: PathUse,
}

/// Where a path is named.
#[derive(Clone, Debug, PartialEq)]
pub enum PathUse {
    /// In a `use`, under this name.
    Import {
        name: String,
        is_public: bool,
    },
    /// In code, macros included.
    Code,
    /// The name of a macro that is called.
    Macro,
    Attribute,
}

impl Named {
    pub fn text(&self) -> String {
        self.path.join("::")
    }

    pub fn starts_with(&self, prefix: &str) -> bool {
        let prefix: Vec<&str> = prefix.split("::").collect();
        self.path.len() >= prefix.len() && self.path.iter().zip(prefix).all(|(own, other)| own == other)
    }

    /// Whether the path ends with these names.
    pub fn ends_with(&self, suffix: &str) -> bool {
        let suffix: Vec<&str> = suffix.split("::").collect();
        self.path.len() >= suffix.len()
            && self.path.iter().rev().zip(suffix.iter().rev()).all(|(own, other)| own == other)
    }
}

/// The modules of a source's crate, by their paths.
pub fn modules<'a>(sources: impl IntoIterator<Item = &'a Source>) -> BTreeSet<Vec<String>> {
    sources.into_iter().map(|source| source.module.clone()).collect()
}

/// All paths that a source names.
pub fn named(source: &Source, modules: &BTreeSet<Vec<String>>) -> Vec<Named> {
    let mut reader = Reader { modules, module: source.module.clone(), imports: BTreeMap::new(), found: vec![] };
    // Imports first: the rest of the file is read by them.
    let mut imports = Imports { reader: &mut reader };
    imports.visit_file(&source.file);
    reader.visit_file(&source.file);
    reader.found
}

struct Reader<'a> {
    modules: &'a BTreeSet<Vec<String>>,
    /// Where the reader is, modules inside of the file included.
    module: Vec<String>,
    imports: BTreeMap<String, Vec<String>>,
    found: Vec<Named>,
}

impl Reader<'_> {
    /// The path from its root.
    fn resolve(&self, path: &[String]) -> Vec<String> {
        let own = |module: &[String], rest: &[String]| [&["crate".to_owned()], module, rest].concat();
        let first = path[0].as_str();
        match first {
            "crate" => path.to_vec(),
            "self" => own(&self.module, &path[1..]),
            "super" => {
                let ups = path.iter().take_while(|part| *part == "super").count();
                own(&self.module[..self.module.len().saturating_sub(ups)], &path[ups..])
            }
            _ => {
                let child = [&self.module[..], &path[..1]].concat();
                if let Some(imported) = self.imports.get(first) {
                    [&imported[..], &path[1..]].concat()
                } else if self.modules.contains(&child) {
                    own(&self.module, path)
                } else {
                    path.to_vec()
                }
            }
        }
    }

    fn add(&mut self, path: &[String], line: usize, place: PathUse) {
        if path.len() > 1 || place == PathUse::Macro {
            let path = self.resolve(path);
            self.found.push(Named { path, line, place });
        }
    }

    /// The paths in tokens that nothing has parsed.
    fn scan(&mut self, tokens: TokenStream, place: &PathUse) {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        let is =
            |at: usize, mark: char| matches!(trees.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == mark);
        let mut at = 0;
        while at < trees.len() {
            match &trees[at] {
                TokenTree::Group(group) => self.scan(group.stream(), place),
                TokenTree::Ident(first) if at == 0 || !is(at - 1, '.') => {
                    let mut path = vec![first.to_string()];
                    let line = first.span().start().line;
                    while is(at + 1, ':') && is(at + 2, ':') {
                        let Some(TokenTree::Ident(next)) = trees.get(at + 3) else { break };
                        path.push(next.to_string());
                        at += 3;
                    }
                    self.add(&path, line, place.clone());
                }
                _ => {}
            }
            at += 1;
        }
    }
}

/// The names of a path, without generic arguments.
fn parts(path: &Path) -> Vec<String> {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        self.module.push(module.ident.to_string());
        visit::visit_item_mod(self, module);
        self.module.pop();
    }

    /// Imports were read before.
    fn visit_item_use(&mut self, _: &'ast ItemUse) {}

    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_path(&mut self, path: &'ast Path) {
        self.add(&parts(path), path.span().start().line, PathUse::Code);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        self.add(&parts(&call.path), call.path.span().start().line, PathUse::Macro);
        self.scan(call.tokens.clone(), &PathUse::Code);
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        self.add(&parts(attribute.path()), attribute.span().start().line, PathUse::Attribute);
        if let syn::Meta::List(list) = &attribute.meta {
            self.scan(list.tokens.clone(), &PathUse::Attribute);
        }
    }
}

struct Imports<'a, 'b> {
    reader: &'a mut Reader<'b>,
}

impl Imports<'_, '_> {
    fn flatten(&mut self, tree: &UseTree, before: &[String], is_public: bool) {
        let mut leaf = |path: Vec<String>, name: String, line: usize| {
            let path = self.reader.resolve(&path);
            self.reader.imports.insert(name.clone(), path.clone());
            self.reader.found.push(Named { path, line, place: PathUse::Import { name, is_public } });
        };
        let joined = |part: String| [before, &[part]].concat();
        match tree {
            UseTree::Path(path) => self.flatten(&path.tree, &joined(path.ident.to_string()), is_public),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.flatten(tree, before, is_public);
                }
            }
            UseTree::Glob(glob) => leaf(joined("*".to_owned()), "*".to_owned(), glob.span().start().line),
            UseTree::Name(name) if name.ident == "self" && !before.is_empty() => {
                leaf(before.to_vec(), before[before.len() - 1].clone(), name.span().start().line);
            }
            UseTree::Name(name) => {
                leaf(joined(name.ident.to_string()), name.ident.to_string(), name.span().start().line);
            }
            UseTree::Rename(rename) => {
                let path = if rename.ident == "self" { before.to_vec() } else { joined(rename.ident.to_string()) };
                leaf(path, rename.rename.to_string(), rename.span().start().line);
            }
        }
    }
}

impl<'ast> Visit<'ast> for Imports<'_, '_> {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        self.reader.module.push(module.ident.to_string());
        visit::visit_item_mod(self, module);
        self.reader.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let is_public = !matches!(item.vis, Visibility::Inherited);
        self.flatten(&item.tree, &[], is_public);
    }
}

#[test]
fn a_path_is_found_wherever_it_is_named() {
    let text = "use std::{fs, io::{self, Read as Reading}};\nuse super::view::*;\npub use self::child::Item;\n\
        fn f(x: crate::a::B) -> Result<fs::File, io::Error> { json!({ \"a\": [super::c::D.e::f(), child::G] }) }\n\
        #[serde(with = a, by(super::h::I))]\nstruct S;\nmod inside { use super::J; }";
    let source = Source::parse("src/games/moves.rs", text);
    let known =
        [vec!["games"], vec!["games", "moves", "child"]].map(|path| path.iter().map(ToString::to_string).collect());
    let found: Vec<_> =
        named(&source, &BTreeSet::from(known)).into_iter().map(|named| (named.text(), named.line)).collect();
    let expected = [
        ("std::fs", 1),
        ("std::io", 1),
        ("std::io::Read", 1),
        ("crate::games::view::*", 2),
        ("crate::games::moves::child::Item", 3),
        ("crate::games::moves::J", 7),
        ("crate::a::B", 4),
        ("std::fs::File", 4),
        ("std::io::Error", 4),
        ("json", 4),
        ("crate::games::c::D", 4),
        ("crate::games::moves::child::G", 4),
        ("crate::games::h::I", 5),
    ];
    assert_eq!(found, expected.map(|(text, line)| (text.to_owned(), line)));
}
