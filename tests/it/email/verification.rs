//! Setting, confirming and removing an address.

use serde_json::{Value, json};
use sqlx::AssertSqlSafe;

use super::steps::{PASSWORD, ask, remove, set, start, verified, verify};
use crate::support::{app::TestApp, calls::Guest, database::count_rows};

#[actix_web::test]
async fn an_address_counts_when_its_link_was_used_which_works_once() {
    let (app, smtp) = start().await;
    let ana = app.account("Ana", PASSWORD).await;
    let none = app.get("/v1/me/email", Some(&ana)).await;
    assert_eq!(none.body, json!({"is_available": true, "email": null, "verified_at": null, "pending": null}));
    let asked = set(&app, &ana, "Ana@Bücher.Example").await;
    assert_eq!((asked.status.as_u16(), &asked.body["email"]), (200, &Value::Null), "{asked:?}");
    assert_eq!(asked.body["pending"]["email"], "Ana@xn--bcher-kva.example");
    // What is asked for twice is sent once.
    set(&app, &ana, "Ana@bücher.example").await;
    let mail = smtp.deliver_one(&app).await;
    assert_eq!(
        (mail.to.as_str(), mail.subject()),
        ("Ana@xn--bcher-kva.example", "Confirm your e-mail address for play.example")
    );
    assert!(mail.text.contains("\nhttps://play.example/mancala/email/verify?token="), "{mail:?}");
    assert!(
        mail.head.contains("Auto-Submitted: auto-generated")
            && mail.head.contains("From: Mancala <noreply@play.example>")
    );
    assert!(!mail.text.contains("Ana"), "an unconfirmed address gets no words of a player");
    let token = mail.token();
    let rows: String = sqlx::query_scalar("select string_agg(row_to_json(email_token)::text, ' ') from email_token")
        .fetch_one(&app.db)
        .await
        .expect("a row");
    assert!(!rows.contains(&token), "only a hash is stored");
    assert_eq!(verify(&app, &token).await.body, json!({"email": "Ana@xn--bcher-kva.example"}));
    verify(&app, &token).await.is_problem(422, "invalid_link");
    let known = app.get("/v1/me/email", Some(&ana)).await;
    assert_eq!(known.body["email"], "Ana@xn--bcher-kva.example");
    assert!(known.body["verified_at"].is_string() && known.body["pending"].is_null());
    // The same address again, whatever its capitals, sends nothing.
    assert!(set(&app, &ana, "ANA@bücher.example").await.body["pending"].is_null());
    assert!(smtp.deliver(&app).await.is_empty());
    assert_eq!(app.get("/v1/me/export", Some(&ana)).await.body["email"]["email"], "Ana@xn--bcher-kva.example");
}

#[actix_web::test]
async fn what_is_wrong_is_said_and_queues_nothing() {
    let (app, _) = start().await;
    let ana = app.account("Ana", PASSWORD).await;
    for email in [
        "",
        "ana",
        "a@b@c.example",
        "a b@c.example",
        "ana@localhost",
        "ana@[127.0.0.1]",
        "ana@c.example\r\nBcc: bo@d.example",
        "ana\r\nBcc: bo@d.example",
        "\"ana\"@c.example",
        "ana@c.example,bo@d.example",
        &format!("{}@c.example", "a".repeat(65)),
    ] {
        let refused = set(&app, &ana, email).await;
        refused.is_problem(422, "validation_failed");
        assert_eq!(refused.body["errors"][0]["pointer"], "/email", "{email:?}");
        let refused = app.post("/v1/password-reset", None, &json!({ "email": email })).await;
        refused.is_problem(422, "validation_failed");
    }
    let wrong = json!({"email": "ana@c.example", "current_password": "wrong horse"});
    app.put("/v1/me/email", Some(&ana), &wrong).await.is_problem(401, "invalid_credentials");
    set(&app, &app.guest("Bo").await, "bo@c.example").await.is_problem(403, "forbidden");
    app.put("/v1/me/email", None, &wrong).await.is_problem(401, "unauthenticated");
    for token in ["", "a", &"a".repeat(4_000)] {
        verify(&app, token).await.is_problem(422, "invalid_link");
    }
    for table in ["mail", "account_email", "password_reset_request", "email_token"] {
        assert_eq!(count_rows(&app, table).await, 0, "{table}");
    }
}

#[actix_web::test]
async fn an_address_of_another_account_is_told_to_its_mailbox_alone() {
    let (app, smtp) = start().await;
    verified(&app, &smtp, "Ana", "ana@mail.example").await;
    let [bo, cy] = [app.account("Bo", PASSWORD).await, app.account("Cy", PASSWORD).await];
    let mut answers = vec![];
    for (account, email) in [(&bo, "ANA@mail.example"), (&cy, "cyd@mail.example")] {
        let mut answer = set(&app, account, email).await;
        let pending = answer.body["pending"].as_object_mut().expect("it waits");
        assert!(pending.remove("since").is_some() && pending.remove("email").is_some());
        answers.push((answer.status, answer.body.clone(), answer.headers["content-length"].clone()));
    }
    assert_eq!(answers[0], answers[1]);
    let mails = smtp.deliver(&app).await;
    let to_ana = mails.iter().find(|mail| mail.to == "ANA@mail.example").expect("a mail");
    assert!(to_ana.text.contains("another account there has it") && !to_ana.text.contains("token"), "{to_ana:?}");
    assert_eq!(mails.len(), 2);
}

#[actix_web::test]
async fn of_two_accounts_with_links_to_one_address_the_first_gets_it() {
    let (app, smtp) = start().await;
    let [bo, cy] = [app.account("Bo", PASSWORD).await, app.account("Cy", PASSWORD).await];
    let mut tokens = vec![];
    for account in [&bo, &cy] {
        set(&app, account, "one@mail.example").await;
        tokens.push(smtp.deliver_one(&app).await.token());
    }
    assert_eq!(verify(&app, &tokens[1]).await.status, 200);
    verify(&app, &tokens[0]).await.is_problem(422, "invalid_link");
    assert_eq!(app.get("/v1/me/email", Some(&cy)).await.body["email"], "one@mail.example");
    assert!(app.get("/v1/me/email", Some(&bo)).await.body["email"].is_null());
}

#[actix_web::test]
async fn a_link_is_void_when_it_has_expired_or_another_address_is_set() {
    let (app, smtp) = start().await;
    let ana = app.account("Ana", PASSWORD).await;
    set(&app, &ana, "first@mail.example").await;
    let first = smtp.deliver_one(&app).await.token();
    set(&app, &ana, "second@mail.example").await;
    verify(&app, &first).await.is_problem(422, "invalid_link");
    let second = smtp.deliver_one(&app).await.token();
    sqlx::query("update email_token set expires_at = now()").execute(&app.db).await.expect("it has expired");
    verify(&app, &second).await.is_problem(422, "invalid_link");
    // An address that was not confirmed in time is no longer shown.
    let late = "update account_email set pending_since = now() - interval '1 day'";
    sqlx::query(late).execute(&app.db).await.expect("it has expired");
    assert!(app.get("/v1/me/email", Some(&ana)).await.body["pending"].is_null());
}

#[actix_web::test]
async fn the_address_before_is_told_of_a_change_and_of_its_removal() {
    let (app, smtp) = start().await;
    let ana = verified(&app, &smtp, "Ana", "old@mail.example").await;
    set(&app, &ana, "new@mail.example").await;
    assert_eq!(app.get("/v1/me/email", Some(&ana)).await.body["email"], "old@mail.example", "until it is confirmed");
    assert_eq!(verify(&app, &smtp.deliver_one(&app).await.token()).await.status, 200);
    let told = smtp.deliver_one(&app).await;
    assert_eq!((told.to.as_str(), told.subject()), ("old@mail.example", "Another e-mail address at play.example"));
    assert!(told.text.contains("\"Ana\"") && !told.text.contains("new@"), "{told:?}");
    // A token alone removes nothing.
    for body in
        [json!({"email": null, "current_password": "wrong horse"}), json!({"email": null, "current_password": ""})]
    {
        app.put("/v1/me/email", Some(&ana), &body).await.is_problem(401, "invalid_credentials");
    }
    let no_address = json!({"current_password": PASSWORD});
    app.put("/v1/me/email", Some(&ana), &no_address).await.is_problem(422, "validation_failed");
    assert_eq!(app.get("/v1/me/email", Some(&ana)).await.body["email"], "new@mail.example");
    assert_eq!(remove(&app, &ana).await.status, 200);
    let told = smtp.deliver_one(&app).await;
    assert_eq!(
        (told.to.as_str(), told.subject()),
        ("new@mail.example", "Your e-mail address was removed at play.example")
    );
    assert_eq!(remove(&app, &ana).await.status, 200, "again");
    assert!(smtp.deliver(&app).await.is_empty());
    assert!(app.get("/v1/me/email", Some(&ana)).await.body["email"].is_null());
    // Another account may have it now.
    verified(&app, &smtp, "Bo", "new@mail.example").await;
}

/// The tables with a row that has an address of the tests in it.
async fn tables_with_addresses(app: &TestApp) -> Vec<String> {
    let tables = "select tablename::text from pg_tables where schemaname = 'public' order by 1";
    let tables: Vec<String> = sqlx::query_scalar(tables).fetch_all(&app.db).await.expect("tables");
    let mut found = vec![];
    for table in tables {
        let rows = format!("select count(*) from {table} t where t::text ilike '%mail.example%'");
        let count: i64 = sqlx::query_scalar(AssertSqlSafe(rows)).fetch_one(&app.db).await.expect("a count");
        found.extend((count > 0).then_some(table));
    }
    found
}

#[actix_web::test]
async fn an_erasure_deletes_addresses_links_mails_and_requests() {
    let (app, smtp) = start().await;
    let ana = verified(&app, &smtp, "Ana", "Ana@mail.example").await;
    let changed = app.patch("/v1/me", Some(&ana), &json!({"password": "battery staple"})).await;
    let ana = Guest { id: ana.id, token: changed.string("/tokens/access_token") };
    let other = json!({"email": "Other@mail.example", "current_password": "battery staple"});
    assert_eq!(app.put("/v1/me/email", Some(&ana), &other).await.status, 200);
    smtp.deliver(&app).await;
    let again = json!({"email": "Other@mail.example", "current_password": "battery staple"});
    assert_eq!(app.put("/v1/me/email", Some(&ana), &again).await.status, 200);
    for email in ["ana@mail.example", "other@mail.example"] {
        assert_eq!(ask(&app, email).await.status, 202);
    }
    let tables = ["account_email", "email_token", "mail", "password_reset_request"];
    assert_eq!(tables_with_addresses(&app).await, tables);
    assert_eq!(app.delete_me(&ana).await.status, 204);
    // What tells the erasure stays until it is sent, and is sent to the verified address alone.
    assert_eq!(tables_with_addresses(&app).await, ["mail"]);
    let told = smtp.deliver_all(&app, 1).await.remove(0);
    assert_eq!((told.to.as_str(), told.subject()), ("Ana@mail.example", "Your account at play.example was erased"));
    assert_eq!(tables_with_addresses(&app).await, [] as [&str; 0]);
}

#[actix_web::test]
async fn an_address_that_waits_is_given_up_by_the_verified_one() {
    let (app, smtp) = start().await;
    let ana = verified(&app, &smtp, "Ana", "ana@mail.example").await;
    set(&app, &ana, "mistyped@mail.example").await;
    let token = smtp.deliver_one(&app).await.token();
    let kept = set(&app, &ana, "ana@mail.example").await;
    assert_eq!((&kept.body["email"], &kept.body["pending"]), (&json!("ana@mail.example"), &Value::Null));
    verify(&app, &token).await.is_problem(422, "invalid_link");
    assert!(smtp.deliver(&app).await.is_empty());
}

#[actix_web::test]
async fn without_an_smtp_server_the_api_says_so() {
    let app = TestApp::start().await;
    let ana = app.account("Ana", PASSWORD).await;
    set(&app, &ana, "ana@mail.example").await.is_problem(409, "email_not_configured");
    let asked = app.post("/v1/password-reset", None, &json!({"email": "ana@mail.example"})).await;
    asked.is_problem(409, "email_not_configured");
    assert_eq!(app.get("/v1/password-reset", None).await.body, json!({"is_available": false}));
    assert_eq!(app.get("/v1/me/email", Some(&ana)).await.body["is_available"], false);
    // What was set before can be removed.
    assert_eq!(remove(&app, &ana).await.status, 200);
    assert_eq!(count_rows(&app, "password_reset_request").await, 0);
    let (app, _) = start().await;
    assert_eq!(app.get("/v1/password-reset", None).await.body, json!({"is_available": true}));
}
