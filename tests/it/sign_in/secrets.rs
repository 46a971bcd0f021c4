//! What proves the server to an issuer, and what neither log nor metrics show of a sign-in.

use mancala_server::{http::new_key, webhook::Reach};
use nix::sys::signal::Signal;
use reqwest::{Client, Method};
use serde_json::{Value, json};

use crate::support::{
    app::TestApp,
    binary::{File, Running, url},
    calls::send,
    clock::until_some,
    database::count_rows,
    issuer::{BACK, CLIENT_SECRET, Conduct, Reply, StubIssuer, player_of},
    scrape::sample,
    smtp::{Mail, SmtpServer},
};

const PASSWORD: &str = "correct horse";

#[actix_web::test]
async fn apple_gets_a_secret_that_the_team_has_signed() {
    let issuer = StubIssuer::start();
    let issuers = issuer.issuers_of_apple();
    issuer.conduct(Conduct {
        document: json!({"token_endpoint_auth_methods_supported": ["client_secret_post"]}),
        ..Conduct::default()
    });
    let app = TestApp::start_with(|service| service.issuers = issuers).await;
    assert_eq!(app.sign_in_by(&issuer, "person").await.status, 201);
    assert_eq!(app.sign_in_by(&issuer, "person").await.status, 200);
}

#[actix_web::test]
async fn of_two_servers_that_complete_one_code_one_does() {
    let issuer = StubIssuer::start();
    let app = issuer.app().await;
    issuer.conduct(Conduct { is_forgetful: true, ..Conduct::default() });
    let (second, _) = app.second_server_with(|service| service.issuers = issuer.issuers(Reach::Anywhere));
    let back = app.back_from(&issuer, "person", None).await.body();
    let there = send(Client::new().post(format!("http://{second}/v1/sign-in/stub/complete")).json(&back));
    let both: [_; 2] = futures_util::future::join(app.complete(&back), there).await.into();
    let mut statuses = both.each_ref().map(|answer| answer.status.as_u16());
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 401], "{both:?}");
    let refused = both.iter().find(|answer| answer.status == 401).expect("one is refused");
    refused.is_problem(401, "sign_in_refused");
    assert_eq!(refused.string("/detail"), "the session was used before");
    assert_eq!((issuer.asked("/token"), count_rows(&app, "player where kind = 'guest'").await), (1, 1));
}

#[actix_web::test]
async fn what_an_issuer_answers_is_counted() {
    let issuer = StubIssuer::start();
    let app = issuer.app().await;
    let count = |outcome: &str| {
        let name = format!("mancala_issuer_requests_total{{issuer=\"stub\",outcome=\"{outcome}\"}}");
        format!("{}", sample(&app.metrics.text(), &name))
    };
    let counts = || ["done", "refused", "unavailable"].map(&count);
    assert_eq!(counts(), ["0", "0", "0"]);
    assert_eq!(app.sign_in_by(&issuer, "person").await.status, 201);
    issuer.conduct(Conduct { tokens: Reply::Error(400, "invalid_grant"), ..Conduct::default() });
    assert_eq!(app.sign_in_by(&issuer, "person").await.status, 401);
    issuer.conduct(Conduct { tokens: Reply::Status(500), ..Conduct::default() });
    assert_eq!(app.sign_in_by(&issuer, "person").await.status, 503);
    assert_eq!(counts(), ["1", "1", "1"]);
}

#[actix_web::test]
async fn no_secret_of_a_sign_in_a_renewal_or_a_reset_is_logged() {
    let (issuer, smtp, app) = (StubIssuer::start(), SmtpServer::start().await, TestApp::start().await);
    let (file, smtp_url) = (File::new(&issuer.file()), format!("smtp://{}", smtp.address));
    let variables = [
        ("SIGN_IN_FILE", file.name()),
        ("SMTP_URL", smtp_url.as_str()),
        ("MAIL_FROM", "Mancala <noreply@play.example>"),
        ("PUBLIC_URL", "https://play.example"),
        ("RUST_LOG", "info,mancala=trace"),
    ];
    let arguments = ["--access-log", "all", "--rate-limits", "off"];
    let mut running = Running::start_with(&url(&app), &new_key(), &arguments, &variables);
    let mut secrets = vec![CLIENT_SECRET.to_owned(), PASSWORD.to_owned(), "battery staple".to_owned()];
    let begun = send(running.post("/v1/sign-in/stub").json(&json!({"redirect_uri": BACK}))).await;
    let (code, state) = issuer.authorize(&begun.string("/authorization_url"), "person-4711");
    let body = json!({"session": begun.string("/session"), "state": state, "code": code});
    let signed_in = send(running.post("/v1/sign-in/stub/complete").json(&body)).await;
    assert_eq!(signed_in.status, 201, "{signed_in:?}");
    secrets.extend([begun.string("/session"), state, signed_in.string("/recovery_code")]);
    // The issuer refuses this sign-in, and the failure is logged.
    issuer.conduct(Conduct { tokens: Reply::Error(400, "invalid_client"), ..Conduct::default() });
    let begun = send(running.post("/v1/sign-in/stub").json(&json!({"redirect_uri": BACK}))).await;
    let (code, state) = issuer.authorize(&begun.string("/authorization_url"), "person-4711");
    let body = json!({"session": begun.string("/session"), "state": state, "code": code});
    let failed = send(running.post("/v1/sign-in/stub/complete").json(&body)).await;
    assert!([401, 503].contains(&failed.status.as_u16()), "{failed:?}");
    secrets.extend([begun.string("/session"), state, code]);
    let refresh = json!({"grant_type": "refresh_token", "refresh_token": signed_in.string("/refresh_token")});
    let renewed = send(running.post("/v1/tokens").json(&refresh)).await;
    for tokens in [&signed_in, &renewed] {
        secrets.extend([tokens.string("/access_token"), tokens.string("/refresh_token")]);
    }
    let call = async |method: Method, path: &str, body: Value| {
        let request = Client::new().request(method, format!("{}{path}", running.base)).json(&body);
        send(request.bearer_auth(player_of(&renewed).token)).await
    };
    let account = call(Method::PATCH, "/v1/me", json!({"name": "Ana", "password": PASSWORD})).await;
    assert_eq!(account.status, 200, "{account:?}");
    secrets.push(account.string("/tokens/refresh_token"));
    let request = Client::new().request(Method::PUT, format!("{}/v1/me/email", running.base));
    let request = request.bearer_auth(account.string("/tokens/access_token"));
    let set = send(request.json(&json!({"email": "ana@mail.example", "current_password": PASSWORD}))).await;
    assert_eq!(set.status, 200, "{set:?}");
    let verify = mail_token(&smtp, 0).await;
    let verified = send(running.post("/v1/email/verify").json(&json!({ "token": verify }))).await;
    assert_eq!(verified.status, 200, "{verified:?}");
    send(running.post("/v1/password-reset").json(&json!({"email": "ana@mail.example"}))).await;
    let reset = mail_token(&smtp, 1).await;
    let body = json!({"token": reset, "password": "battery staple"});
    let set = send(running.post("/v1/password-reset/confirm").json(&body)).await;
    assert_eq!(set.status, 200, "{set:?}");
    secrets.extend([verify, reset, set.string("/access_token"), set.string("/recovery_code")]);
    secrets.extend(issuer.secrets());
    running.signal(Signal::SIGTERM);
    let (status, log) = running.ended();
    assert_eq!(status, Some(0));
    assert!(log.contains("/v1/sign-in/{issuer}/complete"), "{log}");
    for secret in secrets.iter().map(String::as_str).chain(["mail.example"]) {
        assert!(!secret.is_empty() && !log.contains(secret), "{secret}: {log}");
    }
}

/// The token of the mail with a link of this number.
async fn mail_token(smtp: &SmtpServer, number: usize) -> String {
    until_some("the mail comes", async || {
        let mails = smtp.mails();
        mails.iter().filter(|mail| mail.text.contains("?token=")).nth(number).map(Mail::token)
    })
    .await
}
