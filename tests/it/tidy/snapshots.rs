//! Every snapshot belongs to a test. `insta` says nothing of a snapshot that no test compares.

use std::{fs, path::Path};

use super::{
    names::tests,
    sources::{below_root, files, root},
};

/// The test's name in the name of a snapshot: `it__games__moves__a_move_is_answered-2` is of `a_move_is_answered`.
fn test_of(name: &str) -> &str {
    let name = name.rsplit("__").next().unwrap_or(name);
    match name.rsplit_once('-') {
        Some((test, number)) if number.parse::<u32>().is_ok() => test,
        _ => name,
    }
}

/// What is wrong with a snapshot beside the source that should have made it.
fn flaw(snapshot: &str, source: Option<&str>) -> Option<String> {
    let name = Path::new(snapshot).file_stem().expect("a name").to_string_lossy();
    let Some(source) = source else { return Some(format!("{snapshot}: there is no such module")) };
    if !tests(source).iter().any(|test| test == test_of(&name)) {
        return Some(format!("{snapshot}: there is no such test"));
    }
    (!source.contains("insta::assert_")).then(|| format!("{snapshot}: no snapshot is compared there"))
}

/// The text of the module that a snapshot's name begins with.
fn source_of(snapshot: &Path) -> Option<String> {
    let name = snapshot.file_stem().expect("a name").to_string_lossy().into_owned();
    let module = name.rsplit("__").nth(1)?;
    let folder = snapshot.parent()?.parent()?;
    let parts: Vec<&str> = name.split("__").collect();
    // The folders between the root of the test and the file are those of the name.
    let below: Vec<&str> = parts[1..parts.len() - 2].to_vec();
    if !folder.ends_with(below.iter().collect::<std::path::PathBuf>()) {
        return None;
    }
    fs::read_to_string(folder.join(format!("{module}.rs"))).ok()
}

/// What is wrong with the snapshots of the workspace, those that wait to be accepted included.
pub fn flaws() -> Vec<String> {
    let all = |extension| {
        ["src", "crates", "tests"].into_iter().flat_map(move |folder| files(&root().join(folder), extension))
    };
    let mut flaws: Vec<String> =
        all("snap").filter_map(|path| flaw(&below_root(&path), source_of(&path).as_deref())).collect();
    flaws.extend(all("new").map(|path| format!("{} waits to be accepted", below_root(&path))));
    if all("snap").count() == 0 {
        flaws.push("no snapshots: the rule has lost sight of them".to_owned());
    }
    flaws
}

#[test]
fn a_snapshot_without_a_test_is_found() {
    let source = "#[test] fn a_b() { insta::assert_json_snapshot!(1); } fn c() {}";
    assert_eq!(flaw("tests/it/games/snapshots/it__games__moves__a_b.snap", Some(source)), None);
    assert_eq!(flaw("tests/it/games/snapshots/it__games__moves__a_b-2.snap", Some(source)), None);
    assert!(flaw("tests/it/games/snapshots/it__games__moves__c.snap", Some(source)).is_some());
    assert!(flaw("tests/it/games/snapshots/it__games__moves__gone.snap", Some(source)).is_some());
    assert!(flaw("tests/it/games/snapshots/it__games__moves__a_b.snap", None).is_some());
    assert!(flaw("tests/it/games/snapshots/it__games__moves__a_b.snap", Some("#[test] fn a_b() {}")).is_some());
    assert_eq!(source_of(&root().join("tests/it/games/snapshots/it__events__moves__a.snap")), None);
}
