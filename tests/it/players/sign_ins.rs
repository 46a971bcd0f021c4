//! Limits of sign-ins by account: guesses from many addresses are slow, and the owner's devices are not.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    answer::Answer,
    app::{TestApp, behind_proxy},
    calls::send,
};

const PASSWORD: &str = "correct horse";

async fn from(app: &TestApp, address: &str, path: &str, body: &Value) -> Answer {
    send(app.request(Method::POST, path).header("x-forwarded-for", address).json(body)).await
}

async fn sign_in(app: &TestApp, address: &str, name: &str, password: &str) -> Answer {
    from(app, address, "/v1/tokens", &json!({"grant_type": "password", "name": name, "password": password})).await
}

#[actix_web::test]
async fn guesses_from_many_addresses_slow_down_no_device_of_the_owner() {
    let app = TestApp::start_with(behind_proxy).await;
    let account = from(&app, "192.0.2.1", "/v1/players", &json!({"name": "Ana", "password": PASSWORD})).await;
    assert_eq!(account.status, 201);
    let phone = sign_in(&app, "192.0.2.2", "Ana", PASSWORD).await;
    assert_eq!(phone.status, 200);
    // Nothing tells an account from a name that is none.
    for name in ["ANA", "Unknown"] {
        let mut codes = vec![];
        for n in 0..25 {
            let guess = sign_in(&app, &format!("198.51.100.{n}"), name, "battery staple").await;
            if guess.status == 429 {
                guess.is_problem(429, "rate_limited");
                let wait: u64 =
                    guess.headers["retry-after"].to_str().ok().and_then(|s| s.parse().ok()).expect("seconds");
                assert!((1..=21).contains(&wait), "{wait}");
            }
            codes.push(guess.status.as_u16());
        }
        // A further attempt is allowed every twenty seconds, which a busy machine may need.
        let failed = codes.iter().filter(|code| **code == 401).count();
        assert!(codes[..20].iter().all(|code| *code == 401) && failed < 25, "{name} {codes:?}");
    }
    for address in ["192.0.2.1", "192.0.2.2"] {
        assert_eq!(sign_in(&app, address, "Ana", PASSWORD).await.status, 200, "{address}");
    }
    let refresh = json!({"grant_type": "refresh_token", "refresh_token": phone.string("/refresh_token")});
    assert_eq!(from(&app, "203.0.113.9", "/v1/tokens", &refresh).await.status, 200);
}
