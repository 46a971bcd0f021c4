//! Access tokens: which are accepted, and which are refused as forged, expired or meant for another server.

use base64::{
    Engine,
    prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD},
};
use ed25519_dalek::{Signer, SigningKey, pkcs8::DecodePrivateKey};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use mancala_server::{
    domain::PlayerId,
    http::{PublicKey, Tokens, new_key},
};
use reqwest::{Method, header};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use time::Duration;
use uuid::Uuid;

use crate::support::{
    app::{AUDIENCE, ISSUER, TestApp},
    binary::{File, Running, url},
    calls::{Guest, guest, send},
    clock::now,
};

fn segment(token: &str, n: usize) -> Value {
    let part = token.split('.').nth(n).expect("a token has three parts");
    serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(part).expect("base64")).expect("JSON")
}

fn encoded(value: &Value) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(value.to_string())
}

/// HMAC with SHA-256 (RFC 2104) and a key of up to 64 bytes.
fn hmac(key: &[u8], text: &str) -> Vec<u8> {
    let pad = |byte: u8| (0..64).map(|n| key.get(n).unwrap_or(&0) ^ byte).collect::<Vec<_>>();
    let inner = Sha256::new().chain_update(pad(0x36)).chain_update(text).finalize();
    Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize().to_vec()
}

#[actix_web::test]
async fn a_token_says_who_signed_it_with_which_key_for_whom_and_how_long() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let (header, claims) = (segment(&ana.token, 0), segment(&ana.token, 1));
    assert_eq!(header["alg"], "EdDSA");
    assert!(header["kid"].is_string());
    assert_eq!((&claims["iss"], &claims["aud"], &claims["sub"]), (&json!(ISSUER), &json!(AUDIENCE), &json!(ana.id)));
    assert_eq!(claims["exp"].as_i64(), claims["iat"].as_i64().map(|iat| iat + 900));
}

#[actix_web::test]
async fn a_token_says_whether_its_player_is_a_guest() {
    let app = TestApp::start().await;
    let kind = |token: &str| segment(token, 1)["kind"].clone();
    let is_guest = |token: &str| app.tokens.verify(token.as_bytes(), now()).map(|caller| caller.is_guest);
    let ana = app.guest("Ana").await;
    assert_eq!((kind(&ana.token), is_guest(&ana.token)), (json!("guest"), Some(true)));
    // A guest who sets a password gets new tokens, and so does each later sign-in.
    let changed = app.patch("/v1/me", Some(&ana), &json!({"password": "correct horse"})).await;
    let signed_in = app.sign_in("Ana", "correct horse").await;
    let refreshed = app.refresh(&signed_in.string("/refresh_token")).await;
    let tokens = [(changed, "/tokens/access_token"), (signed_in, "/access_token"), (refreshed, "/access_token")];
    for token in tokens.map(|(answer, pointer)| answer.string(pointer)) {
        assert_eq!((kind(&token), is_guest(&token)), (json!("account"), Some(false)));
    }
    // A token of an earlier release does not say it.
    let mut claims = segment(&ana.token, 1);
    claims.as_object_mut().expect("an object").remove("kind");
    let mut head = Header::new(Algorithm::EdDSA);
    head.kid = segment(&ana.token, 0)["kid"].as_str().map(str::to_owned);
    let der: String = app.key.lines().filter(|line| !line.starts_with('-')).collect();
    let key = EncodingKey::from_ed_der(&BASE64_STANDARD.decode(der).expect("base64"));
    let old = jsonwebtoken::encode(&head, &claims, &key).expect("a token");
    assert_eq!(is_guest(&old), Some(true));
}

#[actix_web::test]
async fn without_a_token_nothing_is_changed_and_what_is_public_is_read() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let game = app.created(&ana, &json!({"variant": "kalah"})).await;
    let id = game["id"].as_str().expect("an id");
    for path in [
        "/v1/games".to_owned(),
        format!("/v1/games/{id}/join"),
        format!("/v1/games/{id}/moves"),
        format!("/v1/games/{id}/resign"),
        format!("/v1/games/{id}/abort"),
    ] {
        let answer = app.post(&path, None, &json!({})).await;
        answer.is_problem(401, "unauthenticated");
        assert_eq!(answer.headers["www-authenticate"], "Bearer");
    }
    for path in
        ["/v1/games".to_owned(), format!("/v1/games/{id}"), format!("/v1/games/{id}/moves"), "/v1/variants".into()]
    {
        assert_eq!(app.get(&path, None).await.status, 200);
    }
}

#[actix_web::test]
async fn a_token_that_this_server_did_not_issue_is_refused_everywhere() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let game = app.created(&ana, &json!({"variant": "kalah"})).await;
    let id = game["id"].as_str().expect("an id");
    let player = PlayerId(Uuid::try_parse(&ana.id).expect("an id"));
    let now = now();
    let (head, claims) = (segment(&ana.token, 0), segment(&ana.token, 1));
    let parts: Vec<&str> = ana.token.split('.').collect();
    let other = |issuer, audience| {
        Tokens::from_pem(&new_key(), issuer, audience).expect("a new key is a key").issue(guest(player), now)
    };
    let with_claim = |name: &str, value: Value| {
        let mut claims = claims.clone();
        claims[name] = value;
        format!("{}.{}.{}", parts[0], encoded(&claims), parts[2])
    };
    let with_header = |name: &str, value: Value| {
        let mut head = head.clone();
        head[name] = value;
        format!("{}.{}.{}", encoded(&head), parts[1], parts[2])
    };
    // The public key as the secret of a symmetric algorithm, which a careless verifier accepts.
    let key = SigningKey::from_pkcs8_pem(&app.key).expect("a key");
    let text = format!("{}.{}", encoded(&json!({"alg": "HS256", "kid": head["kid"]})), parts[1]);
    let symmetric = format!("{text}.{}", BASE64_URL_SAFE_NO_PAD.encode(hmac(key.verifying_key().as_bytes(), &text)));
    let mut signature = BASE64_URL_SAFE_NO_PAD.decode(parts[2]).expect("base64");
    signature[10] ^= 1;

    // Signed with the server's own key, and still not valid.
    let signed = |head: &Value, claims: Value| {
        let key = &SigningKey::from_pkcs8_pem(&app.key).expect("a key");
        let text = format!("{}.{}", encoded(head), encoded(&claims));
        format!("{text}.{}", BASE64_URL_SAFE_NO_PAD.encode(key.sign(text.as_bytes()).to_bytes()))
    };
    let claiming = |more: Value| {
        let mut claims = claims.clone();
        claims.as_object_mut().expect("claims").extend(more.as_object().expect("claims").clone());
        signed(&head, claims)
    };
    let soon = now.unix_timestamp() + 90;
    let mut critical = head.clone();
    critical["crit"] = json!(["exp"]);
    let own = Guest { id: ana.id.clone(), token: claiming(json!({"nbf": now.unix_timestamp()})) };
    assert_eq!(app.get("/v1/me", Some(&own)).await.status, 200, "what is signed here is valid otherwise");

    let forged = [
        ("not valid yet", claiming(json!({"nbf": soon}))),
        ("not a time", claiming(json!({"nbf": "soon"}))),
        ("issued in the future", claiming(json!({"iat": soon, "exp": soon + 900}))),
        ("an unknown extension is critical", signed(&critical, claims.clone())),
        ("expired", app.tokens.issue(guest(player), now - Duration::minutes(17))),
        ("signed by another key", other(ISSUER, AUDIENCE)),
        ("another server's", other("elsewhere", AUDIENCE)),
        ("alg none", format!("{}.{}.", encoded(&json!({"alg": "none", "kid": head["kid"]})), parts[1])),
        ("alg none, signed", with_header("alg", json!("none"))),
        ("alg HS256", symmetric),
        ("alg RS256", with_header("alg", json!("RS256"))),
        ("without kid", format!("{}.{}.{}", encoded(&json!({"alg": "EdDSA"})), parts[1], parts[2])),
        ("another kid", with_header("kid", json!("other"))),
        ("another player", with_claim("sub", json!(Uuid::now_v7()))),
        ("longer life", with_claim("exp", json!(9_999_999_999_i64))),
        ("tampered signature", format!("{}.{}.{}", parts[0], parts[1], BASE64_URL_SAFE_NO_PAD.encode(signature))),
        ("no signature", format!("{}.{}", parts[0], parts[1])),
        ("not a token", "hello".to_owned()),
        ("empty", String::new()),
        ("huge", "x".repeat(6000)),
    ];
    for (what, token) in forged {
        let eve = Guest { id: ana.id.clone(), token };
        for answer in [
            app.create_game(&eve, &json!({"variant": "kalah"})).await,
            app.abort_game(id, &eve).await,
            app.get_game(id, Some(&eve)).await,
            app.get("/v1/variants", Some(&eve)).await,
            app.get("/livez", Some(&eve)).await,
            app.get("/openapi.json", Some(&eve)).await,
            app.get("/v1/games", Some(&eve)).await,
        ] {
            assert_eq!(answer.body["code"], "invalid_token", "{what}: {answer:?}");
            answer.is_problem(401, "invalid_token");
            assert_eq!(answer.headers["www-authenticate"], "Bearer error=\"invalid_token\"");
        }
    }
    assert_eq!(app.get_game(id, Some(&ana)).await.body, game);
    assert_eq!(app.get("/v1/games", None).await.body["items"].as_array().map(Vec::len), Some(1));
}

#[actix_web::test]
async fn an_authorization_of_another_form_is_refused() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    for value in ["Basic YTpi", "Bearer", &ana.token, "bearer", "Bearer  "] {
        let request = app.request(Method::GET, "/v1/games").header(header::AUTHORIZATION, value);
        send(request).await.is_problem(401, "invalid_token");
    }
}

#[actix_web::test]
async fn a_token_of_the_same_key_for_another_issuer_or_audience_is_refused() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let key = new_key();
    let player = PlayerId(Uuid::try_parse(&ana.id).expect("an id"));
    let now = now();
    let ours = Tokens::from_pem(&key, ISSUER, AUDIENCE).expect("a key");
    assert_eq!(ours.verify(ours.issue(guest(player), now).as_bytes(), now), Some(guest(player)));
    for (issuer, audience) in [("elsewhere", AUDIENCE), (ISSUER, "elsewhere")] {
        let theirs = Tokens::from_pem(&key, issuer, audience).expect("a key");
        assert_eq!(ours.verify(theirs.issue(guest(player), now).as_bytes(), now), None);
    }
    // A verified token is cached until it expires, and no longer.
    let token = ours.issue(guest(player), now);
    for (age_s, good) in [(0, true), (960, true), (961, false), (0, true)] {
        assert_eq!(ours.verify(token.as_bytes(), now + Duration::seconds(age_s)).is_some(), good, "after {age_s} s");
    }
    assert_eq!(
        ours.verify(ours.issue(guest(player), now - Duration::minutes(16) - Duration::seconds(10)).as_bytes(), now),
        None
    );
}

#[actix_web::test]
async fn a_cached_token_is_refused_from_the_second_in_which_it_expires() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let issued = now() - Duration::minutes(15) - Duration::seconds(59);
    let token = app.tokens.issue(guest(PlayerId(Uuid::try_parse(&ana.id).expect("an id"))), issued);
    let last = issued.unix_timestamp() + 960;
    let old = Guest { token, ..ana };
    let mut taken = 0;
    loop {
        let begun = now();
        let answer = app.get("/v1/me", Some(&old)).await;
        if answer.status != 200 {
            answer.is_problem(401, "invalid_token");
            break;
        }
        assert!(begun.unix_timestamp() <= last, "taken after {last}");
        taken += 1;
    }
    assert!(taken > 1 && now().unix_timestamp() > last, "{taken}");
}

#[actix_web::test]
async fn a_player_without_a_row_cannot_take_a_seat() {
    let app = TestApp::start().await;
    let (ana, stranger) = (app.guest("Ana").await, app.stranger());
    app.create_game(&stranger, &json!({"variant": "kalah"})).await.is_problem(401, "invalid_token");
    let game = app.created(&ana, &json!({"variant": "kalah"})).await;
    app.join_game(game["id"].as_str().expect("an id"), &stranger).await.is_problem(401, "invalid_token");
    assert_eq!(app.get_game(game["id"].as_str().expect("an id"), None).await.body["status"], "open");
}

#[actix_web::test]
async fn the_signing_key_is_changed_without_ending_a_sign_in() {
    let app = TestApp::start().await;
    let (old, new) = (new_key(), new_key());
    let public = |private: &str| File::new(&PublicKey::pem_of(private).expect("a key"));
    let (old_public, new_public) = (public(&old), public(&new));
    let start = |key: &str, accepted: &[&File]| {
        let files: Vec<&str> = accepted.iter().map(|file| file.name()).collect();
        let files = files.join(",");
        let arguments = ["--jwt-public-key-files", &files];
        let arguments = if files.is_empty() { &[][..] } else { &arguments };
        Running::start_with(&url(&app), key, arguments, &[])
    };
    let knows = async |server: &Running, token: &str| {
        send(server.get("/v1/games?player=me").bearer_auth(token)).await.status.as_u16()
    };
    let kids = async |server: &Running| {
        let keys = send(server.get("/.well-known/jwks.json")).await.body["keys"].as_array().expect("keys").clone();
        assert!(keys.iter().all(|key| key["kty"] == "OKP" && key["alg"] == "EdDSA" && key["d"].is_null()), "{keys:?}");
        keys.iter().map(|key| key["kid"].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
    };
    let token_of = async |server: &Running| send(server.post("/v1/players")).await.string("/access_token");

    let before = start(&old, &[&new_public]);
    let first = token_of(&before).await;
    let during = start(&new, &[&old_public, &new_public]);
    let second = token_of(&during).await;
    assert_ne!(segment(&first, 0)["kid"], segment(&second, 0)["kid"]);
    for server in [&before, &during] {
        assert_eq!((knows(server, &first).await, knows(server, &second).await), (200, 200));
    }
    // A key that is named twice is listed once, and the signing key first.
    let (listed_before, listed_during) = (kids(&before).await, kids(&during).await);
    assert_eq!((listed_before.len(), listed_during.len()), (2, 2));
    assert_eq!(listed_before[0], segment(&first, 0)["kid"]);
    assert_eq!(listed_during[0], segment(&second, 0)["kid"]);
    assert!(listed_during.contains(&listed_before[0]));

    let after = start(&new, &[]);
    assert_eq!((knows(&after, &first).await, knows(&after, &second).await), (401, 200));
    assert_eq!(kids(&after).await, [segment(&second, 0)["kid"].as_str().expect("a name")]);
}
