//! The exchange of tokens: whose are taken, and that what is wrong with one is refused and stores nothing.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use mancala_server::db::apps::{
    self,
    issuers::{self, KeySource, Trust, Trusting},
};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    app::{TestApp, never_refilled},
    apps::{app_name, until_refused},
    calls::{Guest, send},
    clock::now,
    database::count_rows,
    key_server::{AUDIENCE, GRANT, ISSUER, JWT, Key, claims, claims_with, encoded},
};

/// Tokens by a key of RSA whose private half was not kept, and its public half.
const RSA: &str = include_str!("rsa_tokens.json");

fn stored(keys: &[Value]) -> KeySource {
    KeySource::Stored(json!({"keys": keys}).to_string())
}

const FORM: &str = "application/x-www-form-urlencoded; charset=UTF-8";

/// An app that trusts an issuer with this key, `k1`.
async fn trusting(app: &TestApp, key: &Key) -> Guest {
    let acme = app.new_app("acme").await;
    assert_eq!(app.trust("acme", AUDIENCE, stored(&[key.jwk("k1")])).await, Trusting::Stored);
    acme
}

fn header(key: &Key) -> Value {
    json!({"alg": key.alg(), "kid": "k1", "typ": "JWT"})
}

#[actix_web::test]
async fn a_token_of_a_trusted_issuer_becomes_one_of_a_player_of_the_app() {
    let app = TestApp::start().await;
    let key = Key::p256();
    let acme = trusting(&app, &key).await;
    let answer = app.exchange(&key.token(&header(&key), &claims_with(&json!({"name": "Ana"})))).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.headers["cache-control"], "no-store");
    assert_eq!(answer.body["issued_token_type"], "urn:ietf:params:oauth:token-type:access_token");
    assert_eq!((&answer.body["token_type"], &answer.body["expires_in"]), (&json!("Bearer"), &json!(900)));
    assert_eq!((answer.string("/external_id"), answer.string("/player/name")), ("7".to_owned(), "Ana".to_owned()));
    let ana = Guest { id: answer.string("/player/id"), token: answer.string("/access_token") };
    assert_eq!(app.get("/v1/me", Some(&ana)).await.string("/id"), ana.id);
    // The same subject is the same player, who keeps its name.
    let again = app.exchanged(&key.token(&header(&key), &claims_with(&json!({"name": "Anna"})))).await;
    assert_eq!(again.id, ana.id);
    let seen = app.get("/v1/apps/me/players/7", Some(&acme)).await;
    assert_eq!((seen.string("/player/id"), seen.string("/player/name")), (ana.id, "Ana".to_owned()));
    // A player that the app has made by its key is the token's, too.
    let bo = app.app_player(&acme, "8", "Bo").await;
    assert_eq!(app.exchanged(&key.token(&header(&key), &claims("8"))).await.id, bo.id);
    // An unusable name is none.
    for (subject, name) in [("9", json!("<b>\u{7}")), ("10", json!(7)), ("11", json!("a".repeat(100)))] {
        let mut claims = claims(subject);
        claims["name"] = name;
        app.exchanged(&key.token(&header(&key), &claims)).await;
    }
    assert_eq!(count_rows(&app, "app_player").await, 5);
}

#[actix_web::test]
async fn each_algorithm_is_verified_by_a_key_of_its_type() {
    let app = TestApp::start().await;
    let (p256, ed25519) = (Key::p256(), Key::ed25519());
    let rsa: Value = serde_json::from_str(RSA).expect("JSON");
    let keys = [p256.jwk("p"), ed25519.jwk("e"), rsa["jwks"]["keys"][0].clone()];
    app.new_app("acme").await;
    assert_eq!(app.trust("acme", AUDIENCE, stored(&keys)).await, Trusting::Stored);
    for alg in ["RS256", "PS256"] {
        let token = rsa[alg].as_str().expect("a token");
        app.exchanged(token).await;
        let (message, signature) = token.rsplit_once('.').expect("a signature");
        let mut bytes = BASE64_URL_SAFE_NO_PAD.decode(signature).expect("base64");
        bytes[100] ^= 1;
        app.exchange(&format!("{message}.{}", encoded(&bytes))).await.is_problem(401, "invalid_token");
    }
    for (key, kid, other) in [(&p256, "p", "e"), (&ed25519, "e", "p")] {
        app.exchanged(&key.token(&json!({"alg": key.alg(), "kid": kid}), &claims("7"))).await;
        // A token without `kid` can mean only the single key of its type.
        app.exchanged(&key.token(&json!({"alg": key.alg()}), &claims("7"))).await;
        for header in [
            json!({"alg": key.alg(), "kid": other}),
            json!({"alg": key.alg(), "kid": "rsa"}),
            json!({"alg": "RS256", "kid": kid}),
            json!({"alg": "RS256", "kid": "rsa"}),
        ] {
            app.exchange(&key.token(&header, &claims("7"))).await.is_problem(401, "invalid_token");
        }
    }
}

#[actix_web::test]
async fn a_token_that_is_wrong_is_refused_and_stores_nothing() {
    let app = TestApp::start().await;
    let (key, foreign) = (Key::p256(), Key::p256());
    trusting(&app, &key).await;
    let good = key.token(&header(&key), &claims("7"));
    let [head, body, signature] = good.split('.').collect::<Vec<_>>().try_into().expect("three parts");
    let headed = |header: Value| key.token(&header, &claims("7"));
    let claimed = |changes: Value| key.token(&header(&key), &claims_with(&changes));
    let now = now().unix_timestamp();
    let twice = format!("{}.{body}", encoded(br#"{"alg":"none","alg":"ES256","kid":"k1"}"#));
    let jwk = foreign.jwk("own");
    let raw = |claims: String| key.signed(&format!("{head}.{}", encoded(claims.as_bytes())));
    let good_claims = claims("7").to_string();
    let of_another = claims_with(&json!({"sub": "8"})).to_string();
    for (what, token) in [
        ("empty", String::new()),
        ("no JWT", "a.b.c".to_owned()),
        ("two parts", format!("{head}.{body}")),
        ("four parts", format!("{good}.a")),
        ("padded", format!("{good}=")),
        ("too long", claimed(json!({"groups": "a".repeat(8000)}))),
        ("unsigned", format!("{}.{body}.", encoded(br#"{"alg":"none"}"#))),
        ("unsigned, and signed", format!("{}.{body}.{signature}", encoded(br#"{"alg":"none","kid":"k1"}"#))),
        ("none in capitals", format!("{}.{body}.", encoded(br#"{"alg":"NONE","kid":"k1"}"#))),
        ("HMAC", headed(json!({"alg": "HS256", "kid": "k1"}))),
        ("another hash", headed(json!({"alg": "ES384", "kid": "k1"}))),
        ("small letters", headed(json!({"alg": "es256", "kid": "k1"}))),
        ("alg is a list", headed(json!({"alg": ["ES256"], "kid": "k1"}))),
        ("no alg", headed(json!({"kid": "k1"}))),
        ("two algs", key.signed(&twice)),
        ("a list", key.signed(&format!("{}.{body}", encoded(br#"["ES256","k1",null,null]"#)))),
        ("kid is a number", headed(json!({"alg": "ES256", "kid": 1}))),
        ("crit is null", headed(json!({"alg": "ES256", "kid": "k1", "crit": null}))),
        ("crit", headed(json!({"alg": "ES256", "kid": "k1", "crit": ["exp"]}))),
        ("another use", headed(json!({"alg": "ES256", "kid": "k1", "typ": "logout+jwt"}))),
        ("unknown kid", headed(json!({"alg": "ES256", "kid": "k2"}))),
        ("foreign", foreign.token(&header(&key), &claims("7"))),
        ("a key of its own", foreign.token(&json!({"alg": "ES256", "kid": "own", "jwk": jwk}), &claims("7"))),
        ("zeros", format!("{head}.{body}.{}", encoded(&[0; 64]))),
        ("no signature", format!("{head}.{body}.")),
        ("other claims", format!("{head}.{}.{signature}", encoded(of_another.as_bytes()))),
        ("issuer", claimed(json!({"iss": format!("{ISSUER}/")}))),
        ("no issuer", claimed(json!({"iss": null}))),
        ("audience", claimed(json!({"aud": "other"}))),
        ("audiences", claimed(json!({"aud": ["other", AUDIENCE.to_uppercase()]}))),
        ("no audience", claimed(json!({"aud": []}))),
        ("many audiences", claimed(json!({"aud": vec![AUDIENCE; 17]}))),
        ("NUL", claimed(json!({"aud": "acme-phone\u{0}"}))),
        ("expired", claimed(json!({"exp": now - 61}))),
        ("no exp", claimed(json!({"exp": null}))),
        ("exp is text", claimed(json!({"exp": "4102444800"}))),
        ("exp is no number", raw(good_claims.replace("\"exp\":", "\"exp\":1e400,\"x\":"))),
        ("sub is there twice", raw(good_claims.replace('{', "{\"sub\":\"8\","))),
        ("too early", claimed(json!({"nbf": now + 90}))),
        ("of the future", claimed(json!({"iat": now + 90}))),
        ("no sub", claimed(json!({"sub": null}))),
        ("empty sub", claimed(json!({"sub": ""}))),
        ("long sub", claimed(json!({"sub": "a".repeat(129)}))),
        ("sub with a slash", claimed(json!({"sub": "a/b"}))),
        ("sub is a number", claimed(json!({"sub": 7}))),
    ] {
        let answer = app.exchange(&token).await;
        assert_eq!(answer.body["code"], "invalid_token", "{what}: {answer:?}");
        answer.is_problem(401, "invalid_token");
    }
    let players = "player where kind = 'guest'";
    assert_eq!((count_rows(&app, "app_player").await, count_rows(&app, players).await), (0, 0));
    // Within the leeway of clocks, for one of several audiences, with a fraction, and with the longest subject.
    for changes in [
        json!({"exp": now - 30}),
        json!({"nbf": now + 30}),
        json!({"aud": ["other", AUDIENCE]}),
        json!({"exp": 4_102_444_800.5}),
        json!({"sub": "a".repeat(128)}),
    ] {
        app.exchanged(&claimed(changes)).await;
    }
}

#[actix_web::test]
async fn the_request_is_a_form_or_json_of_the_standard() {
    let app = TestApp::start().await;
    let key = Key::ed25519();
    trusting(&app, &key).await;
    let token = key.token(&header(&key), &claims("7"));
    let id_token = "urn:ietf:params:oauth:token-type:id_token";
    let access_token = "urn:ietf:params:oauth:token-type:access_token";
    let good = json!({"grant_type": GRANT, "subject_token": token, "subject_token_type": id_token,
        "requested_token_type": access_token, "client_id": "phone"});
    assert_eq!(app.post("/v1/apps/tokens", None, &good).await.status, 200);
    for (field, value) in [
        ("grant_type", json!("password")),
        ("subject_token", json!(null)),
        ("subject_token_type", json!("urn:ietf:params:oauth:token-type:saml2")),
        ("requested_token_type", json!("urn:ietf:params:oauth:token-type:refresh_token")),
        ("actor_token", json!(token)),
    ] {
        let mut body = good.clone();
        body[field] = value;
        let answer = app.post("/v1/apps/tokens", None, &body).await;
        answer.is_problem(422, "validation_failed");
        assert_eq!(answer.body["errors"][0]["pointer"], format!("/{field}"), "{answer:?}");
    }
    let form = async |kind: &str, body: String| {
        send(app.request(Method::POST, "/v1/apps/tokens").header("content-type", kind).body(body)).await
    };
    let whole = format!("grant_type={GRANT}&subject_token={token}&subject_token_type={JWT}");
    assert_eq!(form(FORM, whole.clone()).await.status, 200);
    form(FORM, format!("{whole}&subject_token={token}")).await.is_problem(422, "validation_failed");
    form(FORM, format!("{whole}&scope=all")).await.is_problem(422, "validation_failed");
    form(FORM, String::new()).await.is_problem(422, "validation_failed");
    form("text/plain", whole.clone()).await.is_problem(415, "unsupported_media_type");
    form(FORM, format!("{whole}&client_id={}", "a".repeat(70_000))).await.is_problem(413, "payload_too_large");
}

#[actix_web::test]
async fn a_disabled_app_and_an_issuer_that_is_not_trusted_any_more_refuse() {
    let app = TestApp::start().await;
    let key = Key::p256();
    let acme = trusting(&app, &key).await;
    let token = |subject: &str| key.token(&header(&key), &claims(subject));
    let ana = app.exchanged(&token("7")).await;
    assert!(apps::disable(&app.db, &app_name("acme"), now()).await.expect("it is disabled"));
    for subject in ["7", "8"] {
        app.exchange(&token(subject)).await.is_problem(403, "forbidden");
    }
    until_refused(&app, &ana).await;
    assert!(apps::enable(&app.db, &app_name("acme")).await.expect("it is enabled"));
    let ana = app.exchanged(&token("7")).await;
    let trust = Trust { issuer: ISSUER.to_owned(), audience: AUDIENCE.to_owned() };
    for (name, ended) in [("other", None), ("acme", Some(true)), ("acme", Some(false))] {
        assert_eq!(issuers::untrust(&app.db, &app_name(name), &trust).await.expect("a database"), ended);
    }
    for subject in ["7", "8"] {
        app.exchange(&token(subject)).await.is_problem(401, "invalid_token");
    }
    until_refused(&app, &ana).await;
    assert_eq!(count_rows(&app, "app_player").await, 1);
    assert_eq!(app.app_player_token(&acme, "7").await.status, 200, "the app's own key opens what it did");
}

#[actix_web::test]
async fn a_token_for_two_apps_is_refused() {
    let app = TestApp::start().await;
    let key = Key::p256();
    trusting(&app, &key).await;
    app.new_app("other").await;
    let keys = || stored(&[key.jwk("k1")]);
    assert_eq!(app.trust("other", AUDIENCE, keys()).await, Trusting::Taken);
    assert_eq!(app.trust("other", "other-phone", keys()).await, Trusting::Stored);
    assert_eq!(app.trust("acme", "acme-web", keys()).await, Trusting::Stored);
    let token = |audiences: Value| key.token(&header(&key), &claims_with(&json!({"aud": audiences})));
    app.exchange(&token(json!([AUDIENCE, "other-phone"]))).await.is_problem(401, "invalid_token");
    let ana = app.exchanged(&token(json!([AUDIENCE, "acme-web"]))).await;
    // The same subject is another player of another app.
    assert_ne!(app.exchanged(&token(json!("other-phone"))).await.id, ana.id);
}

#[actix_web::test]
async fn an_address_is_counted_before_a_token_is_read() {
    let app = TestApp::start_with(never_refilled).await;
    let key = Key::p256();
    trusting(&app, &key).await;
    for _ in 0..300 {
        app.exchange("a.b.c").await.is_problem(401, "invalid_token");
    }
    let refused = app.exchange(&key.token(&header(&key), &claims("7"))).await;
    refused.is_problem(429, "rate_limited");
    assert_eq!(count_rows(&app, "app_player").await, 0);
}
