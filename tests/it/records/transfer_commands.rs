//! The commands that export games to a file and import them from it.

use serde_json::json;

use super::import::{WHOLE, import, run, whole_game};
use crate::support::{
    app::TestApp,
    binary::{self, File},
};

#[actix_web::test]
async fn a_command_carries_all_games_to_a_file_and_back() {
    let (app, other) = (TestApp::start().await, TestApp::start().await);
    let ana = app.guest("Ana").await;
    let open = app.created(&ana, &json!({"variant": "kalah", "visibility": "private"})).await;
    let records: String = (0..3).map(|n| whole_game("congkak", "", &format!("S{n}")).to_string()).collect();
    assert_eq!(import(&app, &ana, "", "text/plain", records).await.body["imported"], 3);
    for (format, imported) in [("ndjson", 4), ("text", 4)] {
        let file = File::new("");
        let export = ["export", file.name(), "--format", format, "--database-url", &binary::url(&app)];
        let (status, output) = run(&export);
        assert_eq!((status, output.contains("4 games were exported")), (Some(0), true), "{output}");
        let url = binary::url(&other);
        let (status, output) = run(&["import", file.name(), "--database-url", &url]);
        let said = format!("{imported} games were imported");
        assert_eq!((status, output.contains(&said)), (Some(0), true), "{output}");
    }
    assert_eq!(other.list_games("imported=true", None).await.ids().len(), 8);
    let whole = other.list_games("status=finished", None).await;
    assert_eq!(whole.body["items"].as_array().map(Vec::len), Some(6));
    // An export that begins after a game is appended to the file.
    let file = File::new("kept\n");
    let after = open["id"].as_str().expect("an id");
    let (status, output) = run(&["export", file.name(), "--after", after, "--database-url", &binary::url(&app)]);
    assert_eq!(status, Some(0), "{output}");
    let text = std::fs::read_to_string(file.name()).expect("a file");
    assert_eq!((text.starts_with("kept\n"), text.lines().count()), (true, 4));
}

#[actix_web::test]
async fn the_command_names_each_refused_game_and_imports_the_others() {
    let app = TestApp::start().await;
    let url = binary::url(&app);
    let file = File::new(&format!("{WHOLE}[Variant \"kalah\"]\n1. A A *\n{WHOLE}"));
    let (status, output) = run(&["import", file.name(), "--database-url", &url]);
    assert_eq!(status, Some(3), "{output}");
    let place = format!("{}:7:6: ", file.name());
    assert!(output.contains(&place) && output.contains("2 games were imported"), "{output}");
    let (status, output) = run(&["import", "/nowhere/at-all", "--database-url", &url]);
    assert_eq!((status, output.contains("/nowhere/at-all: ")), (Some(1), true), "{output}");
    // A line that is too long is skipped, and the lines after it are read.
    let long = format!(
        "{{\"game\": \"{}\"}}\n{{\"game\": {{\"variant\": \"kalah\"}}, \"moves\": [{{\"move\": \"A\"}}]}}\n",
        "x".repeat(40 << 20)
    );
    let file = File::new(&long);
    let (status, output) = run(&["import", file.name(), "--database-url", &url]);
    assert_eq!((status, output.contains("1 game was imported")), (Some(3), true), "{output}");
    assert!(output.contains(":1: a game of more than"), "{output}");
}
