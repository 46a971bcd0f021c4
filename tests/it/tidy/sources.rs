//! The sources of the workspace: which files there are, which module each one is, and its syntax.

use std::{
    fs,
    path::{Path, PathBuf},
};

use syn::{Attribute, File, ImplItem, Item, Meta};

/// A file of a package's `src`.
pub struct Source {
    /// The folder below `crates/`. For the root package, `server` for the library, and `main` for the binary.
    pub package: String,
    /// From the workspace's root: `crates/db/src/games/append.rs`.
    pub path: String,
    /// In its crate: `games::append`. A `mod.rs` is its folder; `lib.rs` is empty.
    pub module: Vec<String>,
    pub text: String,
    /// Without the items under `#[cfg(test)]`.
    pub file: File,
}

impl Source {
    pub fn parse(path: &str, text: &str) -> Self {
        let (package, below) = match path.strip_prefix("crates/") {
            Some(rest) => {
                let (package, below) = rest.split_once("/src/").expect("a crate has its sources in src");
                (package, below)
            }
            None if path == "src/main.rs" => ("main", "main.rs"),
            None => ("server", path.strip_prefix("src/").expect("a source is in src")),
        };
        let mut module: Vec<String> = below.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
        if module.last().is_some_and(|last| last == "mod") || module == ["lib"] || package == "main" {
            module.pop();
        }
        let mut file = syn::parse_file(text).unwrap_or_else(|error| panic!("{path}: {error}"));
        remove_tests(&mut file.items);
        Self { package: package.to_owned(), path: path.to_owned(), module, text: text.to_owned(), file }
    }

    pub fn is_of(&self, packages: &[&str]) -> bool {
        packages.contains(&self.package.as_str())
    }
}

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file of `src` and `crates/*/src`.
pub fn workspace() -> Vec<Source> {
    let mut folders = vec![root().join("src")];
    for package in entries(&root().join("crates")) {
        folders.push(package.join("src"));
    }
    let mut sources: Vec<Source> =
        folders.iter().flat_map(|folder| files(folder, "rs")).map(|path| read(&path)).collect();
    let main = sources.iter().find(|source| source.package == "main").expect("there is a binary");
    let declared: Vec<String> = main.file.items.iter().filter_map(declared).collect();
    for source in sources.iter_mut().filter(|source| source.package == "server") {
        if source.module.first().is_some_and(|first| declared.contains(first)) {
            "main".clone_into(&mut source.package);
        }
    }
    assert!(sources.len() > 150, "{}", sources.len());
    sources
}

/// The name of a module that is in a file of its own.
fn declared(item: &Item) -> Option<String> {
    match item {
        Item::Mod(module) if module.content.is_none() => Some(module.ident.to_string()),
        _ => None,
    }
}

fn read(path: &Path) -> Source {
    Source::parse(&below_root(path), &fs::read_to_string(path).expect("a source is text"))
}

pub fn below_root(path: &Path) -> String {
    path.strip_prefix(root()).expect("it is in the workspace").to_string_lossy().into_owned()
}

/// Every file below a folder whose name ends in this way, in order. A folder that is not there has none.
pub fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = vec![];
    for entry in entries(folder) {
        if entry.is_dir() {
            found.extend(files(&entry, extension));
        } else if entry.extension().is_some_and(|own| own == extension) {
            found.push(entry);
        }
    }
    found
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return vec![] };
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.file_name().is_some_and(|name| name != "target" && name != "node_modules"));
    paths.sort();
    paths
}

fn remove_tests(items: &mut Vec<Item>) {
    items.retain(|item| !is_of_tests(attributes(item)));
    for item in items {
        match item {
            Item::Mod(module) => {
                if let Some((_, items)) = &mut module.content {
                    remove_tests(items);
                }
            }
            Item::Impl(block) => block.items.retain(|item| match item {
                ImplItem::Fn(function) => !is_of_tests(&function.attrs),
                _ => true,
            }),
            _ => {}
        }
    }
}

fn is_of_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        _ => false,
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

#[test]
fn a_source_knows_its_module_and_leaves_its_tests_out() {
    let text = "fn a() {}\n#[cfg(test)]\nmod tests { fn b() {} }\nimpl A { #[cfg(test)] fn c() {} fn d() {} }";
    let source = Source::parse("crates/db/src/games/mod.rs", text);
    assert_eq!((source.package.as_str(), source.module.as_slice()), ("db", &["games".to_owned()][..]));
    assert_eq!(source.file.items.len(), 2);
    let Item::Impl(block) = &source.file.items[1] else { panic!("the second item is the impl") };
    assert_eq!(block.items.len(), 1);
    assert!(Source::parse("src/lib.rs", "").module.is_empty() && Source::parse("src/main.rs", "").package == "main");
    assert_eq!(Source::parse("src/http/games/moves.rs", "").module.join("::"), "http::games::moves");
}
