//! Quiet hours and digests, and the languages of texts.

use serde_json::{Value, json};
use time::{Duration, OffsetDateTime, UtcOffset, macros::datetime};

use crate::support::{
    calls::Guest,
    clock::now,
    database::count_rows,
    push::PushApp,
    push_service::{Browser, Pushed},
};

const PATH: &str = "/v1/me/push-settings";

async fn write(push: &PushApp, player: &Guest, body: &Value) {
    let answer = push.app.put(PATH, Some(player), body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
}

/// Games in which it becomes a player's turn.
async fn turns(push: &PushApp, player: &Guest, count: usize) {
    let bo = push.app.guest("Bo").await;
    for _ in 0..count {
        let id = push.app.started_between(&bo, player, &json!({})).await;
        push.app.played(&id, &bo, 1, "A").await;
    }
}

fn opened(browser: &Browser, pushed: &[Pushed]) -> Vec<Value> {
    pushed.iter().map(|pushed| browser.open(&pushed.body)).collect()
}

/// A time of the day in UTC, so many minutes from now.
fn in_minutes(minutes: i64) -> String {
    let at = (now() + Duration::minutes(minutes)).to_offset(UtcOffset::UTC);
    format!("{:02}:{:02}", at.hour(), at.minute())
}

#[actix_web::test]
async fn settings_are_replaced_as_a_whole_and_checked() {
    let push = PushApp::start().await;
    let ana = push.app.guest("Ana").await;
    let none = json!({"quiet_hours": null, "digest_minutes": null});
    assert_eq!(push.app.get(PATH, Some(&ana)).await.body, none);
    let quiet = json!({"from": "22:00", "until": "07:30", "time_zone": "Europe/Berlin"});
    let both = json!({"quiet_hours": quiet, "digest_minutes": 60});
    assert_eq!(push.app.put(PATH, Some(&ana), &both).await.body, both);
    assert_eq!(push.app.get(PATH, Some(&ana)).await.body, both);
    assert_eq!(push.app.get("/v1/me/export", Some(&ana)).await.body["push_settings"], both);
    for (field, value) in [
        ("from", json!("24:00")),
        ("from", json!("7:30")),
        ("from", json!("+7:30")),
        ("until", json!("07:60")),
        ("until", json!("22:00")),
        ("until", json!("")),
        ("time_zone", json!("")),
        ("time_zone", json!("Berlin")),
        ("time_zone", json!("abc5")),
        ("time_zone", json!("Europe/Berlin' or true")),
        ("time_zone", json!("E".repeat(3000))),
    ] {
        let mut body = both.clone();
        body["quiet_hours"][field] = value;
        let refused = push.app.put(PATH, Some(&ana), &body).await;
        refused.is_problem(422, "validation_failed");
        assert!(refused.text.contains(&format!("/quiet_hours/{field}")), "{refused:?}");
    }
    for minutes in [json!(4), json!(1441), json!(-60), json!("60"), json!(70_000)] {
        push.app.put(PATH, Some(&ana), &json!({"digest_minutes": minutes})).await.is_problem(422, "validation_failed");
    }
    assert_eq!(push.app.get(PATH, Some(&ana)).await.body, both);
    write(&push, &ana, &json!({})).await;
    assert_eq!(push.app.get(PATH, Some(&ana)).await.body, none);
    assert_eq!(push.app.delete_me(&ana).await.status, 204);
    assert_eq!(count_rows(&push.app, "push_settings").await, 0);
}

#[actix_web::test]
async fn an_account_without_settings_gets_those_of_its_guest() {
    let push = PushApp::start().await;
    let (guest, other) = (push.app.guest("Guest").await, push.app.guest("Other").await);
    let ana = push.app.account("Ana", "correct horse").await;
    for (player, minutes) in [(&guest, 30), (&other, 90)] {
        write(&push, player, &json!({"digest_minutes": minutes})).await;
        let merged = push.app.post("/v1/me/merge", Some(&ana), &json!({"guest_token": player.token})).await;
        assert_eq!(merged.status, 200, "{merged:?}");
        assert_eq!(push.app.get(PATH, Some(&ana)).await.body["digest_minutes"], 30);
    }
}

#[actix_web::test]
async fn quiet_hours_are_silent_and_end_in_one_notification_for_many_games() {
    let push = PushApp::start().await;
    let ana = push.app.guest("Ana").await;
    let browser = push.browser(&ana, "ana").await;
    let quiet = json!({"from": in_minutes(-10), "until": in_minutes(60), "time_zone": "UTC"});
    write(&push, &ana, &json!({"quiet_hours": quiet})).await;
    turns(&push, &ana, 5).await;
    assert!(push.pushed().await.is_empty());
    assert!(push.pushed().await.is_empty());
    assert_eq!(count_rows(&push.app, "push_device where due_at > now() + interval '50 min' and failures = 0").await, 1);
    // New settings that end the quiet hours end the wait.
    let over = json!({"from": in_minutes(-60), "until": in_minutes(-10), "time_zone": "UTC"});
    write(&push, &ana, &json!({"quiet_hours": over})).await;
    let shown = opened(&browser, &push.round().await);
    let expected = json!({
        "title": "Mancala", "body": "It is your turn in 5 games.", "tag": "digest",
        "data": {"type": "digest", "games": 5},
    });
    assert_eq!(shown, [expected]);
    assert!(push.round().await.is_empty());
}

#[actix_web::test]
async fn quiet_hours_follow_the_clocks_of_their_place() {
    const WINTER: OffsetDateTime = datetime!(2026-11-26 22:30 UTC);
    const SUMMER: OffsetDateTime = datetime!(2026-07-26 21:00 UTC);
    let push = PushApp::start().await;
    for (moment, from, until, zone, ends) in [
        (WINTER, 22 * 60_i16, 450_i16, "Europe/Berlin", Some(datetime!(2026-11-27 6:30 UTC))),
        (SUMMER, 22 * 60, 450, "Europe/Berlin", Some(datetime!(2026-07-27 5:30 UTC))),
        (SUMMER, 22 * 60, 450, "UTC", None),
        (WINTER, 0, 60, "Asia/Kolkata", None),
        (WINTER, 240, 300, "Asia/Kolkata", Some(datetime!(2026-11-26 23:30 UTC))),
        // The night in which Berlin's clocks go back has an hour more.
        (datetime!(2026-10-24 21:00 UTC), 22 * 60, 450, "Europe/Berlin", Some(datetime!(2026-10-25 6:30 UTC))),
        // On both sides of midnight, and in places whose day is another one than that of UTC.
        (datetime!(2026-11-27 1:00 UTC), 22 * 60, 450, "Europe/Berlin", Some(datetime!(2026-11-27 6:30 UTC))),
        (datetime!(2026-11-27 6:30 UTC), 22 * 60, 450, "Europe/Berlin", None),
        (datetime!(2026-11-27 3:30 UTC), 22 * 60, 450, "America/New_York", Some(datetime!(2026-11-27 12:30 UTC))),
        (datetime!(2026-11-26 11:00 UTC), 0, 450, "Pacific/Auckland", Some(datetime!(2026-11-26 18:30 UTC))),
        // The night in which Berlin's clocks go forward has an hour less.
        (datetime!(2026-03-28 21:00 UTC), 22 * 60, 450, "Europe/Berlin", Some(datetime!(2026-03-29 5:30 UTC))),
        // The first minute is quiet, the last one is not.
        (datetime!(2026-11-26 10:00 UTC), 600, 660, "UTC", Some(datetime!(2026-11-26 11:00 UTC))),
        (datetime!(2026-11-26 11:00 UTC), 600, 660, "UTC", None),
        // A zone that is no longer known.
        (WINTER, 0, 1439, "Atlantis/Capital", None),
    ] {
        let found: Option<OffsetDateTime> = sqlx::query_scalar("select push_quiet_end($1, $2, $3, $4)")
            .bind(moment)
            .bind(from)
            .bind(until)
            .bind(zone)
            .fetch_one(&push.app.db)
            .await
            .expect("it is computed");
        assert_eq!(found, ends, "{moment} {from} {until} {zone}");
    }
}

#[actix_web::test]
async fn a_digest_collects_for_its_time_and_deadlines_do_not_wait_for_it() {
    let push = PushApp::start().await;
    let ana = push.app.guest("Ana").await;
    let browser = push.browser(&ana, "ana").await;
    write(&push, &ana, &json!({"digest_minutes": 60})).await;
    turns(&push, &ana, 1).await;
    assert_eq!(opened(&browser, &push.pushed().await)[0]["data"]["type"], "game.your_turn", "the first comes at once");
    turns(&push, &ana, 2).await;
    assert!(push.pushed().await.is_empty());
    sqlx::raw_sql("update push_device set last_success_at = last_success_at - interval '50 min'")
        .execute(&push.app.db)
        .await
        .expect("time can be moved");
    push.let_pass(50 * 60).await;
    assert!(push.round().await.is_empty());
    sqlx::raw_sql("update push_device set last_success_at = last_success_at - interval '11 min'")
        .execute(&push.app.db)
        .await
        .expect("time can be moved");
    push.let_pass(11 * 60).await;
    assert_eq!(opened(&browser, &push.round().await)[0]["data"], json!({"type": "digest", "games": 2}));
    // Invitations are other news than turns.
    let bo = push.app.guest("Bo").await;
    let invited = json!({"variant": "kalah", "opponent": {"type": "player", "player_id": ana.id}});
    push.app.created(&bo, &invited).await;
    let clocked = json!({"clock": {"type": "per_move", "move_s": 86400}});
    let id = push.app.started_between(&bo, &ana, &clocked).await;
    push.app.played(&id, &bo, 1, "A").await;
    assert!(push.pushed().await.is_empty());
    sqlx::raw_sql("update push_notice set due_at = now() where is_reminder; update push_device set due_at = now()")
        .execute(&push.app.db)
        .await
        .expect("it is due");
    let pushed = push.round().await;
    assert_eq!(pushed[0].header("urgency"), "high");
    let shown = opened(&browser, &pushed);
    assert_eq!((shown.len(), &shown[0]["body"]), (1, &json!("There is news in 2 games.")));
}

#[actix_web::test]
async fn a_turn_and_its_reminder_are_one_notification_of_their_game() {
    for digest_minutes in [None, Some(60)] {
        let push = PushApp::start().await;
        let ana = push.app.guest("Ana").await;
        let browser = push.browser(&ana, "ana").await;
        write(&push, &ana, &json!({"digest_minutes": digest_minutes})).await;
        let id = push.urgent_turn(&ana).await;
        let shown = opened(&browser, &push.all().await);
        assert_eq!(shown.len(), 1, "{digest_minutes:?} {shown:?}");
        assert_eq!(shown[0]["data"], json!({"type": "game.deadline_soon", "game_id": id}));
        assert_eq!(count_rows(&push.app, "push_notice").await, 0);
    }
}

#[actix_web::test]
async fn each_device_speaks_its_language() {
    let push = PushApp::start().await;
    let ana = push.app.guest("Ana").await;
    let mut browsers = vec![];
    for language in ["en", "de", "fr", "es"] {
        let browser = Browser::at(&push.service, language);
        let mut registration = browser.registration();
        registration["language"] = json!(language);
        push.register(&ana, &registration).await;
        browsers.push(browser);
    }
    turns(&push, &ana, 1).await;
    let mut pushed = push.pushed().await;
    pushed.sort_by(|a, b| a.path.cmp(&b.path));
    browsers.sort_by(|a, b| a.endpoint.cmp(&b.endpoint));
    let bodies: Vec<_> =
        browsers.iter().zip(&pushed).map(|(browser, pushed)| browser.open(&pushed.body)["body"].clone()).collect();
    let expected = ["Du bist am Zug.", "It is your turn.", "Es tu turno.", "C’est à vous de jouer."];
    assert_eq!(bodies, expected.map(Value::from));
}
