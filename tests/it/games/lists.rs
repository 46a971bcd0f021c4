//! Lists of games: filters, order, and how far one page scans.

use serde_json::{Value, json};
use time::{Duration, OffsetDateTime, format_description::well_known::Rfc3339};

use crate::support::{app::TestApp, games::walk};

#[actix_web::test]
async fn lists_show_public_games_and_the_callers_own() {
    let app = TestApp::start().await;
    let (ana, eve) = (app.guest("Ana").await, app.guest("Eve").await);
    let mut ids = vec![];
    for visibility in ["public", "unlisted", "private"] {
        let body = json!({"variant": "kalah", "visibility": visibility, "opponent": {"type": "self"}});
        ids.push(app.created(&ana, &body).await["id"].clone());
    }
    let listed = |body: &Value| -> Vec<Value> {
        body["items"].as_array().expect("items").iter().map(|game| game["id"].clone()).collect()
    };
    let own = app.get("/v1/games?player=me", Some(&ana)).await;
    assert_eq!(listed(&own.body), [ids[2].clone(), ids[1].clone(), ids[0].clone()]);
    let of_ana = format!("/v1/games?player={}", ana.id);
    assert_eq!(listed(&app.get(&of_ana, Some(&ana)).await.body), listed(&own.body));
    for path in ["/v1/games", &of_ana] {
        for reader in [Some(&eve), None] {
            assert_eq!(listed(&app.get(path, reader).await.body), [ids[0].clone()]);
        }
    }
    assert_eq!(listed(&app.get("/v1/games?player=me", Some(&eve)).await.body), [] as [Value; 0]);
    app.get("/v1/games?player=me", None).await.is_problem(401, "unauthenticated");
}

#[actix_web::test]
async fn lists_are_filtered_by_status_and_variant() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let mut by_status = vec![];
    for status in ["open", "active", "finished", "aborted"] {
        let game = app.created(&ana, &json!({"variant": "kalah"})).await;
        let id = game["id"].as_str().expect("an id").to_owned();
        if matches!(status, "active" | "finished") {
            app.join_game(&id, &bo).await;
        }
        match status {
            "finished" => drop(app.resign_game(&id, &bo).await),
            "aborted" => drop(app.abort_game(&id, &ana).await),
            _ => {}
        }
        by_status.push((status, id));
    }
    for (status, id) in by_status {
        for filter in [format!("status={status}"), format!("status={status}&variant=kalah&player={}", ana.id)] {
            let items = app.get(&format!("/v1/games?{filter}"), None).await.body["items"].clone();
            assert_eq!(items.as_array().map(Vec::len), Some(1), "{filter}");
            assert_eq!((items[0]["id"].as_str(), items[0]["status"].as_str()), (Some(&*id), Some(status)));
        }
    }
}

#[actix_web::test]
async fn pages_have_no_gap_and_no_repetition_while_games_are_created() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let mut ids = vec![];
    for n in 0..7 {
        let opponent = if n % 2 == 0 { "self" } else { "open" };
        let game = app.created(&ana, &json!({"variant": "kalah", "opponent": {"type": opponent}})).await;
        ids.insert(0, game["id"].clone());
    }
    for filters in ["limit=3", "limit=3&player=me"] {
        let mut seen = vec![];
        let mut path = format!("/v1/games?{filters}");
        loop {
            let page = app.get(&path, Some(&ana)).await;
            seen.extend(page.body["items"].as_array().expect("items").iter().map(|game| game["id"].clone()));
            app.created(&bo, &json!({"variant": "kalah"})).await;
            match page.body["next_cursor"].as_str() {
                Some(cursor) => {
                    let link = page.headers["link"].to_str().expect("text").to_owned();
                    assert!(link.contains(cursor) && link.ends_with("; rel=\"next\""), "{link}");
                    path = link[1..link.find('>').expect("a link ends")].to_owned();
                }
                None => break,
            }
        }
        seen.retain(|id| ids.contains(id));
        assert_eq!(seen, ids);
    }
}

#[actix_web::test]
async fn a_time_of_creation_or_of_finishing_bounds_a_list_to_the_millisecond() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let mut games = vec![];
    for n in 0..4 {
        let game = app.created(&ana, &json!({"variant": "kalah"})).await;
        games.push(game["id"].as_str().expect("an id").to_owned());
        app.join_game(&games[n], &bo).await;
    }
    // Finished in another order than created.
    for n in [2, 0, 3, 1] {
        app.resign_game(&games[n], &bo).await;
    }
    for (sort, key) in [("created_at", "created_at"), ("finished_at", "finished_at")] {
        let mut by_key = vec![];
        for id in &games {
            let at = app.get_game(id, None).await.string(&format!("/{key}"));
            by_key.push((OffsetDateTime::parse(&at, &Rfc3339).expect("RFC 3339"), id.clone()));
        }
        by_key.sort_by(|a, b| b.cmp(a));
        for (since, _) in &by_key {
            for until in [*since + Duration::milliseconds(1), by_key[0].0, by_key[0].0 + Duration::days(400)] {
                if *since >= until {
                    continue;
                }
                let expected: Vec<_> =
                    by_key.iter().filter(|(at, _)| at >= since && *at < until).map(|(_, id)| id.clone()).collect();
                let text = |at: &OffsetDateTime| at.format(&Rfc3339).expect("a year of four digits");
                for whose in [String::new(), "player=me&".to_owned(), format!("player=me&opponent={}&", bo.id)] {
                    let query = format!("{whose}sort={sort}&since={}&until={}&limit=1", text(since), text(&until));
                    assert_eq!(walk(&app, &query, Some(&ana)).await, expected, "{query}");
                }
            }
        }
    }
}

#[actix_web::test]
async fn a_game_that_changes_between_two_pages_comes_to_the_front_of_its_list() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let mut ids = vec![];
    for _ in 0..4 {
        let game = app.created(&ana, &json!({"variant": "kalah", "opponent": {"type": "self"}})).await;
        ids.insert(0, game["id"].as_str().expect("an id").to_owned());
    }
    for (n, id) in ids.iter().rev().enumerate() {
        sqlx::query("update game set updated_at = updated_at + interval '1 s' * $1 where id = $2::uuid")
            .bind(i32::try_from(n).expect("a small number"))
            .bind(id)
            .execute(&app.db)
            .await
            .expect("times move");
    }
    let query = "turn=me&sort=updated_at";
    let first = app.list_games(&format!("{query}&limit=2"), Some(&ana)).await;
    assert_eq!(first.ids(), ids[..2]);
    // The first of these games was shown, the other was not yet.
    for id in [&ids[1], &ids[3]] {
        sqlx::query("update game set updated_at = updated_at + interval '1 day' where id = $1::uuid")
            .bind(id)
            .execute(&app.db)
            .await
            .expect("times move");
    }
    let next = app.list_games(&format!("{query}&cursor={}", first.string("/next_cursor")), Some(&ana)).await;
    assert_eq!(next.ids(), ids[2..3]);
    let again = app.list_games(query, Some(&ana)).await;
    assert_eq!(again.ids(), [ids[1].clone(), ids[3].clone(), ids[0].clone(), ids[2].clone()]);
    sqlx::query("update game set updated_at = created_at").execute(&app.db).await.expect("times are as they were");
}

#[actix_web::test]
async fn a_list_has_games_of_several_statuses() {
    let app = TestApp::start().await;
    let (active, ana, _) = app.started(&json!({})).await;
    let open = app.created(&ana, &json!({"variant": "kalah"})).await["id"].as_str().expect("an id").to_owned();
    let aborted = app.created(&ana, &json!({"variant": "kalah"})).await["id"].as_str().expect("an id").to_owned();
    app.abort_game(&aborted, &ana).await;
    for of in ["", "&player=me"] {
        let listed = app.list_games(&format!("status=active,open{of}"), Some(&ana)).await;
        assert_eq!(listed.ids(), [open.as_str(), &active], "{of}");
        let listed = app.list_games(&format!("status=aborted,open,aborted{of}"), Some(&ana)).await;
        assert_eq!(listed.ids(), [aborted.as_str(), &open], "{of}");
        assert_eq!(
            app.list_games(&format!("status=open,active,aborted,finished{of}"), Some(&ana)).await.ids().len(),
            3
        );
    }
    let first = app.list_games("status=active,open&limit=1", None).await;
    let next = first.string("/next_cursor");
    assert_eq!(
        app.list_games(&format!("status=open,active&limit=1&cursor={next}"), None).await.ids(),
        [active.as_str()]
    );
    assert_eq!(app.list_games("status=active,open&turn=me", Some(&ana)).await.ids(), [active.as_str()]);
    for wrong in [
        "status=",
        "status=active,",
        "status=active,over",
        "status=open,open,open,open,open",
        "status=open,active&sort=finished_at",
    ] {
        app.list_games(wrong, Some(&ana)).await.is_problem(422, "validation_failed");
    }
}

#[actix_web::test]
async fn games_are_read_together_by_their_ids() {
    let app = TestApp::start().await;
    let (first, ana, bob) = app.started(&json!({})).await;
    let eve = app.guest("Eve").await;
    let secret = app.created(&ana, &json!({"variant": "kalah", "visibility": "private"})).await;
    let secret = secret["id"].as_str().expect("an id");
    let unlisted = app.created(&bob, &json!({"variant": "oware", "visibility": "unlisted"})).await;
    let unlisted = unlisted["id"].as_str().expect("an id");
    let query = format!("ids={first},{secret},{unlisted},{first},{}", uuid::Uuid::now_v7());
    let of_ana = app.list_games(&query, Some(&ana)).await;
    assert_eq!(
        (of_ana.ids(), &of_ana.body["next_cursor"]),
        (vec![unlisted.to_owned(), secret.to_owned(), first.clone()], &Value::Null)
    );
    assert_eq!(of_ana.body["items"][2], app.get_game(&first, Some(&ana)).await.body);
    for guest in [None, Some(&eve)] {
        assert_eq!(app.list_games(&query, guest).await.ids(), [unlisted, first.as_str()]);
    }
    let many = |count| format!("ids={}", vec![first.as_str(); count].join(","));
    assert_eq!(app.list_games(&many(100), None).await.ids(), [first.as_str()]);
    for wrong in [
        many(101),
        "ids=".to_owned(),
        "ids=me".to_owned(),
        format!("{query}&status=open"),
        format!("{query}&limit=5"),
        format!("ids={first}&ids={first}"),
    ] {
        app.list_games(&wrong, Some(&ana)).await.is_problem(422, "validation_failed");
    }
    app.get(&format!("/v1/games/export?ids={first}"), Some(&ana)).await.is_problem(422, "validation_failed");
}
