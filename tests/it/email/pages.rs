//! The pages to which links lead. Nothing happens before their button is pressed.

use reqwest::Method;

use super::steps::{PASSWORD, ask, press, set, start, verified};
use crate::support::{answer::Answer, calls::send};

/// A page that runs nothing, and does not tell its address to others.
fn assert_page(page: &Answer, status: u16, words: &str) {
    assert_eq!(
        (page.status.as_u16(), &page.headers["content-type"]),
        (status, &"text/html; charset=utf-8".parse().expect("a value"))
    );
    assert!(page.text.contains(words), "{words}: {}", page.text);
    for (name, value) in [("referrer-policy", "no-referrer"), ("cache-control", "no-store")] {
        assert_eq!(page.headers[name], value);
    }
    let policy = page.headers["content-security-policy"].to_str().expect("text");
    assert!(policy.starts_with("default-src 'none'") && policy.contains("form-action 'self'"), "{policy}");
    assert!(!page.text.contains("<script"));
}

#[actix_web::test]
async fn a_scanner_that_opens_the_link_confirms_nothing_and_the_button_does() {
    let (app, smtp) = start().await;
    let ana = app.account("Ana", PASSWORD).await;
    set(&app, &ana, "ana@mail.example").await;
    let token = smtp.deliver_one(&app).await.token();
    for _ in 0..2 {
        let page = app.get(&format!("/email/verify?token={token}&utm_source=mail"), None).await;
        assert_page(&page, 200, &format!("name=\"token\" value=\"{token}\""));
        assert!(page.text.contains("<form method=\"post\" action=\"verify\">"));
    }
    assert_eq!(send(app.request(Method::HEAD, &format!("/email/verify?token={token}"))).await.status, 200);
    assert!(app.get("/v1/me/email", Some(&ana)).await.body["email"].is_null());
    assert_page(&press(&app, "/email/verify", &[("token", &token)]).await, 200, "ana@mail.example is the address");
    assert_eq!(app.get("/v1/me/email", Some(&ana)).await.body["email"], "ana@mail.example");
    assert_page(&press(&app, "/email/verify", &[("token", &token)]).await, 422, "not valid, or no longer");
}

#[actix_web::test]
async fn a_password_is_set_on_a_page_that_asks_again_for_a_better_one() {
    let (app, smtp) = start().await;
    let ana = verified(&app, &smtp, "Ana", "ana@mail.example").await;
    ask(&app, "ana@mail.example").await;
    let token = smtp.deliver_one(&app).await.token();
    let page = app.get(&format!("/email/reset?token={token}"), None).await;
    assert_page(&page, 200, "name=\"password\"");
    let again = press(&app, "/email/reset", &[("token", &token), ("password", "short")]).await;
    assert_page(&again, 422, &format!("value=\"{token}\""));
    let set = press(&app, "/email/reset", &[("token", &token), ("password", "battery staple")]).await;
    assert_page(&set, 200, "Sign in as &#34;Ana&#34;");
    assert_eq!(app.sign_in("Ana", "battery staple").await.status, 200);
    app.get("/v1/me", Some(&ana)).await.is_problem(401, "invalid_token");
    assert_page(
        &press(&app, "/email/reset", &[("token", &token), ("password", "battery staple")]).await,
        422,
        "no longer",
    );
}

#[actix_web::test]
async fn what_comes_with_a_link_is_shown_as_text_and_the_rest_is_refused() {
    let (app, _) = start().await;
    let page = app.get("/email/verify?token=%22%3E%3Cscript%3E", None).await;
    assert_page(&page, 200, "value=\"&#34;&#62;&#60;script&#62;\"");
    for path in ["/email/verify", "/email/reset?token", &format!("/email/reset?token={}", "a".repeat(101))] {
        let page = app.get(path, None).await;
        assert!(path.ends_with("?token") || page.text.contains("This link leads nowhere"), "{}", page.text);
    }
    assert_eq!(send(app.request(Method::DELETE, "/email/verify")).await.headers["allow"], "GET, HEAD, POST");
    assert!(press(&app, "/email/reset", &[("token", "a")]).await.status.is_client_error());
    assert_eq!(press(&app, "/email/verify", &[("token", &"a".repeat(70_000))]).await.status, 413);
}
