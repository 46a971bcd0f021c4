//! The operator's file: what it may say, and that a fault is found at the start.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
};

use mancala_server::{
    http::read_issuers,
    openid::parse,
    webhook::{Ports, Reach, Sender, system_names},
};
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
    let may_reach = |url: &str, is_private| is_private || url.starts_with("https://");
    parse(&file, |_| Ok(KEY.to_owned()), may_reach).map_or_else(|error| error.to_string(), |_| String::new())
}

#[test]
fn each_fault_of_the_file_is_named_and_no_value_is_shown() {
    assert_eq!(fault(&json!({})), "");
    assert_eq!(fault(&json!({"issuer": "http://keycloak.lan/realms/a", "private": true})), "");
    for uri in [
        "http://127.0.0.1:7777/back",
        "http://[::1]/",
        "http://localhost:1/a",
        "com.example.app:/back",
        "https://a.example/b?c=d",
    ] {
        assert_eq!(fault(&json!({"redirect_uris": [uri]})), "", "{uri}");
    }
    for uri in [
        "http://play.example/back",
        "about:blank",
        "mailto:a@b",
        "app:/back",
        "https://user@play.example/",
        "file:///a",
        "data:,a",
    ] {
        assert!(fault(&json!({"redirect_uris": [uri]})).contains("redirect_uris"), "{uri}");
    }
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
    let mut apple = google();
    (apple["id"], apple["issuer"]) = (json!("apple"), json!("https://appleid.apple.com"));
    let shared = json!({"issuers": [google(), apple]}).to_string();
    let line = parse(&shared, |_| Ok(KEY.to_owned()), |_, _| true).expect_err("a fault").to_string();
    assert!(line.contains("issuer 2") && line.contains("redirect_uris"), "{line}");
    let twice = json!({"issuers": [google(), google()]}).to_string();
    for (file, word) in [(twice.as_str(), "another issuer"), ("{}", "line 1"), (r#"{"issuers": []}"#, "1 to 16")] {
        let line = parse(file, |_| Ok(KEY.to_owned()), |_, _| true).expect_err("a fault").to_string();
        assert!(line.contains(word), "{line}");
    }
}

#[test]
fn the_file_and_its_keys_are_read_from_one_folder_and_are_secret() {
    let folder = std::env::temp_dir().join(format!("sign-in-{:032x}", rand::random::<u128>()));
    fs::create_dir(&folder).expect("a folder");
    let (file, key) = (folder.join("sign-in.json"), folder.join("key.p8"));
    let write = |path: &std::path::Path, text: &str, mode: u32| {
        fs::write(path, text).expect("it is written");
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("the mode is set");
    };
    let read = || {
        let found = read_issuers(&file, &Sender::new(Reach::Public(Ports::HTTPS), system_names()));
        found.map(|issuers| issuers.iter().count()).map_err(|error| error.to_string())
    };
    assert!(read().expect_err("there is none").contains("SIGN_IN_FILE"));
    write(&file, &json!({"issuers": [google()]}).to_string(), 0o644);
    assert!(read().expect_err("others may read it").contains("chmod 600"));
    write(&file, &json!({"issuers": [google()]}).to_string(), 0o600);
    assert_eq!(read(), Ok(1));
    let mut apple = google();
    apple["client_secret"] = Value::Null;
    apple["apple"] = json!({"team_id": "ABCDE12345", "key_id": "ABCDE12345", "key_file": "key.p8"});
    write(&file, &json!({"issuers": [apple]}).to_string(), 0o600);
    assert!(read().expect_err("there is no key").contains("key_file of apple"));
    write(&key, KEY, 0o644);
    assert!(read().expect_err("others may read the key").contains("chmod 600"));
    write(&key, KEY, 0o600);
    assert!(read().expect_err("it is no key").contains("P-256"));
    fs::remove_dir_all(&folder).expect("it is removed");
}
