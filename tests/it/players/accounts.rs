//! Accounts: registration, sign-in, changes of name and password, and guests that become accounts.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::support::{
    app::TestApp,
    calls::{Guest, send},
};

const PASSWORD: &str = "correct horse";

#[actix_web::test]
async fn an_account_signs_in_again_by_its_name_in_any_case() {
    let app = TestApp::start().await;
    let ana = app.account("Ána", PASSWORD).await;
    let game = app.created(&ana, &json!({"variant": "kalah", "side": "south"})).await;
    assert_eq!(game["seats"]["south"]["kind"], "account");
    for name in ["Ána", "ÁNA", "A\u{301}na"] {
        let answer = app.sign_in(name, PASSWORD).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(answer.body["player"], game["seats"]["south"]);
        assert_eq!((&answer.body["token_type"], &answer.body["expires_in"]), (&json!("Bearer"), &json!(900)));
        assert_eq!(answer.headers["cache-control"], "no-store");
        assert_eq!(app.refresh(&answer.string("/refresh_token")).await.status, 200);
    }
}

#[actix_web::test]
async fn an_unknown_name_and_a_wrong_password_get_the_same_answer() {
    let app = TestApp::start().await;
    app.account("Ana", PASSWORD).await;
    app.guest("Guest").await;
    let mut answers = vec![];
    for (name, password) in [
        ("Ana", "wrong horse"),
        ("Nobody", PASSWORD),
        ("Guest", PASSWORD),
        ("Ana", "short"),
        ("Ana", ""),
        ("", PASSWORD),
        ("\u{202e}", PASSWORD),
        ("Ana", &"x".repeat(129)),
    ] {
        let mut answer = app.sign_in(name, password).await;
        answer.is_problem(401, "invalid_credentials");
        assert_eq!(answer.headers["www-authenticate"], "Bearer");
        answer.body["request_id"] = Value::Null;
        answers.push(answer.body);
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    // A whole body of 100,000 characters is none.
    app.sign_in("Ana", &"x".repeat(100_000)).await.is_problem(413, "payload_too_large");
}

#[actix_web::test]
async fn names_of_accounts_are_unique_to_a_reader() {
    let app = TestApp::start().await;
    app.account("Straße", PASSWORD).await;
    for name in ["Straße", "STRASSE", "strasse"] {
        let answer = app.post("/v1/players", None, &json!({"name": name, "password": PASSWORD})).await;
        answer.is_problem(409, "name_taken");
    }
    // A guest may have the name of an account.
    let guest = app.guest("Strasse").await;
    app.patch("/v1/me", Some(&guest), &json!({"password": PASSWORD})).await.is_problem(409, "name_taken");
    assert_eq!(app.get("/v1/me", Some(&guest)).await.body["kind"], "guest");
    let ana = app.account("Ana", PASSWORD).await;
    app.patch("/v1/me", Some(&ana), &json!({"name": "STRASSE"})).await.is_problem(409, "name_taken");
    // A player may change the case of their own name.
    assert_eq!(app.patch("/v1/me", Some(&ana), &json!({"name": "ANA"})).await.body["name"], "ANA");
}

#[actix_web::test]
async fn of_many_requests_for_one_name_at_once_one_gets_it() {
    let app = TestApp::start().await;
    let body = json!({"name": "Ana", "password": PASSWORD});
    let answers = join_all((0..8).map(|_| app.post("/v1/players", None, &body))).await;
    let created = answers.iter().filter(|answer| answer.status == 201).count();
    let taken = answers.iter().filter(|answer| answer.body["code"] == "name_taken").count();
    assert_eq!((created, taken), (1, 7), "{answers:?}");
    let players: i64 = sqlx::query_scalar("select count(*) from player where kind <> 'computer'")
        .fetch_one(&app.db)
        .await
        .expect("a count");
    assert_eq!(players, 1);
}

#[actix_web::test]
async fn a_bad_name_or_password_is_refused_at_its_place() {
    let app = TestApp::start().await;
    let guest = app.guest("Guest").await;
    for (body, pointer) in [
        (json!({"name": "Ana", "password": "7 chars"}), "/password"),
        (json!({"name": "Ana", "password": "x".repeat(129)}), "/password"),
        (json!({"name": "Ana", "password": 12_345_678}), "/password"),
        (json!({"name": "A\u{7}na", "password": PASSWORD}), "/name"),
        (json!({"name": "\u{202e}anA", "password": PASSWORD}), "/name"),
        (json!({"name": "", "password": PASSWORD}), "/name"),
        (json!({"name": "é".repeat(33), "password": PASSWORD}), "/name"),
        (json!({"name": "Ana", "passwort": PASSWORD}), "/passwort"),
    ] {
        for answer in [app.post("/v1/players", None, &body).await, app.patch("/v1/me", Some(&guest), &body).await] {
            answer.is_problem(422, "validation_failed");
            assert_eq!(answer.body["errors"][0]["pointer"], pointer);
        }
    }
    app.post("/v1/players", None, &json!({"password": PASSWORD})).await.is_problem(422, "validation_failed");
    app.post("/v1/players", None, &json!({"name": "x".repeat(10_000_000)})).await.is_problem(413, "payload_too_large");
    assert_eq!(app.get("/v1/me", Some(&guest)).await.body["name"], "Guest");
    let emoji = app.post("/v1/players", None, &json!({"name": "Ana 🙂", "password": PASSWORD})).await;
    assert_eq!(emoji.string("/player/name"), "Ana 🙂");
}

#[actix_web::test]
async fn a_guest_becomes_an_account_and_keeps_the_games() {
    let app = TestApp::start().await;
    let made = app.post("/v1/players", None, &json!({"name": "Ana"})).await;
    let (old, guest) =
        (made.string("/refresh_token"), Guest { id: made.string("/player/id"), token: made.string("/access_token") });
    let game = app.created(&guest, &json!({"variant": "kalah", "opponent": {"type": "self"}})).await;
    let id = game["id"].as_str().expect("an id");
    app.play_move(id, &guest, 1, "C").await;
    let answer = app.patch("/v1/me", Some(&guest), &json!({"name": "Ana Maria", "password": PASSWORD})).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!((&answer.body["id"], &answer.body["name"]), (&json!(guest.id), &json!("Ana Maria")));
    assert_eq!(answer.body["kind"], "account");
    // The tokens of the guest are void, those in the answer are good.
    app.refresh(&old).await.is_problem(401, "invalid_token");
    assert_eq!(app.refresh(&answer.string("/tokens/refresh_token")).await.status, 200);
    let signed_in = app.sign_in("ana maria", PASSWORD).await;
    let account = Guest { id: guest.id.clone(), token: signed_in.string("/access_token") };
    // The next move, decided on the cached game, shows the new name.
    let played = app.play_move(id, &account, 2, "A").await;
    assert_eq!(played.body["game"]["seats"]["south"], signed_in.body["player"]);
    assert_eq!(app.get("/v1/games?player=me", Some(&account)).await.body["items"][0]["id"], id);
}

#[actix_web::test]
async fn a_new_password_replaces_the_old_one_and_ends_all_sign_ins() {
    let app = TestApp::start().await;
    let ana = app.account("Ana", PASSWORD).await;
    let phone = app.sign_in("Ana", PASSWORD).await.string("/refresh_token");
    let phone = app.refresh(&phone).await.string("/refresh_token");
    let changed = app.patch("/v1/me", Some(&ana), &json!({"password": "battery staple"})).await;
    assert_eq!((changed.status.as_u16(), &changed.body["name"]), (200, &json!("Ana")));
    app.refresh(&phone).await.is_problem(401, "invalid_token");
    app.sign_in("Ana", PASSWORD).await.is_problem(401, "invalid_credentials");
    assert_eq!(app.sign_in("Ana", "battery staple").await.status, 200);
    assert_eq!(app.refresh(&changed.string("/tokens/refresh_token")).await.status, 200);
}

#[actix_web::test]
async fn a_new_name_is_shown_everywhere_and_ends_no_sign_in() {
    let app = TestApp::start().await;
    let made = app.post("/v1/players", None, &json!({"name": "Ana", "password": PASSWORD})).await;
    let ana = Guest { id: made.string("/player/id"), token: made.string("/access_token") };
    let changed = app.patch("/v1/me", Some(&ana), &json!({"name": "Anna"})).await;
    assert_eq!((&changed.body["name"], &changed.body["tokens"]), (&json!("Anna"), &Value::Null));
    assert_eq!(app.get(&format!("/v1/players/{}", ana.id), None).await.body["name"], "Anna");
    assert_eq!(app.refresh(&made.string("/refresh_token")).await.body["player"]["name"], "Anna");
    app.sign_in("Ana", PASSWORD).await.is_problem(401, "invalid_credentials");
    assert_eq!(app.sign_in("anna", PASSWORD).await.status, 200);
    // The old name is free again.
    app.account("Ana", PASSWORD).await;
    // Nothing to change is no failure.
    assert_eq!(app.patch("/v1/me", Some(&ana), &json!({})).await.body["name"], "Anna");
}

#[actix_web::test]
async fn an_access_token_from_before_a_new_password_changes_nothing_any_more() {
    let app = TestApp::start().await;
    let ana = app.account("Ana", PASSWORD).await;
    let changed = app.patch("/v1/me", Some(&ana), &json!({"password": "battery staple"})).await;
    let fresh = Guest { id: ana.id.clone(), token: changed.string("/tokens/access_token") };
    // A stolen token is not enough to take over the account.
    for body in [json!({"password": "thief's own"}), json!({"name": "Thief"}), json!({})] {
        app.patch("/v1/me", Some(&ana), &body).await.is_problem(401, "invalid_token");
    }
    app.delete_me(&ana).await.is_problem(401, "invalid_token");
    app.get("/v1/me/export", Some(&ana)).await.is_problem(401, "invalid_token");
    app.create_game(&ana, &json!({"variant": "kalah"})).await.is_problem(401, "invalid_token");
    assert_eq!(app.get("/v1/me", Some(&fresh)).await.body["name"], "Ana");
    assert_eq!(app.sign_in("Ana", "battery staple").await.status, 200);
}

#[actix_web::test]
async fn of_passwords_that_are_set_at_once_one_holds_and_only_its_sign_in() {
    let app = TestApp::start().await;
    for round in 0..5 {
        let guest = app.guest("Ana").await;
        let body = |n: usize| json!({"name": format!("Ana {round}"), "password": format!("password {n}")});
        let bodies: Vec<_> = (0..4).map(body).collect();
        let answers = join_all(bodies.iter().map(|body| app.patch("/v1/me", Some(&guest), body))).await;
        let mut good = 0;
        for (n, answer) in answers.iter().enumerate().filter(|(_, answer)| answer.status == 200) {
            let refreshed = app.refresh(&answer.string("/tokens/refresh_token")).await.status == 200;
            let signed_in = app.sign_in(&format!("Ana {round}"), &format!("password {n}")).await.status == 200;
            assert_eq!(refreshed, signed_in);
            good += u32::from(signed_in);
        }
        assert_eq!(good, 1, "{answers:?}");
    }
}

#[actix_web::test]
async fn changes_of_one_player_at_once_all_happen_one_after_the_other() {
    let app = TestApp::start().await;
    let guest = app.guest("Ana").await;
    let bodies = [json!({"name": "Ana 1"}), json!({"name": "Ana 2"}), json!({"name": "Ana 3"})];
    let answers = join_all(bodies.iter().map(|body| app.patch("/v1/me", Some(&guest), body))).await;
    assert!(answers.iter().all(|answer| answer.status == 200), "{answers:?}");
    let changed = app.patch("/v1/me", Some(&guest), &json!({"password": PASSWORD})).await;
    let account = Guest { id: guest.id, token: changed.string("/tokens/access_token") };
    let me = app.get("/v1/me", Some(&account)).await;
    assert_eq!(me.body["kind"], "account");
    // The account goes by the name that is shown.
    assert_eq!(app.sign_in(&me.string("/name"), PASSWORD).await.status, 200);
}

#[actix_web::test]
async fn a_profile_shows_what_is_public() {
    let app = TestApp::start().await;
    let ana = app.account("Ana", PASSWORD).await;
    let profile = app.get(&format!("/v1/players/{}", ana.id), None).await;
    assert_eq!(profile.status, 200);
    insta::assert_json_snapshot!(profile.body, { ".id" => "[id]", ".since" => "[since]" });
    // The player itself sees its settings, and what operators have told it, too.
    let mut own = app.get("/v1/me", Some(&ana)).await.body;
    let more = ["is_findable", "shows_last_seen", "who_may_invite", "suspension", "warnings"];
    let more = more.map(|field| own.as_object_mut().expect("an object").remove(field));
    let expected = [json!(false), json!(true), json!("everyone"), Value::Null, json!([])].map(Some);
    assert_eq!((own, more), (profile.body, expected));
    app.get("/v1/me", None).await.is_problem(401, "unauthenticated");
    app.get("/v1/me", Some(&app.stranger())).await.is_problem(401, "invalid_token");
    for unknown in ["x", "0199aaaa-0000-7000-8000-000000000000"] {
        app.get(&format!("/v1/players/{unknown}"), None).await.is_problem(404, "not_found");
    }
}

#[actix_web::test]
async fn a_profile_counts_games_against_others() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    let counts = async |guest: &Guest| app.get("/v1/me", Some(guest)).await.body["counts"].clone();
    let active = json!({"active": 1, "finished": 0, "won": 0, "lost": 0, "drawn": 0});
    assert_eq!((counts(&south).await, counts(&north).await), (active.clone(), active));
    app.resign_game(&id, &south).await;
    let alone = app.created(&south, &json!({"variant": "kalah", "opponent": {"type": "self"}})).await;
    app.resign_game(alone["id"].as_str().expect("an id"), &south).await;
    app.created(&south, &json!({"variant": "kalah"})).await;
    assert_eq!(counts(&south).await, json!({"active": 0, "finished": 1, "won": 0, "lost": 1, "drawn": 0}));
    assert_eq!(counts(&north).await, json!({"active": 0, "finished": 1, "won": 1, "lost": 0, "drawn": 0}));
}

#[actix_web::test]
async fn passwords_are_stored_as_argon2id_with_a_salt_of_their_own() {
    let app = TestApp::start().await;
    app.account("Ana", PASSWORD).await;
    app.account("Bo", PASSWORD).await;
    let hashes: Vec<String> =
        sqlx::query_scalar("select password_hash from account").fetch_all(&app.db).await.expect("rows");
    assert!(hashes.iter().all(|hash| hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$")), "{hashes:?}");
    assert_ne!(hashes[0], hashes[1]);
}

#[actix_web::test]
async fn too_many_sign_ins_at_once_are_refused_for_now_and_moves_go_on() {
    let app = TestApp::start().await;
    app.account("Ana", PASSWORD).await;
    let (id, south, _) = app.started(&json!({})).await;
    let many = join_all((0..200).map(|_| app.sign_in("Ana", PASSWORD)));
    let (answers, played) = futures_util::future::join(many, app.play_move(&id, &south, 1, "A")).await;
    assert_eq!(played.status, 201);
    let good = answers.iter().filter(|answer| answer.status == 200).count();
    let refused: Vec<_> = answers.iter().filter(|answer| answer.status != 200).collect();
    assert!(good > 0 && !refused.is_empty());
    for answer in refused {
        answer.is_problem(503, "unavailable");
        assert!(answer.headers.contains_key("retry-after"));
    }
}

#[actix_web::test]
async fn an_unused_guest_is_forgotten_after_a_while() {
    use mancala_server::{db::players, domain::PlayerId};
    use time::Duration;
    let app = TestApp::start().await;
    let (unused, player) = (app.guest("Unused").await, app.guest("Player").await);
    let account = app.account("Ana", PASSWORD).await;
    app.created(&player, &json!({"variant": "kalah"})).await;
    let purge = async |before| {
        let mut after: Option<PlayerId> = None;
        loop {
            after = players::purge_guests(&app.db, before, after, 2).await.expect("guests go");
            if after.is_none() {
                break;
            }
        }
    };
    let exists = async |guest: &Guest| app.get(&format!("/v1/players/{}", guest.id), None).await.status == 200;
    purge(crate::support::clock::now() - Duration::days(1)).await;
    assert!(exists(&unused).await);
    // By tomorrow's clock, no guest has been seen since.
    purge(crate::support::clock::now() + Duration::days(1)).await;
    assert!(!exists(&unused).await);
    assert!(exists(&player).await && exists(&account).await);
    app.get("/v1/me", Some(&unused)).await.is_problem(401, "invalid_token");
    app.create_game(&unused, &json!({"variant": "kalah"})).await.is_problem(401, "invalid_token");
    let answer = send(app.request(reqwest::Method::PATCH, "/v1/me").bearer_auth(&unused.token).json(&json!({}))).await;
    answer.is_problem(401, "invalid_token");
}

#[actix_web::test]
async fn guests_are_looked_through_once_a_day() {
    use mancala_server::jobs::purge::{self, Guests, Settings};
    use time::Duration;
    let app = TestApp::start().await;
    let settings = Settings { guest_retention: Some(Duration::days(1)) };
    let (now, mut guests) = (crate::support::clock::now(), Guests::default());
    let one = app.guest("One").await;
    let mut left = vec![];
    for hours in [12, 48, 49, 73] {
        purge::run(&app.db, settings, &mut guests, now + Duration::hours(hours)).await.expect("rows go");
        let count = sqlx::query_scalar::<_, i64>("select count(*) from player where kind <> 'computer'")
            .fetch_one(&app.db)
            .await;
        left.push(count.expect("a count"));
        if hours == 48 {
            app.guest("Two").await;
        }
    }
    // After 12 hours no guest is old enough; at 48 hours the last scan is over a day ago; at 49 hours none is due.
    assert_eq!(left, [1, 0, 1, 0]);
    app.get("/v1/me", Some(&one)).await.is_problem(401, "invalid_token");
}
