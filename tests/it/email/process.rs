//! The process: with an SMTP server it sends mail by itself. Neither its log nor its errors show an address, a token or
//! a password.

use std::time::{Duration, Instant};

use mancala_server::http::new_key;
use nix::sys::signal::Signal;
use reqwest::{Client, Method};
use serde_json::json;

use super::steps::PASSWORD;
use crate::support::{
    app::TestApp,
    binary::{Running, ended_with, url},
    calls::send,
    smtp::SmtpServer,
};

#[actix_web::test]
async fn a_server_sends_mail_by_itself_and_logs_no_address() {
    let (app, smtp) = (TestApp::start().await, SmtpServer::start().await);
    smtp.will(&["550 ana@mail.example is unknown here", "250 ok"]);
    let smtp_url = format!("smtp://{}", smtp.address);
    let variables = [
        ("SMTP_URL", smtp_url.as_str()),
        ("MAIL_FROM", "Mancala <noreply@play.example>"),
        ("PUBLIC_URL", "https://play.example"),
        ("EMAIL_VERIFY_URL", "https://app.example/confirm#?token={token}"),
        ("RUST_LOG", "info,mancala=debug"),
    ];
    let mut running = Running::start_with(&url(&app), &new_key(), &["--access-log", "all"], &variables);
    let account = send(running.post("/v1/players").json(&json!({"name": "Ana", "password": PASSWORD}))).await;
    let set = async |email: &str| {
        let request = Client::new().request(Method::PUT, format!("{}/v1/me/email", running.base));
        let request = request.bearer_auth(account.string("/access_token"));
        send(request.json(&json!({"email": email, "current_password": PASSWORD}))).await
    };
    let begun = Instant::now();
    assert_eq!(set("ana@mail.example").await.status, 200);
    // The first is refused for good. What is asked for then is sent.
    while smtp.mails().is_empty() {
        assert!(begun.elapsed() < Duration::from_mins(1), "no mail comes");
        assert_eq!(set("ana@mail.example").await.status, 200);
        tokio::time::sleep(Duration::from_secs(4)).await;
    }
    let mail = smtp.mails().remove(0);
    assert!(mail.text.contains("\nhttps://app.example/confirm#?token="), "{mail:?}");
    let token = mail.token();
    let verified = send(running.post("/v1/email/verify").json(&json!({ "token": token }))).await;
    assert_eq!(verified.status, 200, "{verified:?}");
    running.get(&format!("/email/verify?token={token}")).send().await.expect("a page");
    running.signal(Signal::SIGTERM);
    let (status, log) = running.ended();
    assert_eq!(status, Some(0));
    assert!(log.contains("the SMTP server has refused a mail") && log.contains("550"), "{log}");
    for secret in ["mail.example", &token, PASSWORD] {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
}

#[test]
fn wrong_settings_end_the_start_without_showing_them() {
    let url = ("SMTP_URL", "smtps://ana:s3cret@mail.example");
    let (from, public) = (("MAIL_FROM", "noreply@play.example"), ("PUBLIC_URL", "https://play.example"));
    let wrong: [(&[(&str, &str)], &str); 6] = [
        (&[url, from], "PUBLIC_URL"),
        (&[url, public], "MAIL_FROM"),
        (&[("SMTP_URL", "smtp://ana:s3cret@mail.example"), from, public], "no encryption"),
        (&[("SMTP_URL", "s3cret"), from, public], "SMTP_URL"),
        (&[url, ("MAIL_FROM", "s3cret"), public], "MAIL_FROM"),
        (&[url, from, public, ("EMAIL_RESET_URL", "https://app.example/s3cret")], "EMAIL_RESET_URL"),
    ];
    for (variables, named) in wrong {
        let (status, line) = ended_with(&[], variables);
        assert_eq!(status, Some(2), "{variables:?} {line}");
        assert!(line.contains(named) && !line.contains("s3cret") && line.lines().count() == 1, "{line}");
    }
}
