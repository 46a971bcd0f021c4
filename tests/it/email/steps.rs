//! What several tests of e-mail do.

use mancala_server::http::Mailing;
use reqwest::Method;
use serde_json::json;

use crate::support::{
    answer::Answer,
    app::TestApp,
    calls::{Guest, send},
    smtp::SmtpServer,
};

pub const PASSWORD: &str = "correct horse";

pub async fn start() -> (TestApp, SmtpServer) {
    let app = TestApp::start_with(|service| service.settings.mailing = Mailing::On).await;
    (app, SmtpServer::start().await)
}

pub async fn set(app: &TestApp, account: &Guest, email: &str) -> Answer {
    app.put("/v1/me/email", Some(account), &json!({"email": email, "current_password": PASSWORD})).await
}

pub async fn remove(app: &TestApp, account: &Guest) -> Answer {
    app.put("/v1/me/email", Some(account), &json!({"email": null, "current_password": PASSWORD})).await
}

pub async fn verify(app: &TestApp, token: &str) -> Answer {
    app.post("/v1/email/verify", None, &json!({ "token": token })).await
}

pub async fn ask(app: &TestApp, email: &str) -> Answer {
    app.post("/v1/password-reset", None, &json!({ "email": email })).await
}

pub async fn reset(app: &TestApp, token: &str, password: &str) -> Answer {
    app.post("/v1/password-reset/confirm", None, &json!({ "token": token, "password": password })).await
}

/// Presses the button of a page.
pub async fn press(app: &TestApp, path: &str, fields: &[(&str, &str)]) -> Answer {
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    form.extend_pairs(fields);
    let request = app.request(Method::POST, path).header("content-type", "application/x-www-form-urlencoded");
    send(request.body(form.finish())).await
}

/// An account with a verified address.
pub async fn verified(app: &TestApp, smtp: &SmtpServer, name: &str, email: &str) -> Guest {
    let account = app.account(name, PASSWORD).await;
    assert_eq!(set(app, &account, email).await.status, 200);
    let token = smtp.deliver_one(app).await.token();
    assert_eq!(verify(app, &token).await.status, 200);
    account
}
