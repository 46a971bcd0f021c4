//! The operator's file: what it may say, and that a fault is found at the start.

use mancala_server::openid::parse;
use serde_json::{Value, json};

const KEY: &str = "-----BEGIN PRIVATE KEY-----\nnothing\n-----END PRIVATE KEY-----\n";

fn google() -> Value {
    json!({"id": "google", "name": "Google", "issuer": "https://accounts.google.com", "client_id": "a", "client_secret": "b",
        "redirect_uris": ["https://play.example/back"]})
}

fn fault(change: &Value) -> String {
    let mut issuer = google();
    let fields = issuer.as_object_mut().expect("an object");
    for (name, value) in change.as_object().expect("an object") {
        fields.insert(name.clone(), value.clone());
    }
    let file = json!({"issuers": [issuer]}).to_string();
    let may_reach = |url: &str| url.starts_with("https://");
    parse(&file, |_| Ok(KEY.to_owned()), may_reach).map(|_| String::new()).unwrap_or_else(|error| error.to_string())
}

#[test]
fn each_fault_of_the_file_is_named_and_no_value_is_shown() {
    assert_eq!(fault(&json!({})), "");
    assert_eq!(fault(&json!({"scopes": ["openid", "email"], "response_mode": "form_post", "client_secret": null})), "");
    for (change, word) in [
        (json!({"id": "Google"}), "id must"),
        (json!({"id": ""}), "id must"),
        (json!({"id": "a".repeat(33)}), "id must"),
        (json!({"name": ""}), "name must"),
        (json!({"client_id": "a".repeat(513)}), "client_id must"),
        (json!({"issuer": "http://accounts.google.com"}), "issuer must"),
        (json!({"issuer": "https://accounts.google.com?a=b"}), "issuer must"),
        (json!({"client_secret": ""}), "client_secret must"),
        (json!({"client_secret": "hunter2", "apple": {"team_id": "A", "key_id": "B", "key_file": "k"}}), "not both"),
        (json!({"client_secret": null, "apple": {"team_id": "A", "key_id": "B", "key_file": "k"}}), "team_id"),
        (
            json!({"client_secret": null, "apple": {"team_id": "ABCDE12345", "key_id": "ABCDE12345", "key_file": "k"}}),
            "key_file of apple",
        ),
        (json!({"scopes": ["email"]}), "openid"),
        (json!({"response_mode": "fragment"}), "line 1"),
        (json!({"secret": "hunter2"}), "line 1"),
        (json!({"redirect_uris": []}), "redirect_uris"),
        (json!({"redirect_uris": ["/back"]}), "redirect_uris"),
        (json!({"redirect_uris": ["javascript:alert(1)"]}), "redirect_uris"),
        (json!({"redirect_uris": ["https://play.example/#a"]}), "redirect_uris"),
    ] {
        let line = fault(&change);
        assert!(line.contains(word) && !line.contains("hunter2") && !line.contains('\n'), "{change}: {line}");
    }
    let twice = json!({"issuers": [google(), google()]}).to_string();
    for (file, word) in [(twice.as_str(), "another issuer"), ("{}", "line 1"), (r#"{"issuers": []}"#, "1 to 16")] {
        let line = parse(file, |_| Ok(KEY.to_owned()), |_| true).expect_err("a fault").to_string();
        assert!(line.contains(word), "{line}");
    }
}
