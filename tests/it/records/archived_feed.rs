//! The events of a player's archived games: none is missing, and one that was seen does not come again without need.

use serde_json::json;

use super::archive::{archive_all, execute, play};
use crate::{
    events::player_events::{asking_for_all, until_marked},
    support::{app::TestApp, listener::Listener},
};

#[actix_web::test]
async fn a_player_that_was_away_gets_the_events_of_archived_games() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let page = async |query: String| {
        let page = app.get(&format!("/v1/me/events?{query}"), Some(&ana)).await;
        assert_eq!(page.status, 200, "{page:?}");
        page.body
    };
    let place = async || page(String::new()).await["last_event_id"].as_str().expect("a place").to_owned();
    let first = place().await;
    let id = app.started_between(&ana, &bo, &json!({})).await;
    play(&app, &id, &ana, &bo, 3).await;
    let middle = place().await;
    play(&app, &id, &ana, &bo, 3).await;
    app.resign_game(&id, &bo).await;
    let last = place().await;
    assert_eq!(archive_all(&app).await.games, 1);
    let seqs = async |after: &str| {
        let (mut seqs, mut query) = (vec![], format!("after={after}&limit=4"));
        loop {
            let page = page(query).await;
            seqs.extend(
                page["items"].as_array().expect("items").iter().map(|event| event["seq"].as_u64().expect("a number")),
            );
            match page["next_cursor"].as_str() {
                Some(cursor) => query = format!("limit=4&cursor={cursor}"),
                None => return seqs,
            }
        }
    };
    let all: Vec<u64> = (1..=10).collect();
    assert_eq!(seqs(&first).await, all);
    // Which events were seen is not known any more: some come again, and none is missing.
    assert_eq!(seqs(&middle).await, all);
    assert_eq!(seqs(&last).await, [] as [u64; 0]);
    assert!(app.offer(&id, &bo, "rematch").await.status.is_success());
    assert_eq!(seqs(&last).await, [11]);
    assert_eq!(seqs(&first).await, (1..=11).collect::<Vec<_>>());
    archive_all(&app).await;
    assert!(seqs(&last).await.contains(&11));
}

#[actix_web::test]
async fn a_stream_gets_only_what_is_appended_to_an_archived_game() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let id = app.started_between(&ana, &bo, &json!({})).await;
    play(&app, &id, &ana, &bo, 3).await;
    app.resign_game(&id, &bo).await;
    let mut stream = Listener::open(asking_for_all(&app.base(), "", Some(&ana))).await;
    until_marked(&mut stream).await;
    assert_eq!(archive_all(&app).await.games, 1);
    // The notification names the game, so the stream reads this game alone.
    assert!(app.offer(&id, &bo, "rematch").await.status.is_success());
    let event = stream.next().await.expect("an event").data;
    assert_eq!((&event["type"], &event["seq"]), (&json!("offered"), &json!(8)), "{event}");
}

#[actix_web::test]
async fn archives_from_before_a_restoration_do_not_come_again() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let id = app.started_between(&ana, &bo, &json!({})).await;
    app.resign_game(&id, &bo).await;
    assert_eq!(archive_all(&app).await.games, 1);
    // A restored dump has the numbers of another cluster's transactions, here of one that had many more.
    execute(&app, "update archived_log set written_by = '3000000000'::xid").await;
    for (change, first) in [("history = history", 1), ("history = history + 1", 6)] {
        execute(&app, format!("update archived_log set {change}")).await;
        let mut stream = Listener::open(asking_for_all(&app.base(), "", Some(&ana))).await;
        until_marked(&mut stream).await;
        let offered = if first == 1 {
            app.offer(&id, &bo, "rematch").await
        } else {
            app.answer_offer(&id, &bo, "rematch", "withdraw").await
        };
        assert!(offered.status.is_success(), "{offered:?}");
        let event = stream.next().await.expect("an event").data;
        assert_eq!(event["seq"], json!(first), "{event}");
    }
    // What is archived here comes once.
    let page = async |query: &str| {
        let page = app.get(&format!("/v1/me/events?{query}"), Some(&ana)).await;
        (page.body["items"].as_array().expect("items").len(), page.string("/last_event_id"))
    };
    let place = page("").await.1;
    assert!(app.offer(&id, &bo, "rematch").await.status.is_success());
    assert_eq!(archive_all(&app).await.games, 1);
    let (count, next) = page(&format!("after={place}")).await;
    assert_eq!((count > 0, page(&format!("after={next}")).await.0), (true, 0));
}
