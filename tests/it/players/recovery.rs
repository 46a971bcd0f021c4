//! Recovery codes, sign-ins, and keys for new players: no player is lost with a device or an answer.

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    answer::Answer,
    app::{TestApp, behind_proxy},
    calls::{Guest, send, signed},
};

const PASSWORD: &str = "correct horse";

async fn created(app: &TestApp, body: &Value) -> (Guest, Answer) {
    let answer = app.post("/v1/players", None, body).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    (player_of(&answer), answer)
}

fn player_of(tokens: &Answer) -> Guest {
    Guest { id: tokens.string("/player/id"), token: tokens.string("/access_token") }
}

async fn recover(app: &TestApp, code: &str) -> Answer {
    app.post("/v1/tokens", None, &json!({"grant_type": "recovery_code", "recovery_code": code})).await
}

#[actix_web::test]
async fn with_its_code_another_device_becomes_the_same_guest() {
    let app = TestApp::start().await;
    let (ana, first) = created(&app, &json!({"name": "Ana"})).await;
    let code = first.string("/recovery_code");
    for typed in [code.clone(), code.to_lowercase(), code.replace('-', "")] {
        let recovered = recover(&app, &typed).await;
        assert_eq!((recovered.status.as_u16(), &recovered.body["player"]), (200, &first.body["player"]));
        assert!(recovered.body.get("recovery_code").is_none(), "it is shown once");
        assert_eq!(app.get("/v1/me", Some(&player_of(&recovered))).await.string("/id"), ana.id);
    }
    // The first device stays signed in.
    assert_eq!(app.refresh(&first.string("/refresh_token")).await.status, 200);
    let rows: String = sqlx::query_scalar("select string_agg(recovery_code::text, ' ') from recovery_code")
        .fetch_one(&app.db)
        .await
        .expect("rows");
    assert!(!rows.contains(&code) && !rows.contains(&code.replace('-', "")), "only a hash is stored");
    assert!(app.get("/v1/me/export", Some(&ana)).await.body["recovery_code_since"].is_string());
}

#[actix_web::test]
async fn a_renewed_code_voids_the_old_one_and_an_erasure_voids_all() {
    let app = TestApp::start().await;
    let (ana, first) = created(&app, &json!({})).await;
    let old = first.string("/recovery_code");
    let renewed = app.post("/v1/me/recovery-code", Some(&ana), &json!({})).await;
    assert_eq!(
        (renewed.status.as_u16(), &renewed.headers["cache-control"]),
        (200, &"no-store".parse().expect("a value"))
    );
    let new = renewed.string("/recovery_code");
    recover(&app, &old).await.is_problem(401, "invalid_credentials");
    assert_eq!(recover(&app, &new).await.string("/player/id"), ana.id);
    app.delete_me(&ana).await;
    recover(&app, &new).await.is_problem(401, "invalid_credentials");
    app.post("/v1/me/recovery-code", Some(&ana), &json!({})).await.is_problem(401, "invalid_token");
    app.post("/v1/me/recovery-code", None, &json!({})).await.is_problem(401, "unauthenticated");
    for body in [json!({"grant_type": "recovery_code"}), json!({"grant_type": "recovery_code", "recovery_code": 5})] {
        app.post("/v1/tokens", None, &body).await.is_problem(422, "validation_failed");
    }
}

#[actix_web::test]
async fn a_password_can_be_set_after_recovery() {
    let app = TestApp::start().await;
    let (ana, first) = created(&app, &json!({"name": "Ana"})).await;
    let code = first.string("/recovery_code");
    let recovered = player_of(&recover(&app, &code).await);
    let changed = app.patch("/v1/me", Some(&recovered), &json!({"password": PASSWORD})).await;
    assert_eq!((changed.status.as_u16(), &changed.body["kind"]), (200, &json!("account")), "{changed:?}");
    assert_eq!(app.sign_in("Ana", PASSWORD).await.string("/player/id"), ana.id);
    // The guest's code is the account's; a forgotten password is replaced with it, and the code with another one.
    let recovered = player_of(&recover(&app, &code).await);
    let changed = app.patch("/v1/me", Some(&recovered), &json!({"password": "battery staple"})).await;
    let next = changed.string("/tokens/recovery_code");
    recover(&app, &code).await.is_problem(401, "invalid_credentials");
    app.sign_in("Ana", PASSWORD).await.is_problem(401, "invalid_credentials");
    assert_eq!(app.sign_in("Ana", "battery staple").await.status, 200);
    // Signing out everywhere voids the code, too.
    let recovered = player_of(&recover(&app, &next).await);
    let all = send(signed(app.request(Method::DELETE, "/v1/me/sign-ins"), Some(&recovered))).await;
    assert_eq!(all.status, 204);
    recover(&app, &next).await.is_problem(401, "invalid_credentials");
}

#[actix_web::test]
async fn guesses_of_a_code_are_limited_and_tell_nothing() {
    let app = TestApp::start_with(behind_proxy).await;
    let (ana, first) = created(&app, &json!({"name": "Ana"})).await;
    let from = async |address: &str, code: &str| {
        let request = app.request(Method::POST, "/v1/tokens").header("x-forwarded-for", address);
        send(request.json(&json!({"grant_type": "recovery_code", "recovery_code": code}))).await
    };
    app.post("/v1/me/recovery-code", Some(&ana), &json!({})).await;
    // A void code, a wrong one, and what is no code at all look alike.
    let guesses = [first.string("/recovery_code"), "00000-00000-00000-00000-00000".to_owned(), String::new()];
    let mut details = vec![];
    for guess in &guesses {
        let refused = from("192.0.2.1", guess).await;
        refused.is_problem(401, "invalid_credentials");
        details.push(refused.string("/detail"));
    }
    assert!(details.iter().all(|detail| *detail == details[0]));
    let mut refused = 0;
    for _ in 0..40 {
        refused += u32::from(from("192.0.2.1", "guess").await.status == 429);
    }
    assert!(refused >= 10, "{refused}");
    // Other networks are not affected.
    from("192.0.2.2", "guess").await.is_problem(401, "invalid_credentials");
}

#[actix_web::test]
async fn sign_ins_are_listed_and_ended_one_by_one() {
    let app = TestApp::start().await;
    let (ana, first) = created(&app, &json!({"name": "Ana", "password": PASSWORD})).await;
    let second = app.sign_in("Ana", PASSWORD).await;
    let ids = async |guest: &Guest| -> Vec<String> {
        let list = app.get("/v1/me/sign-ins", Some(guest)).await;
        assert_eq!(list.status, 200, "{list:?}");
        let items = list.body["items"].as_array().expect("items").clone();
        items.iter().map(|item| item["id"].as_str().expect("an id").to_owned()).collect()
    };
    let (old, new) = (first.string("/sign_in_id"), second.string("/sign_in_id"));
    assert_eq!(ids(&ana).await, [new.clone(), old.clone()]);
    let refreshed = app.refresh(&first.string("/refresh_token")).await;
    assert_eq!(refreshed.string("/sign_in_id"), old);
    let end = async |id: &str, guest: Option<&Guest>| {
        send(signed(app.request(Method::DELETE, &format!("/v1/me/sign-ins/{id}")), guest)).await
    };
    let (bo, _) = created(&app, &json!({})).await;
    end(&old, Some(&bo)).await.is_problem(404, "not_found");
    end("nonsense", Some(&ana)).await.is_problem(404, "not_found");
    end(&old, None).await.is_problem(401, "unauthenticated");
    for _ in 0..2 {
        assert_eq!(end(&old, Some(&ana)).await.status, 204);
    }
    assert_eq!(ids(&ana).await, [new]);
    app.refresh(&refreshed.string("/refresh_token")).await.is_problem(401, "invalid_token");
    assert_eq!(app.refresh(&second.string("/refresh_token")).await.status, 200);
    app.get("/v1/me/sign-ins?limit=5", Some(&ana)).await.is_problem(422, "validation_failed");
}

#[actix_web::test]
async fn a_lost_answer_makes_no_second_player() {
    let app = TestApp::start().await;
    let key = "5f0c6a1e-7a34-4a0e-9f0e-2f4e8c5f7f2b";
    let create = async |key: &str, body: &Value| {
        send(app.request(Method::POST, "/v1/players").header("idempotency-key", key).json(body)).await
    };
    let body = json!({"name": "Ana", "password": PASSWORD});
    let first = create(key, &body).await;
    let again = create(key, &body).await;
    assert_eq!((first.status.as_u16(), again.status.as_u16()), (201, 201), "{again:?}");
    assert_eq!(first.body["player"], again.body["player"]);
    assert!(first.headers.get("idempotent-replayed").is_none() && again.headers["idempotent-replayed"] == "true");
    for tokens in [&first, &again] {
        assert_eq!(app.refresh(&tokens.string("/refresh_token")).await.status, 200);
    }
    // The code of the answer that arrived is the one that counts.
    recover(&app, &first.string("/recovery_code")).await.is_problem(401, "invalid_credentials");
    assert_eq!(recover(&app, &again.string("/recovery_code")).await.status, 200);
    create(key, &json!({"name": "Bo"})).await.is_problem(422, "idempotency_key_reused");
    create("short", &json!({})).await.is_problem(422, "validation_failed");
    let other = "0b6ac8f3-1d53-4a0e-b7a5-93a9b7a6c0de";
    create(other, &body).await.is_problem(409, "name_taken");
    // Requests at the same moment make one player, and a name that was taken uses up no key.
    let cy = json!({"name": "Cy"});
    let racing = join_all((0..8).map(|_| create(other, &cy))).await;
    assert!(racing.iter().all(|answer| answer.status == 201 && answer.body["player"] == racing[0].body["player"]));
    let players: i64 = sqlx::query_scalar("select count(*) from player where name in ('Ana', 'Cy')")
        .fetch_one(&app.db)
        .await
        .expect("a count");
    assert_eq!(players, 2);
    // A new password ends what the key proves, and so does a day.
    let ana = player_of(&again);
    assert_eq!(app.patch("/v1/me", Some(&ana), &json!({"password": "battery staple"})).await.status, 200);
    create(key, &body).await.is_problem(422, "idempotency_key_reused");
    sqlx::raw_sql("update player_key set created_at = created_at - interval '1 day'")
        .execute(&app.db)
        .await
        .expect("time");
    assert_ne!(create(other, &cy).await.body["player"], racing[0].body["player"]);
}
