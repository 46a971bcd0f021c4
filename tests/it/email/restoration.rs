//! An account is given back by the link of a mail that told a change of it.

use mancala_server::http::Mailing;
use mancala_server::webhook::Reach;
use reqwest::Method;
use serde_json::{Value, json};

use super::steps::{PASSWORD, ask, press, remove, reset, set, verified, verify};
use crate::support::{
    answer::Answer,
    app::TestApp,
    calls::{Guest, send},
    database::count_rows,
    issuer::{StubIssuer, player_of},
    smtp::{Mail, SmtpServer},
};

async fn start() -> (TestApp, SmtpServer, StubIssuer) {
    let issuer = StubIssuer::start();
    (
        TestApp::start_with(|service| {
            service.settings.mailing = Mailing::On;
            service.issuers = issuer.issuers(Reach::Anywhere);
        })
        .await,
        SmtpServer::start().await,
        issuer,
    )
}

async fn restore(app: &TestApp, token: &str) -> Answer {
    press(app, "/email/restore", &[("token", token)]).await
}

async fn new_password(app: &TestApp, account: &Guest, password: &str) -> Guest {
    let changed = app.patch("/v1/me", Some(account), &json!({ "password": password })).await;
    assert_eq!(changed.status, 200, "{changed:?}");
    Guest { id: account.id.clone(), token: changed.string("/tokens/access_token") }
}

/// Gives an account another address, and returns what its former one was told.
async fn move_address(app: &TestApp, smtp: &SmtpServer, account: &Guest, password: &str, to: &str) -> Mail {
    let body = json!({"email": to, "current_password": password});
    assert_eq!(app.put("/v1/me/email", Some(account), &body).await.status, 200);
    let mails = smtp.deliver(app).await;
    let mail = mails.iter().find(|mail| mail.to == to).expect("a mail");
    assert_eq!(verify(app, &mail.token()).await.status, 200);
    smtp.deliver_one(app).await
}

/// The token in the form of a page.
fn token_of(page: &Answer) -> &str {
    let (_, rest) = page.text.split_once("name=\"token\" value=\"").unwrap_or_else(|| panic!("no form: {page:?}"));
    rest.split('"').next().expect("a value")
}

#[actix_web::test]
async fn each_change_is_told_with_a_link_and_an_erasure_without() {
    let (app, smtp, issuer) = start().await;
    let mut ana = verified(&app, &smtp, "Ana", "ana@mail.example").await;
    let told = async |subject: &str| {
        let mail = smtp.deliver_all(&app, 1).await.remove(0);
        assert_eq!((mail.to.as_str(), mail.subject()), ("ana@mail.example", subject));
        mail
    };
    assert_eq!(app.post("/v1/me/recovery-code", Some(&ana), &json!({})).await.status, 200);
    let mut mails = vec![told("A new recovery code at play.example").await];
    assert_eq!(app.link(&issuer, "ana", &ana).await.status, 201);
    mails.push(told("A way to sign in was added at play.example").await);
    assert_eq!(app.unlink("stub", &ana).await.status, 204);
    mails.push(told("A way to sign in was removed at play.example").await);
    let guest = player_of(&app.sign_in_by(&issuer, "guest").await);
    assert_eq!(app.post("/v1/me/merge", Some(&ana), &json!({"guest_token": guest.token})).await.status, 200);
    mails.push(told("A way to sign in was added at play.example").await);
    ana = new_password(&app, &ana, "battery staple").await;
    mails.push(told("Your password has changed at play.example").await);
    for mail in &mails {
        assert!(mail.text.contains("\"Ana\"") && mail.text.contains("/mancala/email/restore?token="), "{mail:?}");
    }
    assert_eq!(app.delete_me(&ana).await.status, 204);
    let mail = told("Your account at play.example was erased").await;
    assert!(!mail.text.contains("http") && !mail.text.contains("Ana"), "{mail:?}");
    // Without an address there is nothing to tell.
    let bo = app.account("Bo", PASSWORD).await;
    assert_eq!(app.post("/v1/me/recovery-code", Some(&bo), &json!({})).await.status, 200);
    assert!(smtp.deliver(&app).await.is_empty());
}

#[actix_web::test]
async fn a_link_to_the_former_address_gives_a_stolen_account_back() {
    let (app, smtp, issuer) = start().await;
    let ana = verified(&app, &smtp, "Ana", "ana@mail.example").await;
    assert_eq!(app.link(&issuer, "thief", &ana).await.status, 201);
    smtp.deliver_all(&app, 1).await;
    // A thief with the password takes all of it.
    let link = move_address(&app, &smtp, &ana, PASSWORD, "thief@mail.example").await.token();
    sqlx::query("update email_token set since = since - interval '1 hour'")
        .execute(&app.db)
        .await
        .expect("time passes");
    let thief = new_password(&app, &ana, "battery staple").await;
    let known = "insert into sign_in_network (player_id, network, seen_at) \
        select id, gen_random_uuid(), now() from player where kind = 'account'";
    sqlx::query(known).execute(&app.db).await.expect("a network is known");
    assert_eq!(app.unlink("stub", &thief).await.status, 204);
    assert_eq!(app.link(&issuer, "thief", &thief).await.status, 201);
    let code = app.post("/v1/me/recovery-code", Some(&thief), &json!({})).await.string("/recovery_code");
    let own = smtp.deliver_all(&app, 4).await;
    assert!(own.iter().all(|mail| mail.to == "thief@mail.example"), "{own:?}");
    set(&app, &thief, "third@mail.example").await;

    let path = format!("/email/restore?token={link}");
    for method in [Method::GET, Method::HEAD, Method::GET] {
        assert_eq!(send(app.request(method, &path)).await.status, 200);
    }
    let page = app.get(&path, None).await;
    assert!(
        page.text.contains("<form method=\"post\" action=\"restore\">") && token_of(&page) == link,
        "{}",
        page.text
    );
    assert_eq!(app.get("/v1/me/email", Some(&thief)).await.body["email"], "thief@mail.example");

    let restored = restore(&app, &link).await;
    assert_eq!(restored.status, 200, "{restored:?}");
    assert!(restored.text.contains("action=\"reset\"") && restored.text.contains("name=\"password\""), "{restored:?}");
    app.get("/v1/me", Some(&thief)).await.is_problem(401, "invalid_token");
    assert_eq!(count_rows(&app, "sign_in_network").await, 0);
    for password in [PASSWORD, "battery staple"] {
        app.sign_in("Ana", password).await.is_problem(401, "invalid_credentials");
    }
    let recovery = json!({"grant_type": "recovery_code", "recovery_code": code});
    app.post("/v1/tokens", None, &recovery).await.is_problem(401, "invalid_credentials");
    assert_eq!(app.sign_in_by(&issuer, "thief").await.status, 201, "the thief is a new player");
    for mail in own {
        assert_eq!(restore(&app, &mail.token()).await.status, 422);
    }
    assert!(smtp.deliver(&app).await.is_empty(), "a restoration queues no mail");
    assert_eq!(restore(&app, &link).await.status, 422);

    let fields = [("token", token_of(&restored)), ("password", "stolen no more")];
    let done = press(&app, "/email/reset", &fields).await;
    assert!(done.status.is_success() && done.text.contains("Ana"), "{done:?}");
    let ana = player_of(&app.sign_in("Ana", "stolen no more").await);
    let email = app.get("/v1/me/email", Some(&ana)).await;
    assert_eq!((email.string("/email"), &email.body["pending"]), ("ana@mail.example".to_owned(), &Value::Null));
}

#[actix_web::test]
async fn what_was_there_before_the_change_stays() {
    let (app, smtp, issuer) = start().await;
    let ana = verified(&app, &smtp, "Ana", "ana@mail.example").await;
    assert_eq!(app.link(&issuer, "ana", &ana).await.status, 201);
    let code = app.post("/v1/me/recovery-code", Some(&ana), &json!({})).await.string("/recovery_code");
    for table in ["recovery_code", "player_identity"] {
        let past = sqlx::AssertSqlSafe(format!("update {table} set created_at = created_at - interval '5 minutes'"));
        sqlx::query(past).execute(&app.db).await.expect("time passes");
    }
    smtp.deliver_all(&app, 2).await;
    assert_eq!(remove(&app, &ana).await.status, 200);
    let link = smtp.deliver_one(&app).await.token();
    assert_eq!(restore(&app, &link).await.status, 200);
    assert_eq!(player_of(&app.sign_in_by(&issuer, "ana").await).id, ana.id);
    let recovery = json!({"grant_type": "recovery_code", "recovery_code": code});
    let ana = player_of(&app.post("/v1/tokens", None, &recovery).await);
    assert_eq!(app.get("/v1/me/email", Some(&ana)).await.body["email"], "ana@mail.example");
    // The form that was left is no loss: a link is asked for as ever.
    ask(&app, "ana@mail.example").await;
    assert_eq!(reset(&app, &smtp.deliver_one(&app).await.token(), "battery staple").await.status, 200);
}

#[actix_web::test]
async fn the_earliest_link_wins_whoever_uses_which_first() {
    let (app, smtp, _) = start().await;
    let ana = verified(&app, &smtp, "Ana", "ana@mail.example").await;
    let owners = move_address(&app, &smtp, &ana, PASSWORD, "thief@mail.example").await.token();
    let thiefs = move_address(&app, &smtp, &ana, PASSWORD, "third@mail.example").await.token();
    // A new password and a further address void neither.
    let thief = new_password(&app, &ana, "battery staple").await;
    move_address(&app, &smtp, &thief, "battery staple", "fourth@mail.example").await;
    let page = restore(&app, &thiefs).await;
    let fields = [("token", token_of(&page)), ("password", "correct staple")];
    assert_eq!(press(&app, "/email/reset", &fields).await.status, 200);
    assert_eq!(restore(&app, &owners).await.status, 200);
    app.sign_in("Ana", "correct staple").await.is_problem(401, "invalid_credentials");
    assert_eq!(count_rows(&app, "account_email where address = 'ana@mail.example'").await, 1);
    assert_eq!(count_rows(&app, "email_token").await, 1, "the owner's form");
}

#[actix_web::test]
async fn a_link_restores_for_seven_days_unless_another_account_has_the_address() {
    let (app, smtp, _) = start().await;
    let ana = verified(&app, &smtp, "Ana", "ana@mail.example").await;
    assert_eq!(remove(&app, &ana).await.status, 200);
    let link = smtp.deliver_one(&app).await.token();
    verified(&app, &smtp, "Bo", "ana@mail.example").await;
    assert_eq!(restore(&app, &link).await.status, 422);
    assert_eq!(app.get("/v1/me", Some(&ana)).await.status, 200);
    let days = "email_token where kind = 'restore_account'
        and expires_at between now() + interval '6 days 23 hours' and now() + interval '7 days'";
    assert_eq!(count_rows(&app, days).await, 1);
    sqlx::query("update account_email set address = 'bo@mail.example', address_key = 'bo@mail.example'")
        .execute(&app.db)
        .await
        .expect("Bo moves");
    let week = sqlx::query("update email_token set expires_at = expires_at - interval '7 days'");
    week.execute(&app.db).await.expect("a week passes");
    assert_eq!(restore(&app, &link).await.status, 422);
    for token in ["", "a", &"a".repeat(1_000)] {
        assert_eq!(restore(&app, token).await.status, 422);
    }
    // A link of another kind restores nothing.
    ask(&app, "bo@mail.example").await;
    assert_eq!(restore(&app, &smtp.deliver_one(&app).await.token()).await.status, 422);
}
