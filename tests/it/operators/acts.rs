//! What operators see and do, and the log of it.

use mancala_server::{
    db::{operators::acts::renamed_since, players},
    domain::PlayerId,
};
use serde_json::{Value, json};

use super::{act, operator, private, suspend};
use crate::support::{
    answer::Answer,
    app::TestApp,
    calls::{self, Guest},
    clock::now,
    database::count_rows,
};

const PASSWORD: &str = "correct horse";

async fn report(app: &TestApp, reporter: &Guest, player: &Guest) -> Answer {
    let body = json!({"reason": "name", "note": "It is rude."});
    app.post(&format!("/v1/players/{}/reports", player.id), Some(reporter), &body).await
}

/// The types of the acts of a page.
fn types(page: &Answer) -> Vec<&str> {
    page.body["items"].as_array().expect("a page").iter().map(|act| act["type"].as_str().expect("a word")).collect()
}

#[actix_web::test]
async fn reports_are_listed_until_they_are_closed_with_a_finding() {
    let app = TestApp::start().await;
    let (kim, bad) = (operator(&app, "kim").await, app.guest("Bad").await);
    let mut ids = vec![];
    for name in ["Ana", "Bo", "Cy"] {
        ids.insert(0, report(&app, &app.guest(name).await, &bad).await.string("/id"));
    }
    let (mut seen, mut path) = (vec![], "/v1/operator/reports?limit=2".to_owned());
    loop {
        let page = app.get(&path, Some(&kim)).await;
        seen.extend(page.ids());
        let Some(cursor) = page.body["next_cursor"].as_str() else { break };
        path = format!("/v1/operator/reports?limit=2&cursor={cursor}");
        app.get(&format!("{path}&status=closed"), Some(&kim)).await.is_problem(422, "validation_failed");
    }
    // The one that has waited longest comes first.
    assert_eq!(seen.iter().rev().collect::<Vec<_>>(), ids.iter().collect::<Vec<_>>());
    let page = app.get("/v1/operator/reports", Some(&kim)).await;
    assert_eq!(page.body["items"][0]["reporter"]["name_then"], "Ana");
    assert_eq!(page.body["items"][0]["player"], json!({"id": bad.id, "name_then": "Bad"}));
    let close = format!("/v1/operator/reports/{}/close", ids[1]);
    for body in [json!({}), json!({"finding": "so"}), json!({"finding": "upheld", "remark": ""})] {
        app.post(&close, Some(&kim), &body).await.is_problem(422, "validation_failed");
    }
    let closed = app.post(&close, Some(&kim), &json!({"finding": "upheld", "remark": "Rude indeed."})).await;
    assert_eq!(closed.status, 201, "{closed:?}");
    let fields = ["operator", "type", "player_id", "report_id", "reason"].map(|field| closed.body[field].clone());
    assert_eq!(fields, [json!("kim"), json!("close_report"), json!(bad.id), json!(ids[1]), Value::Null]);
    let listed = app.get("/v1/operator/reports?status=closed", Some(&kim)).await;
    assert_eq!(
        listed.body["items"][0]["remark"], "Rude indeed.",
        "the report has the remark, and goes with its players"
    );
    assert_eq!(closed.body["after"], json!({"finding": "upheld"}));
    app.post(&close, Some(&kim), &json!({"finding": "rejected"})).await.is_problem(403, "forbidden");
    for id in ["0199aaaa-0000-7000-8000-000000000000", "x"] {
        let path = format!("/v1/operator/reports/{id}/close");
        app.post(&path, Some(&kim), &json!({"finding": "upheld"})).await.is_problem(404, "not_found");
    }
    let list = async |query: &str| app.get(&format!("/v1/operator/reports?{query}"), Some(&kim)).await;
    assert_eq!(list("status=open").await.ids(), [ids[2].clone(), ids[0].clone()]);
    let page = list("status=closed").await;
    assert_eq!((page.ids(), &page.body["items"][0]["finding"]), (vec![ids[1].clone()], &json!("upheld")));
    assert_eq!(list(&format!("player_id={}", bad.id)).await.ids(), ids);
    // A closed report leaves room for another one.
    let bo = page.body["items"][0]["reporter"]["id"].as_str().expect("an id").to_owned();
    let caller = calls::guest(PlayerId(bo.parse().expect("an id")));
    let again = Guest { token: app.tokens.issue(caller, now()), id: bo };
    assert_eq!(report(&app, &again, &bad).await.status, 201);
}

#[actix_web::test]
async fn each_act_is_logged_with_what_was_before() {
    let app = TestApp::start().await;
    let (kim, bo, ana) =
        (operator(&app, "kim").await, app.account("Rude", PASSWORD).await, app.account("Ana", PASSWORD).await);
    let warned = act(&app, &kim, &bo.id, &json!({"type": "warn", "reason": "Be kind."})).await;
    assert_eq!(warned.status, 201, "{warned:?}");
    let renamed = act(&app, &kim, &bo.id, &json!({"type": "rename", "reason": "rude", "name": "Player 17"})).await;
    assert_eq!(
        (&renamed.body["before"], &renamed.body["after"]),
        (&json!({"name": "Rude"}), &json!({"name": "Player 17"}))
    );
    assert_eq!(app.get(&format!("/v1/players/{}", bo.id), None).await.body["name"], "Player 17");
    assert_eq!(app.sign_in("Player 17", PASSWORD).await.status, 200);
    act(&app, &kim, &bo.id, &json!({"type": "rename", "reason": "x", "name": "ANA"}))
        .await
        .is_problem(409, "name_taken");
    let suspended = suspend(&app, &kim, &bo, "suspend").await;
    assert_eq!((&suspended.body["before"], &suspended.body["after"]["is_banned"]), (&Value::Null, &json!(false)));
    let banned = suspend(&app, &kim, &bo, "ban").await;
    assert_eq!(banned.body["before"], suspended.body["after"]);
    assert_eq!(banned.body["after"], json!({"is_banned": true, "reason": "spam"}));
    let lift = json!({"type": "lift", "reason": "sorry"});
    let lifted = act(&app, &kim, &bo.id, &lift).await;
    assert_eq!((&lifted.body["before"], &lifted.body["after"]), (&banned.body["after"], &Value::Null));
    act(&app, &kim, &bo.id, &lift).await.is_problem(403, "forbidden");
    let log = app.get(&format!("/v1/operator/acts?player_id={}", bo.id), Some(&kim)).await;
    assert_eq!(types(&log), ["lift", "ban", "suspend", "rename", "warn"]);
    assert_eq!(log.body["items"][4], warned.body);
    suspend(&app, &kim, &ana, "ban").await;
    assert_eq!(types(&app.get("/v1/operator/acts?limit=2", Some(&kim)).await), ["ban", "lift"]);
    let shown = app.get(&format!("/v1/operator/players/{}", ana.id), Some(&kim)).await;
    assert_eq!((&shown.body["suspension"]["until"], &shown.body["acts"][0]["type"]), (&Value::Null, &json!("ban")));
    let shown = app.get(&format!("/v1/operator/players/{}", bo.id), Some(&kim)).await;
    assert_eq!((&shown.body["suspension"], &shown.body["player"]["name"]), (&Value::Null, &json!("Player 17")));
    let me = app.get("/v1/me", Some(&bo)).await;
    assert_eq!(me.body["warnings"][0]["reason"], "Be kind.");
    for changed in ["delete from operator_act", "update operator_act set operator = 'lee'"] {
        let refused = sqlx::query(changed).execute(&app.db).await.expect_err("the log only grows");
        assert!(refused.to_string().contains("append-only"), "{refused}");
    }
}

#[actix_web::test]
async fn an_account_is_shown_the_warnings_of_a_guest_that_it_took_along() {
    let app = TestApp::start().await;
    let (kim, guest, ana) = (operator(&app, "kim").await, app.guest("Rude").await, app.account("Ana", PASSWORD).await);
    for (player, reason) in [(&guest, "first"), (&ana, "second")] {
        let warned = act(&app, &kim, &player.id, &json!({"type": "warn", "reason": reason})).await;
        assert_eq!(warned.status, 201, "{warned:?}");
    }
    let merged = app.post("/v1/me/merge", Some(&ana), &json!({"guest_token": guest.token})).await;
    assert_eq!(merged.status, 200, "{merged:?}");
    let me = app.get("/v1/me", Some(&ana)).await.body;
    let reasons: Vec<_> = me["warnings"].as_array().expect("warnings").iter().map(|one| &one["reason"]).collect();
    assert_eq!(reasons, ["second", "first"]);
}

#[actix_web::test]
async fn a_name_that_an_operator_gave_stays_for_a_week() {
    let app = TestApp::start().await;
    let (kim, bo) = (operator(&app, "kim").await, app.account("Rude", PASSWORD).await);
    let rename = json!({"type": "rename", "reason": "rude", "name": "Player 17"});
    assert_eq!(act(&app, &kim, &bo.id, &rename).await.status, 201);
    for name in ["Rude", "Ruder"] {
        app.patch("/v1/me", Some(&bo), &json!({"name": name})).await.is_problem(403, "forbidden");
    }
    // Its own name is no change, and all else changes as before.
    assert_eq!(app.patch("/v1/me", Some(&bo), &json!({"name": "Player 17"})).await.status, 200);
    let changed = app.patch("/v1/me", Some(&bo), &json!({"password": "battery staple"})).await;
    let bo = Guest { token: changed.string("/tokens/access_token"), ..bo };
    app.patch("/v1/me", Some(&bo), &json!({"name": "Rude"})).await.is_problem(403, "forbidden");
    let player = PlayerId(bo.id.parse().expect("an id"));
    let later = renamed_since(&app.db, player, now() + time::Duration::seconds(1)).await.expect("a database");
    assert_eq!(later, None);
    // A week later the name is free.
    let aged = "alter table operator_act disable trigger operator_acts_kept; \
                update operator_act set at = at - interval '7 days'";
    sqlx::raw_sql(aged).execute(&app.db).await.expect("a week passes");
    assert_eq!(app.patch("/v1/me", Some(&bo), &json!({"name": "Rude"})).await.status, 200);
}

#[actix_web::test]
async fn an_app_does_not_take_back_a_name_that_an_operator_gave() {
    let app = TestApp::start().await;
    let (kim, acme) = (operator(&app, "kim").await, app.new_app("acme").await);
    let player = app.write_app_player(&acme, "7", "Rude").await.string("/player/id");
    let renamed = act(&app, &kim, &player, &json!({"type": "rename", "name": "Calm", "reason": "rude"})).await;
    assert_eq!(renamed.status, 201, "{renamed:?}");
    let written = app.write_app_player(&acme, "7", "Rude").await;
    assert_eq!((written.status.as_u16(), written.string("/player/name")), (200, "Calm".to_owned()));
}

#[actix_web::test]
async fn an_export_has_the_suspension_and_the_warnings() {
    let app = TestApp::start().await;
    let (kim, bo) = (operator(&app, "kim").await, app.guest("Bo").await);
    let export = app.get("/v1/me/export", Some(&bo)).await;
    assert_eq!((&export.body["suspension"], &export.body["warnings"]), (&Value::Null, &json!([])));
    act(&app, &kim, &bo.id, &json!({"type": "warn", "reason": "Be kind."})).await;
    suspend(&app, &kim, &bo, "ban").await;
    let export = app.get("/v1/me/export", Some(&bo)).await;
    assert_eq!(
        (&export.body["suspension"]["reason"], &export.body["suspension"]["until"]),
        (&json!("spam"), &Value::Null)
    );
    assert_eq!(export.body["warnings"][0]["reason"], "Be kind.");
}

#[actix_web::test]
async fn a_wrong_act_is_refused_and_nothing_is_logged() {
    let app = TestApp::start().await;
    let (kim, bo, gone) = (operator(&app, "kim").await, app.guest("Bo").await, app.guest("Gone").await);
    app.delete_me(&gone).await;
    for (body, pointer) in [
        (json!({"type": "warn"}), "/reason"),
        (json!({"type": "kick", "reason": "x"}), "/type"),
        (json!({"type": "warn", "reason": "a\u{0}"}), "/reason"),
        (json!({"type": "warn", "reason": "x".repeat(1001)}), "/reason"),
        (json!({"type": "rename", "reason": "x"}), "/name"),
        (json!({"type": "warn", "reason": "x", "name": "Bo"}), "/name"),
        (json!({"type": "suspend", "reason": "x"}), "/until"),
        (json!({"type": "suspend", "reason": "x", "until": "tomorrow"}), "/until"),
        (json!({"type": "suspend", "reason": "x", "until": "2020-01-01T00:00:00Z"}), "/until"),
        (json!({"type": "suspend", "reason": "x", "until": "9999-01-01T00:00:00Z"}), "/until"),
        (json!({"type": "ban", "reason": "x", "until": "2027-01-01T00:00:00Z"}), "/until"),
    ] {
        let refused = act(&app, &kim, &bo.id, &body).await;
        refused.is_problem(422, "validation_failed");
        assert_eq!(refused.body["errors"][0]["pointer"], pointer, "{body}");
    }
    let warn = json!({"type": "warn", "reason": "x"});
    act(&app, &kim, &gone.id, &warn).await.is_problem(403, "forbidden");
    act(&app, &kim, "0199aaaa-0000-7000-8000-000000000000", &warn).await.is_problem(404, "not_found");
    assert_eq!(
        (
            count_rows(&app, "operator_act where act <> 'create_operator'").await,
            count_rows(&app, "player_suspension").await
        ),
        (0, 0)
    );
}

#[actix_web::test]
async fn an_erasure_leaves_of_acts_who_acted_when_and_how() {
    let app = TestApp::start().await;
    let (kim, ana, bo) = (operator(&app, "kim").await, app.guest("Ana").await, app.guest("Bo").await);
    let reported = report(&app, &ana, &bo).await.string("/id");
    let body = json!({"finding": "upheld", "remark": "Bo was rude"});
    app.post(&format!("/v1/operator/reports/{reported}/close"), Some(&kim), &body).await;
    suspend(&app, &kim, &bo, "ban").await;
    act(&app, &kim, &ana.id, &json!({"type": "warn", "reason": "x"})).await;
    assert_eq!(app.delete_me(&bo).await.status, 204);
    let log = app.get("/v1/operator/acts", Some(&kim)).await;
    assert_eq!(types(&log), ["warn", "ban", "close_report", "create_operator"]);
    for item in &log.body["items"].as_array().expect("a page")[1..3] {
        let left = ["player_id", "report_id", "reason", "before", "after"].map(|field| item[field].clone());
        assert_eq!((left, &item["operator"]), ([const { Value::Null }; 5], &json!("kim")));
    }
    assert_eq!(log.body["items"][0]["player_id"], json!(ana.id));
    let rows = ["player_suspension", "player_report"].map(|table| count_rows(&app, table));
    assert_eq!(futures_util::future::join_all(rows).await, [0, 0]);
    // A purged guest leaves no player and no reason in the log of acts.
    let later = now() + time::Duration::days(400);
    players::purge_guests(&app.db, later, None, 100).await.expect("guests go");
    assert_eq!(count_rows(&app, "operator_act where player_id is not null or reason is not null").await, 0);
}

#[actix_web::test]
async fn the_private_game_of_an_open_report_is_read_and_each_reading_is_logged() {
    let app = TestApp::start().await;
    let (kim, ana, bo) = (operator(&app, "kim").await, app.guest("Ana").await, app.guest("Bo").await);
    let id = app.started_between(&ana, &bo, &private(&bo)).await;
    assert_eq!(app.play_move(&id, &ana, 1, "A").await.status, 201);
    app.get(&format!("/v1/games/{id}"), None).await.is_problem(404, "not_found");
    let body = json!({"reason": "stalling", "game_id": id});
    let made = app.post(&format!("/v1/players/{}/reports", bo.id), Some(&ana), &body).await.string("/id");
    let path = format!("/v1/operator/reports/{made}/game");
    app.get(&path, Some(&ana)).await.is_problem(401, "invalid_token");
    for _ in 0..2 {
        let read = app.get(&path, Some(&kim)).await;
        assert_eq!((read.string("/game/id"), &read.body["moves"][0]["move"]), (id.clone(), &json!("A")), "{read:?}");
        assert_eq!(read.body["game"]["join_code"], Value::Null);
    }
    let log = app.get(&format!("/v1/operator/acts?player_id={}", bo.id), Some(&kim)).await;
    assert_eq!(types(&log), ["read_game", "read_game"]);
    let act = &log.body["items"][0];
    assert_eq!(
        [&act["operator"], &act["report_id"], &act["after"]],
        [&json!("kim"), &json!(made), &json!({"game_id": id})]
    );
    let without = report(&app, &ana, &bo).await.string("/id");
    for id in [&*without, "0199aaaa-0000-7000-8000-000000000000", "x"] {
        app.get(&format!("/v1/operator/reports/{id}/game"), Some(&kim)).await.is_problem(404, "not_found");
    }
    let close = format!("/v1/operator/reports/{made}/close");
    assert_eq!(app.post(&close, Some(&kim), &json!({"finding": "rejected"})).await.status, 201);
    app.get(&path, Some(&kim)).await.is_problem(403, "forbidden");
    assert_eq!(count_rows(&app, "operator_act where act = 'read_game'").await, 2);
}
