//! Invitations: games for one player only, which accepts or declines, and which the creator may take back.

use reqwest::{Method, header};
use serde_json::{Value, json};

use crate::support::{
    app::TestApp,
    calls::{Guest, send, signed},
};

fn for_player(guest: &Guest) -> Value {
    json!({"variant": "kalah", "side": "south", "opponent": {"type": "player", "player_id": guest.id}})
}

fn private_for_player(guest: &Guest) -> Value {
    let mut body = for_player(guest);
    body["visibility"] = json!("private");
    body
}

/// An open game with an invited player.
async fn invite(app: &TestApp, creator: &Guest, body: &Value) -> String {
    app.created(creator, body).await["id"].as_str().expect("an id").to_owned()
}

#[actix_web::test]
async fn only_the_invited_player_may_join() {
    let app = TestApp::start().await;
    let (ana, bo, eve) = (app.guest("Ana").await, app.guest("Bo").await, app.guest("Eve").await);
    let id = invite(&app, &ana, &for_player(&bo)).await;
    let game = app.get_game(&id, None).await.body;
    let named = json!({"id": bo.id, "name": "Bo", "kind": "guest"});
    assert_eq!(game["opponent"], json!({"type": "player", "player_id": bo.id, "player": named}));
    assert_eq!((&game["status"], &game["seats"]["north"]), (&json!("open"), &Value::Null));
    app.join_game(&id, &eve).await.is_problem(403, "forbidden");
    app.post(&format!("/v1/games/{id}/join"), Some(&eve), &json!({"join_code": "x"}))
        .await
        .is_problem(403, "forbidden");

    let joined = app.join_game(&id, &bo).await;
    assert_eq!((joined.status.as_u16(), &joined.body["status"]), (200, &json!("active")));
    assert_eq!(joined.body["seats"]["north"], named);
    assert_eq!(app.join_game(&id, &bo).await.body, joined.body);
    app.join_game(&id, &eve).await.is_problem(403, "forbidden");
    let played = app.play_move(&id, &ana, 1, "C").await;
    assert_eq!(played.body["game"]["opponent"], joined.body["opponent"]);
    assert_eq!(app.play_move(&id, &ana, 2, "A").await.body["game"]["opponent"], joined.body["opponent"]);
}

#[actix_web::test]
async fn the_invited_player_sees_a_private_game_and_a_stranger_does_not() {
    let app = TestApp::start().await;
    let (ana, bo, eve) = (app.guest("Ana").await, app.guest("Bo").await, app.guest("Eve").await);
    let id = invite(&app, &ana, &private_for_player(&bo)).await;
    for path in [String::new(), "/moves".into(), "/positions/0".into()] {
        let path = format!("/v1/games/{id}{path}");
        assert_eq!(app.get(&path, Some(&bo)).await.status, 200, "{path}");
        for reader in [Some(&eve), None] {
            app.get(&path, reader).await.is_problem(404, "not_found");
        }
    }
    app.join_game(&id, &eve).await.is_problem(404, "not_found");
    app.decline_game(&id, &eve).await.is_problem(404, "not_found");
    // Seen, but not sat in yet.
    app.resign_game(&id, &bo).await.is_problem(403, "not_seated");
    app.abort_game(&id, &bo).await.is_problem(403, "not_seated");
    app.play_move(&id, &bo, 1, "A").await.is_problem(403, "not_seated");
    let of_ana = format!("player={}", ana.id);
    assert_eq!(app.list_games(&of_ana, Some(&bo)).await.ids(), [id.as_str()]);
    assert_eq!(app.list_games(&of_ana, Some(&eve)).await.ids(), [] as [&str; 0]);
    assert_eq!(app.list_games("status=open", Some(&bo)).await.ids(), [] as [&str; 0]);
    assert_eq!(app.join_game(&id, &bo).await.status, 200);
    app.join_game(&id, &eve).await.is_problem(404, "not_found");
}

#[actix_web::test]
async fn an_impossible_opponent_is_refused_by_its_field() {
    let app = TestApp::start().await;
    let (ana, gone) = (app.guest("Ana").await, app.guest("Gone").await);
    sqlx::query("update player set kind = 'deleted' where id = $1::uuid")
        .bind(&gone.id)
        .execute(&app.db)
        .await
        .expect("the player goes");
    let unknown = "0199aaaa-0000-7000-8000-000000000000";
    for player in [json!(unknown), json!(gone.id), json!(ana.id), json!("Ana"), json!("me"), json!("")] {
        let body = json!({"variant": "kalah", "opponent": {"type": "player", "player_id": player}});
        let answer = app.create_game(&ana, &body).await;
        answer.is_problem(422, "validation_failed");
        assert_eq!(answer.body["errors"][0]["pointer"], "/opponent/player_id", "{player}");
    }
    let oneself = app.create_game(&ana, &for_player(&ana)).await;
    assert!(oneself.string("/detail").contains("`self`"), "{oneself:?}");
    for (opponent, pointer) in [
        (json!({"type": "player"}), "/opponent/player_id"),
        (json!({"type": "player", "player_id": unknown, "name": "x"}), "/opponent/name"),
        (json!({"type": "open", "player_id": unknown}), "/opponent/player_id"),
    ] {
        let answer = app.create_game(&ana, &json!({"variant": "kalah", "opponent": opponent})).await;
        answer.is_problem(422, "validation_failed");
        assert_eq!(answer.body["errors"][0]["pointer"], pointer, "{opponent}");
    }
    for wrong in [json!(5), json!(null), json!([unknown]), json!({})] {
        let body = json!({"variant": "kalah", "opponent": {"type": "player", "player_id": wrong}});
        app.create_game(&ana, &body).await.is_problem(422, "validation_failed");
    }
    assert_eq!(app.list_games("", Some(&ana)).await.ids(), [] as [&str; 0]);
}

#[actix_web::test]
async fn an_invitation_is_declined_once_and_for_all() {
    let app = TestApp::start().await;
    let (ana, bo, eve) = (app.guest("Ana").await, app.guest("Bo").await, app.guest("Eve").await);
    for body in [for_player(&bo), private_for_player(&bo)] {
        let id = invite(&app, &ana, &body).await;
        app.decline_game(&id, &ana).await.is_problem(403, "forbidden");
        if body["visibility"] != "private" {
            app.decline_game(&id, &eve).await.is_problem(403, "forbidden");
        }
        let declined = app.decline_game(&id, &bo).await;
        assert_eq!((declined.status.as_u16(), &declined.body["status"]), (200, &json!("aborted")));
        assert!(declined.body["finished_at"].is_string() && declined.body["result"].is_null());
        assert_eq!(declined.body["version"], 2);
        let again = app.decline_game(&id, &bo).await;
        assert_eq!((again.status.as_u16(), &again.body), (200, &declined.body));
        app.join_game(&id, &bo).await.is_problem(409, "game_over");
        assert_eq!(app.abort_game(&id, &ana).await.status, 200);
    }
}

#[actix_web::test]
async fn only_an_invitation_that_waits_can_be_declined() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let joined = invite(&app, &ana, &for_player(&bo)).await;
    app.join_game(&joined, &bo).await;
    let late = app.decline_game(&joined, &bo).await;
    late.is_problem(409, "seat_taken");
    assert_eq!(late.body["game"]["status"], "active");
    app.resign_game(&joined, &bo).await;
    app.decline_game(&joined, &bo).await.is_problem(409, "game_over");

    let open = app.created(&ana, &json!({"variant": "kalah"})).await;
    app.decline_game(open["id"].as_str().expect("an id"), &bo).await.is_problem(403, "forbidden");

    let taken_back = invite(&app, &ana, &for_player(&bo)).await;
    assert_eq!(app.abort_game(&taken_back, &ana).await.status, 200);
    app.join_game(&taken_back, &bo).await.is_problem(409, "game_over");
    assert_eq!(app.decline_game(&taken_back, &bo).await.body["status"], "aborted");

    let id = invite(&app, &ana, &for_player(&bo)).await;
    let path = format!("/v1/games/{id}/decline");
    let stale = app.request(Method::POST, &path).header(header::IF_MATCH, "\"7\"");
    send(signed(stale, Some(&bo))).await.is_problem(412, "precondition_failed");
    send(app.request(Method::POST, &path)).await.is_problem(401, "unauthenticated");
    app.post(&path, Some(&bo), &json!({"why": "no time"})).await.is_problem(422, "validation_failed");
    app.decline_game("0199aaaa-0000-7000-8000-000000000000", &bo).await.is_problem(404, "not_found");
    let present = app.request(Method::POST, &path).header(header::IF_MATCH, "W/\"1-0\"");
    assert_eq!(send(signed(present, Some(&bo))).await.status, 200);
}

#[actix_web::test]
async fn of_joining_declining_and_taking_back_at_once_one_takes_effect() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    for _ in 0..10 {
        let id = invite(&app, &ana, &for_player(&bo)).await;
        let (joined, declined) = futures_util::future::join(app.join_game(&id, &bo), app.decline_game(&id, &bo)).await;
        let status = app.get_game(&id, None).await.body["status"].clone();
        match status.as_str() {
            Some("active") => {
                assert_eq!(joined.status, 200);
                declined.is_problem(409, "seat_taken");
            }
            Some("aborted") => {
                assert_eq!(declined.status, 200);
                joined.is_problem(409, "game_over");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[actix_web::test]
async fn invitations_are_listed_to_both_as_long_as_they_wait() {
    let app = TestApp::start().await;
    let (ana, bo, eve) = (app.guest("Ana").await, app.guest("Bo").await, app.guest("Eve").await);
    app.created(&ana, &json!({"variant": "kalah"})).await;
    app.created(&ana, &json!({"variant": "kalah", "opponent": {"type": "link"}})).await;
    let mut waiting = vec![];
    for n in 0..5 {
        let mut body = if n % 2 == 0 { for_player(&bo) } else { private_for_player(&bo) };
        body["side"] = json!(if n < 3 { "south" } else { "north" });
        waiting.insert(0, invite(&app, &ana, &body).await);
    }
    let back = invite(&app, &bo, &for_player(&ana)).await;
    for (query, guest, expected) in [
        ("", &bo, &waiting),
        ("direction=received", &bo, &waiting),
        ("direction=sent", &ana, &waiting),
        ("direction=sent", &bo, &vec![back.clone()]),
        ("", &ana, &vec![back.clone()]),
        ("", &eve, &vec![]),
        ("direction=sent", &eve, &vec![]),
    ] {
        assert_eq!(app.list_invitations(query, guest).await.ids(), *expected, "{query}");
    }
    // In pages, while others come.
    for (direction, guest) in [("received", &bo), ("sent", &ana)] {
        let mut seen = vec![];
        let mut path = format!("/v1/me/invitations?direction={direction}&limit=2");
        loop {
            let page = app.get(&path, Some(guest)).await;
            seen.extend(page.ids());
            let Some(cursor) = page.body["next_cursor"].as_str() else { break };
            let link = page.headers["link"].to_str().expect("text");
            assert!(link.contains(cursor) && link.ends_with("; rel=\"next\""), "{link}");
            path = link[1..link.find('>').expect("a link ends")].to_owned();
            let other = if direction == "sent" { "received" } else { "sent" };
            let elsewhere = format!("direction={other}&cursor={cursor}");
            app.list_invitations(&elsewhere, guest).await.is_problem(422, "validation_failed");
            app.list_invitations(&format!("direction={direction}&cursor={cursor}"), &eve)
                .await
                .is_problem(422, "validation_failed");
        }
        assert_eq!(seen, waiting);
    }
    // The players accept one invitation, decline another, and take a third back.
    app.join_game(&waiting[0], &bo).await;
    app.decline_game(&waiting[2], &bo).await;
    app.abort_game(&waiting[4], &ana).await;
    let left = [waiting[1].clone(), waiting[3].clone()];
    assert_eq!(app.list_invitations("", &bo).await.ids(), left);
    assert_eq!(app.list_invitations("direction=sent", &ana).await.ids(), left);

    app.get("/v1/me/invitations", None).await.is_problem(401, "unauthenticated");
    for query in ["direction=both", "direction=", "limit=0", "limit=101", "cursor=x", "status=open"] {
        app.list_invitations(query, &bo).await.is_problem(422, "validation_failed");
    }
}

#[actix_web::test]
async fn the_log_says_who_was_invited_and_that_they_declined() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let id = invite(&app, &ana, &for_player(&bo)).await;
    app.decline_game(&id, &bo).await;
    let log: Vec<(String, Option<Value>)> =
        sqlx::query_as("select kind, detail from event where game_id = $1::uuid order by seq")
            .bind(&id)
            .fetch_all(&app.db)
            .await
            .expect("the log is read");
    let created = log[0].1.as_ref().expect("a game's terms");
    assert_eq!((&created["opponent"], &created["invited_player_id"]), (&json!("player"), &json!(bo.id)));
    assert_eq!(log[1], ("declined".to_owned(), None));
}
