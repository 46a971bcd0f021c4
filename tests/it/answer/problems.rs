//! Problems: every failure has the same envelope, and leaves nothing behind.

use std::{
    io::{Read, Write},
    net::TcpStream,
    thread,
    time::Duration,
};

use reqwest::{Client, Method, header};
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;

use crate::support::{
    answer::Answer,
    app::TestApp,
    calls::{send, signed},
    clock::until,
};

/// A body as it is, declared as JSON.
async fn post_raw(app: &TestApp, path: &str, token: &str, body: impl Into<reqwest::Body>) -> Answer {
    let request = app.request(Method::POST, path).bearer_auth(token);
    send(request.header(header::CONTENT_TYPE, "application/json").body(body)).await
}

#[actix_web::test]
async fn an_unknown_path_is_not_found() {
    let app = TestApp::start().await;
    for path in ["/v1", "/v1/", "/v2/games", "/v1/games/", "/v1/game", "/v1/games/x/y/z", "/docs/none", "/%FF", "/.env"]
    {
        app.get(path, None).await.is_problem(404, "not_found");
    }
    app.get("/problems/no_such_code", None).await.is_problem(404, "not_found");
    app.get("/v1/variants/chess", None).await.is_problem(404, "not_found");
}

#[actix_web::test]
async fn a_wrong_method_is_answered_with_the_right_ones() {
    let app = TestApp::start().await;
    let document = app.get("/openapi.json", None).await.body;
    let mut tried = 0;
    for (path, item) in document["paths"].as_object().expect("paths") {
        let path = path.replace("{id}", "0199aaaa-0000-7000-8000-000000000000").replace("{ply}", "1");
        let path = path.replace("{variant}", "kalah").replace("{code}", "internal");
        let path = path.replace("{player_id}", "0199aaaa-0000-7000-8000-000000000000");
        for method in [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            if item.get(method.as_str().to_lowercase()).is_some() {
                continue;
            }
            let answer = send(app.request(method.clone(), &path)).await;
            answer.is_problem(405, "method_not_allowed");
            let allow = answer.headers["allow"].to_str().expect("text");
            let known: Vec<_> = item.as_object().expect("methods").keys().map(|key| key.to_uppercase()).collect();
            assert!(known.iter().all(|method| allow.contains(method.as_str())), "{method} {path}: {allow}");
            tried += 1;
        }
    }
    for path in ["/openapi.json", "/docs", "/docs/", "/docs/index.html"] {
        let answer = send(app.request(Method::POST, path)).await;
        answer.is_problem(405, "method_not_allowed");
        assert_eq!(answer.headers["allow"], "GET, HEAD");
    }
    assert!(tried > 30);
}

#[actix_web::test]
async fn a_body_that_does_not_come_is_a_timeout() {
    let app = TestApp::start().await;
    let address = app.address;
    let stalled = thread::spawn(move || {
        let mut stream = TcpStream::connect(address).expect("the server listens");
        let head =
            "POST /v1/players HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{";
        stream.write_all(head.as_bytes()).expect("it is sent");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a time-out is set");
        let mut answer = String::new();
        // Until the server closes.
        stream.read_to_string(&mut answer).expect("the server answers and closes");
        answer
    });
    until("the server closes", || stalled.is_finished()).await;
    let answer = stalled.join().expect("the client ends well");
    assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("malformed_request"), "{answer}");
}

#[actix_web::test]
async fn head_is_get_without_the_body() {
    let app = TestApp::start().await;
    for path in ["/livez", "/readyz", "/v1/games", "/v1/variants/kalah", "/openapi.json", "/docs/"] {
        let get = send(app.request(Method::GET, path)).await;
        let head = send(app.request(Method::HEAD, path)).await;
        assert_eq!((head.status, head.text.as_str()), (get.status, ""), "{path}");
        assert_eq!(head.headers["content-length"], get.headers["content-length"]);
    }
    let unknown = send(app.request(Method::HEAD, "/v1/nothing")).await;
    assert_eq!((unknown.status.as_u16(), unknown.text.as_str()), (404, ""));
}

#[actix_web::test]
async fn a_body_that_is_no_json_is_malformed() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    for body in [
        &b"{"[..],
        b"",
        b"{\"variant\": \"kalah\"",
        b"nonsense",
        b"{\"variant\": \"kalah\"} {}",
        b"{'variant': 'kalah'}",
        b"\xff\xfe",
        b"{\"variant\": \"kal\xffah\"}",
        b"\xef\xbb\xbf{\"variant\": \"kalah\"}",
        b"{\"variant\": \"\\ud800\"}",
    ] {
        post_raw(&app, "/v1/games", &ana.token, body.to_vec()).await.is_problem(400, "malformed_request");
    }
    for body in [
        "null",
        "5",
        "\"kalah\"",
        "[]",
        "[\"kalah\"]",
        "{\"variant\": \"kalah\", \"variant\": \"kalah\"}",
        "{\"variant\": \"kalah\", \"options\": {\"seeds\": 4, \"seeds\": 5}}",
    ] {
        post_raw(&app, "/v1/games", &ana.token, body).await.is_problem(422, "validation_failed");
    }
    // As deep as 4 KiB can be. It is refused at the first unknown level, without descending.
    let deep = format!("{{\"options\": {}", "{\"a\":".repeat(800));
    let answer = post_raw(&app, "/v1/games", &ana.token, deep).await;
    answer.is_problem(422, "validation_failed");
    assert_eq!(answer.body["errors"][0]["pointer"], "/options/a");
    assert_eq!(app.get("/v1/games", None).await.body["items"], json!([]));
}

#[actix_web::test]
async fn a_body_of_another_type_is_unsupported() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    for content_type in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "nonsense", ""] {
        let request = app.request(Method::POST, "/v1/games").bearer_auth(&ana.token);
        let request = request.header(header::CONTENT_TYPE, content_type).body("{\"variant\": \"kalah\"}");
        send(request).await.is_problem(415, "unsupported_media_type");
    }
    for content_type in ["application/json; charset=utf-8", "Application/JSON"] {
        let request = app.request(Method::POST, "/v1/games").bearer_auth(&ana.token);
        let request = request.header(header::CONTENT_TYPE, content_type).body("{\"variant\": \"kalah\"}");
        assert_eq!(send(request).await.status, 201);
    }
}

#[actix_web::test]
async fn a_huge_body_is_too_large() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let body = |bytes: usize| format!("{{\"variant\": \"{}\"}}", "k".repeat(bytes - 15));
    post_raw(&app, "/v1/games", &ana.token, body(4 * 1024)).await.is_problem(422, "validation_failed");
    for bytes in [4 * 1024 + 1, 1024 * 1024] {
        post_raw(&app, "/v1/games", &ana.token, body(bytes)).await.is_problem(413, "payload_too_large");
        post_raw(&app, "/v1/players", &ana.token, body(bytes)).await.is_problem(413, "payload_too_large");
    }
}

#[actix_web::test]
async fn a_call_without_parameters_takes_no_fields() {
    let app = TestApp::start().await;
    let (id, south, _) = app.started(&json!({})).await;
    for verb in ["resign", "abort"] {
        let path = format!("/v1/games/{id}/{verb}");
        app.post(&path, Some(&south), &json!({"really": true})).await.is_problem(422, "validation_failed");
        app.post(&format!("{path}?really=yes"), Some(&south), &json!({})).await.is_problem(422, "validation_failed");
    }
    assert_eq!(app.get_game(&id, None).await.body["version"], 2);
}

#[actix_web::test]
async fn a_client_that_refuses_json_is_refused_before_any_effect() {
    let app = TestApp::start().await;
    for accept in ["text/html", "image/*", "application/xml", "application/json;q=0", "application/json;q=0, */*"] {
        let request = app.request(Method::POST, "/v1/players").header(header::ACCEPT, accept);
        send(request).await.is_problem(406, "not_acceptable");
    }
    for accept in ["", "*/*", "application/json", "application/*;q=0.5, text/html", "text/html, */*;q=0.1"] {
        let request = app.request(Method::POST, "/v1/players").header(header::ACCEPT, accept);
        assert_eq!(send(request).await.status, 201, "{accept}");
    }
    let players: i64 = sqlx::query_scalar("select count(*) from player where kind = 'guest'")
        .fetch_one(&app.db)
        .await
        .expect("a count");
    assert_eq!(players, 5);
}

#[actix_web::test]
async fn every_code_is_explained_where_its_type_leads() {
    let app = TestApp::start().await;
    let document = app.get("/openapi.json", None).await.body;
    let codes = document["components"]["schemas"]["Code"]["x-extensible-enum"].as_array().expect("codes").clone();
    assert!(codes.len() >= 20);
    for code in codes.iter().filter_map(Value::as_str) {
        let page = app.get(&format!("/problems/{code}"), None).await;
        assert_eq!(
            (page.status.as_u16(), &page.headers["content-type"]),
            (200, &"text/html; charset=utf-8".parse().expect("a header"))
        );
        assert!(page.text.contains(code) && page.text.contains("<main>") && !page.text.contains('`'));
    }
    for (language, told) in [("de", "auf Englisch"), ("fr", "en anglais"), ("es", "en inglés")] {
        let request = app.request(Method::GET, "/problems/stale_ply").header("accept-language", language);
        let page = send(request).await;
        assert!(page.text.contains(&format!("<html lang=\"{language}\">")), "{}", page.text);
        assert!(page.text.contains(told) && page.text.contains("<h1 lang=\"en\">"), "{}", page.text);
        assert!(page.headers["vary"].to_str().expect("text").starts_with("Accept-Language"));
    }
}

#[actix_web::test]
async fn a_broken_schema_gives_an_opaque_500_and_a_repaired_one_goes_on() {
    let app = TestApp::start().await;
    let (id, south, _) = app.started(&json!({})).await;
    for (break_it, mend_it) in [
        (
            "alter table event rename column move to broken_column",
            "alter table event rename column broken_column to move",
        ),
        (
            "alter table game rename column position to broken_column",
            "alter table game rename column broken_column to position",
        ),
        (
            "update game set position = 'broken_column'",
            "update game set position = '4,4,4,4,4,4/4,4,4,4,4,4 0-0 S - 0 1S'",
        ),
    ] {
        sqlx::raw_sql(break_it).execute(&app.db).await.expect("it breaks");
        // A server whose cache does not have the game.
        let game = format!("http://{}/v1/games/{id}", app.second_server().0);
        let play = Client::new().post(format!("{game}/moves")).json(&json!({"ply": 1, "move": "A"}));
        for request in [Client::new().get(game), play] {
            let answer = send(signed(request, Some(&south))).await;
            answer.is_problem(500, "internal");
            assert!(!answer.text.contains("broken_column"), "{answer:?}");
        }
        sqlx::raw_sql(mend_it).execute(&app.db).await.expect("it mends");
    }
    assert_eq!(app.play_move(&id, &south, 1, "A").await.status, 201);
}

#[actix_web::test]
async fn the_answer_is_503_until_the_database_is_back() {
    let app = TestApp::start().await;
    let (id, south, _) = app.started(&json!({})).await;
    let database = app.options.get_database().expect("a name").to_owned();
    let mut maintenance = app.superuser().await;
    let away = format!("alter database {database} with allow_connections false");
    sqlx::raw_sql(AssertSqlSafe(away)).execute(&mut maintenance).await.expect("it goes away");
    let end = "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1";
    sqlx::query(end).bind(&database).execute(&mut maintenance).await.expect("connections end");

    for answer in [
        app.play_move(&id, &south, 1, "A").await,
        app.get_game(&id, None).await,
        app.create_game(&south, &json!({"variant": "kalah"})).await,
        app.post("/v1/players", None, &json!({})).await,
        app.get("/readyz", None).await,
    ] {
        answer.is_problem(503, "unavailable");
        assert!(answer.headers["retry-after"].to_str().expect("text").parse::<u32>().expect("seconds") > 0);
    }
    assert_eq!(app.get("/livez", None).await.status, 200);

    let back = format!("alter database {database} with allow_connections true");
    sqlx::raw_sql(AssertSqlSafe(back)).execute(&mut maintenance).await.expect("it comes back");
    app.until_ready().await;
    assert_eq!(app.play_move(&id, &south, 1, "A").await.status, 201);
}

#[actix_web::test]
async fn a_connection_that_dies_between_moves_loses_no_move() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    let mut maintenance = app.superuser().await;
    for (ply, guest, mv) in [(1, &south, "A"), (2, &north, "a"), (3, &south, "C"), (4, &north, "c")] {
        let end = "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1";
        sqlx::query(end).bind(app.options.get_database()).execute(&mut maintenance).await.expect("connections end");
        let played = app.play_move(&id, guest, ply, mv).await;
        assert_eq!(played.status, 201, "{played:?}");
    }
    assert_eq!(app.get_game(&id, None).await.body["ply"], 4);
}
