//! ID tokens: one that is not the issuer's, for this service, of this sign-in and of now is not believed, and nothing is stored.

use serde_json::json;

use crate::support::{
    app::TestApp,
    clock::now,
    database::count_rows,
    issuer::{Conduct, Signed, StubIssuer, player_of},
};

/// A sign-in with such a token is refused, and leaves nothing.
async fn is_refused(app: &TestApp, issuer: &StubIssuer, conduct: Conduct) {
    let what = format!("{:?} {} {}", conduct.signed, conduct.header, conduct.claims);
    issuer.conduct(conduct);
    let refused = app.sign_in_by(issuer, "person").await;
    assert_eq!(
        (refused.status.as_u16(), &refused.body["code"]),
        (401, &json!("sign_in_refused")),
        "{what}: {refused:?}"
    );
    refused.is_problem(401, "sign_in_refused");
    for table in ["player where kind = 'guest'", "player_identity", "refresh_family"] {
        assert_eq!(count_rows(app, table).await, 0, "{what}: {table}");
    }
}

#[actix_web::test]
async fn a_token_with_wrong_claims_is_refused() {
    let issuer = StubIssuer::start();
    let app = issuer.app().await;
    let now = now().unix_timestamp();
    for claims in [
        json!({"iss": "https://evil.example"}),
        json!({"iss": format!("{}/", issuer.url())}),
        json!({"iss": null}),
        json!({"aud": "another"}),
        json!({"aud": null}),
        json!({"aud": []}),
        json!({"aud": ["another"]}),
        json!({"aud": ["mancala", "another"]}),
        json!({"aud": ["mancala", "another"], "azp": "another"}),
        json!({"azp": "another"}),
        json!({"exp": now - 61}),
        json!({"exp": null}),
        json!({"exp": "tomorrow"}),
        json!({"iat": now + 300}),
        json!({"iat": now - 3600}),
        json!({"iat": null}),
        json!({"nbf": now + 300}),
        json!({"nonce": "another"}),
        json!({"nonce": null}),
        json!({"at_hash": "another"}),
        json!({"sub": null}),
        json!({"sub": ""}),
        json!({"sub": 5}),
        json!({"sub": "a".repeat(256)}),
        json!({"sub": "a\u{0}b"}),
        json!({"more": "a".repeat(16_384)}),
    ] {
        is_refused(&app, &issuer, Conduct { claims, ..Conduct::default() }).await;
    }
}

#[actix_web::test]
async fn a_token_with_a_wrong_signature_is_refused() {
    let issuer = StubIssuer::start();
    let app = issuer.app().await;
    for signed in [Signed::ByAnother, Signed::ByPublicKey, Signed::Not] {
        is_refused(&app, &issuer, Conduct { signed, ..Conduct::default() }).await;
    }
    for header in [
        json!({"alg": "none"}),
        json!({"alg": "None"}),
        json!({"alg": "HS256"}),
        json!({"alg": "RS384"}),
        json!({"alg": "ES256"}),
        json!({"alg": null}),
        json!({"alg": "ES256", "kid": "first-ec"}),
        json!({"kid": "first-ec"}),
        json!({"kid": "other"}),
        json!({"crit": ["exp"]}),
    ] {
        is_refused(&app, &issuer, Conduct { header, ..Conduct::default() }).await;
    }
}

#[actix_web::test]
async fn what_the_standard_allows_is_accepted() {
    let issuer = StubIssuer::start();
    let app = issuer.app().await;
    let now = now().unix_timestamp();
    let subject = "s".repeat(255);
    let first = app.sign_in_by(&issuer, &subject).await;
    assert_eq!(first.status, 201, "{first:?}");
    for (header, claims) in [
        (json!({"kid": null}), json!({})),
        (json!({"typ": null}), json!({"aud": ["mancala"]})),
        (json!({}), json!({"aud": ["another", "mancala"], "azp": "mancala"})),
        (json!({}), json!({"azp": "mancala"})),
        (json!({}), json!({"at_hash": null, "exp": now + 5, "iat": now - 30})),
        (json!({}), json!({"nbf": now, "email": "ana@mail.example", "more": {"a": [1, null]}})),
    ] {
        issuer.conduct(Conduct { header, claims: claims.clone(), ..Conduct::default() });
        let again = app.sign_in_by(&issuer, &subject).await;
        assert_eq!((again.status.as_u16(), player_of(&again).id), (200, player_of(&first).id), "{claims}: {again:?}");
    }
}

#[actix_web::test]
async fn a_secret_goes_where_the_issuer_takes_it() {
    for methods in
        [json!(["client_secret_basic", "client_secret_post"]), json!(["private_key_jwt", "client_secret_post"])]
    {
        let issuer = StubIssuer::start();
        let app = issuer.app().await;
        let document = json!({"token_endpoint_auth_methods_supported": methods});
        issuer.conduct(Conduct { document, ..Conduct::default() });
        assert_eq!(app.sign_in_by(&issuer, "person").await.status, 201);
    }
}

#[actix_web::test]
async fn new_keys_are_read_when_a_token_names_one() {
    let issuer = StubIssuer::start();
    let app = issuer.app().await;
    assert_eq!(app.sign_in_by(&issuer, "person").await.status, 201);
    assert_eq!(app.sign_in_by(&issuer, "person").await.status, 200);
    assert_eq!(issuer.asked("/keys"), 1);
    issuer.rotate("second");
    assert_eq!(app.sign_in_by(&issuer, "person").await.status, 200);
    assert_eq!(issuer.asked("/keys"), 2);
    // A name that no key has does not lead to a look each time.
    issuer.conduct(Conduct { header: json!({"kid": "third"}), ..Conduct::default() });
    for _ in 0..3 {
        app.sign_in_by(&issuer, "person").await.is_problem(401, "sign_in_refused");
    }
    assert_eq!(issuer.asked("/keys"), 2);
}
