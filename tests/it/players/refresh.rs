//! Refresh tokens: each is used once. A lost answer is forgiven; reuse after theft revokes the family.

use futures_util::future::join_all;
use mancala_server::db::players::refresh_tokens;
use serde_json::{Value, json};

use crate::support::{answer::Answer, app::TestApp, calls::Guest};

async fn refresh(app: &TestApp, token: &str) -> Answer {
    app.refresh(token).await
}

/// A new guest's first refresh token.
async fn first(app: &TestApp) -> (Value, String) {
    let answer = app.post("/v1/players", None, &json!({"name": "Ana"})).await;
    (answer.body["player"].clone(), answer.string("/refresh_token"))
}

/// The first refresh token of a new account.
async fn first_of_account(app: &TestApp) -> String {
    let body = json!({"name": "Ana", "password": "correct horse"});
    app.post("/v1/players", None, &body).await.string("/refresh_token")
}

#[actix_web::test]
async fn a_refresh_token_brings_the_same_player_new_tokens() {
    let app = TestApp::start().await;
    let (player, token) = first(&app).await;
    let answer = refresh(&app, &token).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.body["player"], player);
    assert_eq!((&answer.body["token_type"], &answer.body["expires_in"]), (&json!("Bearer"), &json!(900)));
    assert_eq!(answer.headers["cache-control"], "no-store");
    assert_ne!(answer.string("/refresh_token"), token);
    let guest = Guest { id: player["id"].to_string(), token: answer.string("/access_token") };
    let game = app.created(&guest, &json!({"variant": "kalah", "side": "south"})).await;
    assert_eq!(game["seats"]["south"], player);
}

#[actix_web::test]
async fn a_lost_answer_locks_no_player_out() {
    let app = TestApp::start().await;
    let (_, mut token) = first(&app).await;
    for _ in 0..3 {
        let lost = refresh(&app, &token).await;
        let again = refresh(&app, &token).await;
        let third = refresh(&app, &token).await;
        assert_eq!((lost.status.as_u16(), again.status.as_u16(), third.status.as_u16()), (200, 200, 200));
        assert_ne!(again.string("/refresh_token"), lost.string("/refresh_token"));
        // The token of either answer is valid.
        token = again.string("/refresh_token");
    }
}

#[actix_web::test]
async fn a_reused_token_of_an_account_revokes_its_whole_sign_in() {
    let app = TestApp::start().await;
    let stolen = first_of_account(&app).await;
    let second = refresh(&app, &stolen).await.string("/refresh_token");
    let third = refresh(&app, &second).await.string("/refresh_token");
    refresh(&app, &stolen).await.is_problem(401, "refresh_token_reused");
    for token in [&stolen, &second, &third] {
        refresh(&app, token).await.is_problem(401, "invalid_token");
    }
}

#[actix_web::test]
async fn a_reused_token_of_a_guest_leaves_the_newer_ones_alone() {
    let app = TestApp::start().await;
    let (_, mut token) = first(&app).await;
    let mut used = vec![];
    for _ in 0..4 {
        let next = refresh(&app, &token).await.string("/refresh_token");
        used.push(std::mem::replace(&mut token, next));
    }
    // The newest of the used ones may come again, because its answer may have been lost.
    let newest = used.pop().expect("four were used");
    for reused in used.iter().chain(&used) {
        refresh(&app, reused).await.is_problem(401, "refresh_token_reused");
    }
    assert_eq!(refresh(&app, &newest).await.status, 200);
    assert_eq!(refresh(&app, &token).await.status, 200);
    refresh(&app, &newest).await.is_problem(401, "refresh_token_reused");
}

#[actix_web::test]
async fn of_two_successors_of_one_token_only_one_can_be_used() {
    let app = TestApp::start().await;
    let token = first_of_account(&app).await;
    let one = refresh(&app, &token).await.string("/refresh_token");
    let other = refresh(&app, &token).await.string("/refresh_token");
    let next = refresh(&app, &one).await.string("/refresh_token");
    // Two clients hold tokens of one sign-in, so one token was stolen.
    refresh(&app, &other).await.is_problem(401, "refresh_token_reused");
    refresh(&app, &next).await.is_problem(401, "invalid_token");
}

#[actix_web::test]
async fn many_uses_of_one_token_at_once_all_get_tokens_and_leave_one_family() {
    let app = TestApp::start().await;
    let (_, token) = first(&app).await;
    let answers = join_all((0..16).map(|_| refresh(&app, &token))).await;
    assert!(answers.iter().all(|answer| answer.status == 200));
    assert_eq!(refresh(&app, &answers[7].string("/refresh_token")).await.status, 200);
    refresh(&app, &answers[8].string("/refresh_token")).await.is_problem(401, "refresh_token_reused");
}

#[actix_web::test]
async fn one_sign_in_says_nothing_about_another() {
    let app = TestApp::start().await;
    let ((_, ana), (_, bo)) = (first(&app).await, first(&app).await);
    let revoked = app.post("/v1/tokens/revoke", None, &json!({"token": ana})).await;
    assert_eq!((revoked.status.as_u16(), revoked.text.as_str()), (200, ""));
    refresh(&app, &ana).await.is_problem(401, "invalid_token");
    assert_eq!(refresh(&app, &bo).await.status, 200);
}

#[actix_web::test]
async fn revoking_is_200_whatever_the_token_was_and_ends_the_whole_sign_in() {
    let app = TestApp::start().await;
    let (_, token) = first(&app).await;
    let next = refresh(&app, &token).await.string("/refresh_token");
    for known in ["nonsense", "", &token, &token] {
        assert_eq!(app.post("/v1/tokens/revoke", None, &json!({"token": known})).await.status, 200);
    }
    refresh(&app, &next).await.is_problem(401, "invalid_token");
}

#[actix_web::test]
async fn an_expired_an_unknown_and_a_malformed_token_are_refused() {
    let app = TestApp::start().await;
    let (_, token) = first(&app).await;
    sqlx::raw_sql("update refresh_token set expires_at = now() - interval '1 second'")
        .execute(&app.db)
        .await
        .expect("time passes");
    for token in [token.as_str(), "nonsense", "", "🙂", &"x".repeat(3000)] {
        refresh(&app, token).await.is_problem(401, "invalid_token");
    }
    for body in [
        json!({}),
        json!({"grant_type": "password", "name": "Ana"}),
        json!({"grant_type": "magic"}),
        json!({"grant_type": "refresh_token"}),
        json!({"grant_type": "refresh_token", "refresh_token": 5}),
        json!({"grant_type": "refresh_token", "refresh_token": token, "scope": "all"}),
        json!({"grant_type": 5, "refresh_token": token}),
    ] {
        app.post("/v1/tokens", None, &body).await.is_problem(422, "validation_failed");
    }
    app.post("/v1/tokens/revoke", None, &json!({"token": 5})).await.is_problem(422, "validation_failed");
}

#[actix_web::test]
async fn a_sign_in_remembers_a_hundred_generations_and_no_more() {
    let app = TestApp::start().await;
    let (_, mut token) = first(&app).await;
    for _ in 0..120 {
        token = refresh(&app, &token).await.string("/refresh_token");
    }
    let kept: i64 = sqlx::query_scalar("select count(*) from refresh_token").fetch_one(&app.db).await.expect("a count");
    assert_eq!(kept, 102);
}

#[actix_web::test]
async fn however_often_a_token_is_sent_again_only_its_last_successors_are_kept() {
    let app = TestApp::start().await;
    let (_, token) = first(&app).await;
    let mut successors = vec![];
    for _ in 0..50 {
        successors.push(refresh(&app, &token).await.string("/refresh_token"));
    }
    let kept: i64 = sqlx::query_scalar("select count(*) from refresh_token").fetch_one(&app.db).await.expect("a count");
    assert_eq!(kept, 34);
    assert_eq!(refresh(&app, successors.last().expect("there are 50")).await.status, 200);
}

#[actix_web::test]
async fn what_has_expired_or_was_revoked_is_purged_in_batches_and_nothing_else() {
    let app = TestApp::start().await;
    let (_, kept) = first(&app).await;
    for _ in 0..5 {
        let (_, revoked) = first(&app).await;
        app.post("/v1/tokens/revoke", None, &json!({"token": revoked})).await;
    }
    let second = refresh(&app, &kept).await.string("/refresh_token");
    let old = "update refresh_token set expires_at = now() - interval '1 day' where generation = 1";
    sqlx::raw_sql(old).execute(&app.db).await.expect("time passes");
    let (_, fresh) = first(&app).await;
    let mut batches = 0;
    while refresh_tokens::purge(&app.db, crate::support::clock::now(), 2).await.expect("rows go") > 0 {
        batches += 1;
    }
    assert!((2..=6).contains(&batches), "{batches}");
    let count = "select (select count(*) from refresh_token), (select count(*) from refresh_family)";
    let counts: (i64, i64) = sqlx::query_as(count).fetch_one(&app.db).await.expect("counts");
    assert_eq!(counts, (2, 2));
    for good in [&second, &fresh] {
        assert_eq!(refresh(&app, good).await.status, 200);
    }
}

#[actix_web::test]
async fn no_refresh_token_is_stored() {
    let app = TestApp::start().await;
    let (_, token) = first(&app).await;
    let second = refresh(&app, &token).await.string("/refresh_token");
    let tables = "select string_agg(t::text, ' ') from (select refresh_token::text as t from refresh_token \
                  union all select refresh_family::text from refresh_family union all select player::text from player) all_rows";
    let rows: String = sqlx::query_scalar(tables).fetch_one(&app.db).await.expect("rows");
    for token in [&token, &second] {
        assert!(!rows.contains(token.as_str()));
        let hex = token.bytes().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
        assert!(!rows.contains(&hex));
    }
}

#[actix_web::test]
async fn the_public_key_verifies_what_the_server_signs() {
    use jsonwebtoken::{Algorithm, DecodingKey, Validation, jwk::JwkSet};

    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let answer = app.get("/.well-known/jwks.json", None).await;
    let keys: JwkSet = serde_json::from_value(answer.body.clone()).expect("a key set");
    let kid = jsonwebtoken::decode_header(&ana.token).expect("a header").kid.expect("a key's name");
    let key = DecodingKey::from_jwk(keys.find(&kid).expect("the key is there")).expect("a key");
    let mut validation = Validation::new(Algorithm::EdDSA);
    validation.set_audience(&[crate::support::app::AUDIENCE]);
    let claims = jsonwebtoken::decode::<Value>(&ana.token, &key, &validation).expect("the signature is good").claims;
    assert_eq!(claims["sub"], ana.id);
    // No private part: RFC 8037 calls it `d`.
    assert!(answer.body["keys"][0].get("d").is_none());
}
