//! A new password by a link, and what asking for one does not tell.

use mancala_server::http::{Mailing, RateLimits};
use reqwest::{Method, header::HeaderMap};
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;

use super::steps::{PASSWORD, ask, reset, set, start, verified, verify};
use crate::support::{
    app::{LOOPBACK, TestApp},
    calls::{Guest, send, signed},
    database::count_rows,
    smtp::Mail,
};

const NEW: &str = "battery staple";

#[actix_web::test]
async fn a_link_sets_a_new_password_once_and_voids_all_tokens() {
    let (app, smtp) = start().await;
    let ana = verified(&app, &smtp, "Ana", "ana@mail.example").await;
    let before = app.sign_in("Ana", PASSWORD).await;
    assert_eq!(ask(&app, "ANA@mail.example").await.status, 202);
    let mail = smtp.deliver_one(&app).await;
    assert_eq!((mail.to.as_str(), mail.subject()), ("ana@mail.example", "Set a new password for play.example"));
    assert!(mail.text.contains("\"Ana\"") && mail.text.contains("\nhttps://play.example/mancala/email/reset?token="));
    // What is no link, and a password that is not accepted, use nothing up.
    reset(&app, "a", NEW).await.is_problem(422, "invalid_link");
    for refused in ["short", "password1", "Ana 12345"] {
        let refused = reset(&app, &mail.token(), refused).await;
        refused.is_problem(422, "validation_failed");
        assert_eq!(refused.body["errors"][0]["pointer"], "/password");
    }
    verify(&app, &mail.token()).await.is_problem(422, "invalid_link");
    let set = reset(&app, &mail.token(), NEW).await;
    assert_eq!((set.status.as_u16(), set.string("/player/id")), (200, ana.id.clone()), "{set:?}");
    app.get("/v1/me", Some(&ana)).await.is_problem(401, "invalid_token");
    app.refresh(&before.string("/refresh_token")).await.is_problem(401, "invalid_token");
    app.sign_in("Ana", PASSWORD).await.is_problem(401, "invalid_credentials");
    assert_eq!(app.sign_in("Ana", NEW).await.status, 200);
    assert_eq!(app.refresh(&set.string("/refresh_token")).await.status, 200);
    assert!(set.body["recovery_code"].is_string());
    reset(&app, &mail.token(), PASSWORD).await.is_problem(422, "invalid_link");
    let told = smtp.deliver_one(&app).await;
    assert_eq!((told.to.as_str(), told.subject()), ("ana@mail.example", "Your password has changed at play.example"));
}

/// The headers of an answer that do not differ from one call to the next.
fn lasting(mut headers: HeaderMap) -> HeaderMap {
    assert!(headers.remove("date").is_some() && headers.remove("x-request-id").is_some());
    headers
}

#[actix_web::test]
async fn a_known_and_an_unknown_address_are_answered_alike() {
    let (app, smtp) = start().await;
    verified(&app, &smtp, "Ana", "ana@mail.example").await;
    let waiting = app.account("Bo", PASSWORD).await;
    set(&app, &waiting, "bo@mail.example").await;
    smtp.deliver(&app).await;
    let mut answers = vec![];
    for (n, email) in (1..).zip(["ana@mail.example", "none@mail.example", "bo@mail.example"]) {
        let asked = ask(&app, email).await;
        answers.push((asked.status.as_u16(), asked.text.clone(), lasting(asked.headers)));
        // The call itself stores the same, and reads nothing.
        assert_eq!((count_rows(&app, "password_reset_request").await, count_rows(&app, "mail").await), (n, 0));
    }
    assert_eq!((answers[0].0, &answers[0].1), (202, &String::new()));
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    assert_eq!(smtp.deliver_one(&app).await.to, "ana@mail.example", "an address that waits to be confirmed is none");
    assert_eq!(count_rows(&app, "password_reset_request").await, 0);
}

#[actix_web::test]
async fn a_mailbox_cannot_be_flooded_and_always_has_a_link_that_works() {
    let (app, smtp) = start().await;
    let ana = verified(&app, &smtp, "Ana", "ana@mail.example").await;
    let ask_often = async || {
        let mut tokens = vec![];
        for _ in 0..5 {
            assert_eq!(ask(&app, "ana@mail.example").await.status, 202);
            tokens.extend(smtp.deliver(&app).await.iter().map(Mail::token));
        }
        tokens
    };
    let an_hour_passes = async || {
        for (table, time) in [("mail_sent", "sent_at"), ("email_token", "expires_at")] {
            let earlier = format!("update {table} set {time} = {time} - interval '61 minutes'");
            sqlx::query(AssertSqlSafe(earlier)).execute(&app.db).await.expect("an hour passes");
        }
    };
    // Strangers name the address as theirs, too, in some of its forms.
    for (name, email) in [("Bo", "ANA@mail.example"), ("Cy", "ana@mail.example"), ("Di", "ana+1@mail.example")] {
        let stranger = app.account(name, PASSWORD).await;
        set(&app, &stranger, email).await;
        assert_eq!(smtp.deliver(&app).await.len(), usize::from(name != "Di"), "{name}: three an hour, with Ana's own");
    }
    let mut sent = vec![];
    for hour in 0..6 {
        let tokens = ask_often().await;
        sent.push(tokens.len());
        // Whatever was asked for before, there is a link of this hour.
        assert!(!tokens.is_empty(), "in hour {hour}");
        an_hour_passes().await;
    }
    assert_eq!(sent, [3, 3, 3, 1, 1, 1], "three an hour and ten a day, then one an hour");
    assert_eq!(count_rows(&app, "mail").await, 0);
    // A further link voids none of those before, and notices have a limit of their own.
    for _ in 0..24 {
        an_hour_passes().await;
    }
    let tokens = ask_often().await;
    assert_eq!(tokens.len(), 3);
    assert_eq!(reset(&app, &tokens[0], NEW).await.status, 200);
    assert_eq!(smtp.deliver(&app).await.len(), 1, "the notice");
    reset(&app, &tokens[1], PASSWORD).await.is_problem(422, "invalid_link");
    app.get("/v1/me/email", Some(&ana)).await.is_problem(401, "invalid_token");
}

#[actix_web::test]
async fn what_voids_all_tokens_voids_links_and_the_address_that_waits() {
    let (app, smtp) = start().await;
    for (n, what) in ["password", "reset", "sign-ins"].into_iter().enumerate() {
        let ana = verified(&app, &smtp, &format!("Ana {n}"), &format!("ana{n}@mail.example")).await;
        ask(&app, &format!("ana{n}@mail.example")).await;
        let resetting = smtp.deliver_one(&app).await.token();
        // A thief has set an address, and keeps the link for later.
        set(&app, &ana, &format!("thief{n}@mail.example")).await;
        let verifying = smtp.deliver_one(&app).await.token();
        match what {
            "password" => {
                assert_eq!(app.patch("/v1/me", Some(&ana), &json!({ "password": NEW })).await.status, 200);
            }
            "reset" => assert_eq!(reset(&app, &resetting, NEW).await.status, 200),
            _ => {
                let all = send(signed(app.request(Method::DELETE, "/v1/me/sign-ins"), Some(&ana))).await;
                assert_eq!(all.status, 204);
            }
        }
        verify(&app, &verifying).await.is_problem(422, "invalid_link");
        reset(&app, &resetting, "another staple").await.is_problem(422, "invalid_link");
        assert_eq!(count_rows(&app, "account_email where pending is not null").await, 0, "{what}");
        smtp.deliver(&app).await;
    }
    assert_eq!(count_rows(&app, "account_email").await, 3, "the verified ones stay");
}

#[actix_web::test]
async fn a_link_to_another_address_than_the_accounts_own_sets_nothing() {
    let (app, smtp) = start().await;
    let ana = verified(&app, &smtp, "Ana", "ana@mail.example").await;
    // A mail that was written while the address changed leaves such a row.
    let late = "insert into email_token (hash, player_id, kind, address, expires_at)
        select sha256($2::bytea), $1::uuid, 'reset_password', $3, now() + interval '1 hour'";
    for (token, address) in [("old", "former@mail.example"), ("own", "ana@mail.example")] {
        let stored = sqlx::query(late).bind(&ana.id).bind(token.as_bytes()).bind(address);
        stored.execute(&app.db).await.expect("a token");
    }
    reset(&app, "old", NEW).await.is_problem(422, "invalid_link");
    assert_eq!(reset(&app, "own", NEW).await.status, 200);
}

#[actix_web::test]
async fn a_reset_deletes_webhooks_if_it_is_asked_to() {
    let (app, smtp) = start().await;
    let ana = verified(&app, &smtp, "Ana", "ana@mail.example").await;
    let made = app.post("/v1/webhooks", Some(&ana), &json!({"url": "https://push.example/a"})).await;
    assert_eq!(made.status, 201, "{made:?}");
    let mut ana = ana;
    for (delete, left) in [(false, 1), (true, 0)] {
        ask(&app, "ana@mail.example").await;
        let mails = smtp.deliver(&app).await;
        let token = mails.iter().find(|mail| mail.text.contains("/reset?token=")).expect("a link").token();
        let body = json!({"token": token, "password": format!("{NEW} {delete}"), "delete_webhooks": delete});
        let set = app.post("/v1/password-reset/confirm", None, &body).await;
        ana = Guest { id: ana.id, token: set.string("/access_token") };
        assert_eq!(app.get("/v1/webhooks", Some(&ana)).await.body["items"].as_array().map(Vec::len), Some(left));
    }
}

#[actix_web::test]
async fn every_new_password_is_told_and_voids_links_that_would_set_another() {
    let (app, smtp) = start().await;
    let ana = verified(&app, &smtp, "Ana", "ana@mail.example").await;
    ask(&app, "ana@mail.example").await;
    let token = smtp.deliver_one(&app).await.token();
    assert_eq!(app.patch("/v1/me", Some(&ana), &json!({"name": "Ana Maria"})).await.status, 200);
    assert!(smtp.deliver(&app).await.is_empty(), "a new name is no new password");
    assert_eq!(app.patch("/v1/me", Some(&ana), &json!({"password": NEW})).await.status, 200);
    assert!(smtp.deliver_one(&app).await.text.contains("has a new password"));
    reset(&app, &token, PASSWORD).await.is_problem(422, "invalid_link");
}

#[actix_web::test]
async fn a_link_of_an_hour_ago_or_of_another_address_sets_nothing() {
    let (app, smtp) = start().await;
    let ana = verified(&app, &smtp, "Ana", "ana@mail.example").await;
    ask(&app, "ana@mail.example").await;
    let token = smtp.deliver_one(&app).await.token();
    let late = "update email_token set expires_at = expires_at - interval '1 hour'";
    sqlx::query(late).execute(&app.db).await.expect("an hour passes");
    reset(&app, &token, NEW).await.is_problem(422, "invalid_link");
    let other = verified(&app, &smtp, "Bo", "bo@mail.example").await;
    ask(&app, "bo@mail.example").await;
    let token = smtp.deliver_one(&app).await.token();
    set(&app, &other, "new@mail.example").await;
    assert_eq!(verify(&app, &smtp.deliver_one(&app).await.token()).await.status, 200);
    reset(&app, &token, NEW).await.is_problem(422, "invalid_link");
    assert_eq!(app.get("/v1/me", Some(&ana)).await.status, 200);
}

#[actix_web::test]
async fn calls_that_lead_to_mails_are_limited_by_network() {
    let app = TestApp::start_with(|service| {
        service.settings.mailing = Mailing::On;
        service.rate_limits = RateLimits::NeverRefilled;
        service.trusted_proxies = vec![LOOPBACK];
    })
    .await;
    let ask = async |address: &str, n: u32| {
        let request = app.request(Method::POST, "/v1/password-reset").header("x-forwarded-for", address);
        send(request.json(&json!({ "email": format!("a{n}@mail.example") }))).await
    };
    for n in 0..20 {
        assert_eq!(ask("192.0.2.1", n).await.status, 202);
    }
    let refused = ask("192.0.2.1", 20).await;
    refused.is_problem(429, "rate_limited");
    assert_eq!(refused.headers["ratelimit-policy"], "\"mails\";q=20;w=1200");
    assert_eq!(ask("192.0.2.2", 0).await.status, 202);
    // Tokens that are none count as wrong recovery codes do.
    let mut refused = 0;
    for _ in 0..25 {
        let request = app.request(Method::POST, "/v1/email/verify").header("x-forwarded-for", "192.0.2.3");
        refused += u32::from(send(request.json(&json!({"token": "a"}))).await.status == 429);
    }
    assert!(refused >= 4, "{refused}");
}

#[actix_web::test]
async fn a_new_password_by_a_link_unlinks_identities_if_it_is_asked_to() {
    let (app, smtp) = start().await;
    let ana = verified(&app, &smtp, "Ana", "ana@mail.example").await;
    let id = uuid::Uuid::try_parse(&ana.id).expect("an id");
    for (ask, left, told) in [(json!({}), 1, Value::Null), (json!({"unlink_identities": true}), 0, json!(1))] {
        let linked = sqlx::query(
            "insert into player_identity values ('https://a.example', 'a', $1, now()) on conflict do nothing",
        );
        linked.bind(id).execute(&app.db).await.expect("it is stored");
        super::steps::ask(&app, "ana@mail.example").await;
        let mails = smtp.deliver(&app).await;
        let mail = mails.iter().find(|mail| mail.text.contains("/reset?token=")).expect("a link");
        let mut body = json!({"token": mail.token(), "password": "battery staple"});
        body.as_object_mut().expect("an object").extend(ask.as_object().expect("an object").clone());
        let set = app.post("/v1/password-reset/confirm", None, &body).await;
        assert_eq!((set.status.as_u16(), set.body["unlinked_identities"].clone()), (200, told), "{set:?}");
        assert_eq!(count_rows(&app, "player_identity").await, left);
    }
}

#[actix_web::test]
async fn of_a_confirmation_and_a_new_password_at_once_both_keep_their_word() {
    let (app, smtp) = start().await;
    let ana = verified(&app, &smtp, "Ana", "old@mail.example").await;
    for round in 0..6 {
        // The links of other rounds count for the limits of addresses.
        sqlx::query("delete from mail_sent").execute(&app.db).await.expect("they are forgotten");
        let email = format!("new-{round}@mail.example");
        let sign_in = json!({"grant_type": "password", "name": "Ana", "password": PASSWORD});
        let tokens = app.post("/v1/tokens", None, &sign_in).await;
        let ana = Guest { id: ana.id.clone(), token: tokens.string("/access_token") };
        assert_eq!(set(&app, &ana, &email).await.status, 200);
        let former = app.get("/v1/me/email", Some(&ana)).await.string("/email");
        ask(&app, &former).await;
        let mails = smtp.deliver(&app).await;
        let is_link = |mail: &&Mail| mail.text.contains("token=") && !mail.text.contains("/restore?");
        let token = |to: &str| mails.iter().filter(is_link).find(|mail| mail.to == to).expect("a link").token();
        let (verifying, resetting) = (token(&email), token(&former));
        let both = futures_util::future::join(verify(&app, &verifying), reset(&app, &resetting, PASSWORD)).await;
        // Each voids the other's link: the one that comes first is good, and the other one is none any more.
        let token = if both.1.status == 200 { both.1.string("/access_token") } else { ana.token };
        let ana = Guest { id: ana.id, token };
        let after = app.get("/v1/me/email", Some(&ana)).await;
        match (both.0.status.as_u16(), both.1.status.as_u16()) {
            (200, 422) => assert_eq!(after.body["email"], json!(email)),
            (422, 200) => assert_eq!((&after.body["email"], &after.body["pending"]), (&json!(former), &Value::Null)),
            _ => panic!("{both:?}"),
        }
        assert_eq!(count_rows(&app, "email_token where kind <> 'restore_account'").await, 0);
    }
}
