//! The queue of an endpoint: it delays no other queue, and recovery sends it at once.

use std::{collections::HashSet, time::Duration};

use futures_util::future::{join, join_all};
use mancala_server::{
    db::{
        Writers,
        games::{self, Appended},
        outbound::{Full, Lane},
        webhooks::{
            attempts::{Due, behind},
            results::{AttemptOutcome, Attempted, LeaseResult, NextStep, record},
        },
    },
    domain::{Action, Command, GameId, OfferContext, OfferKind, PlayerId, Subject},
    jobs::{erasure, webhooks as job},
};
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, ConnectOptions};

use crate::support::{
    app::TestApp,
    calls::{Guest, send, signed},
    clock::now,
    database::count_rows,
    endpoint::{Endpoint, Received, Reply},
    webhooks::{created, created_for, deliver, let_pass, ping, purge, round},
};

pub(super) async fn sql(app: &TestApp, statement: String) {
    sqlx::raw_sql(AssertSqlSafe(statement)).execute(&app.db).await.expect("it is done");
}

pub(super) fn of_game(endpoint: &Endpoint, game: &str) -> Vec<u64> {
    endpoint.received().iter().filter(|one| one.body["data"]["game_id"] == *game).map(Received::seq).collect()
}

/// Draws offered and withdrawn, more of them than a player may offer between two plies.
pub(super) async fn offers(app: &TestApp, game: &str, guest: &Guest, count: usize) {
    let (id, player) = (GameId(game.parse().expect("an id")), PlayerId(guest.id.parse().expect("an id")));
    let found = games::find_whole(&app.db, id).await.expect("a database");
    let (mut present, kind) = (found.expect("a game").game, OfferKind::Draw);
    for n in 0..2 * count {
        let context = OfferContext { offers_made: 0, is_blocked: false };
        let offered = Action::Offer { subject: Subject::Draw, context };
        let action = if n % 2 == 0 { offered } else { Action::Withdraw { kind, has_suspended_player: false } };
        let decided = present.decide(&Command { player, if_version: None, action }, now());
        let events = decided.expect("it is allowed").events;
        for event in &events {
            present.apply(event).expect("it follows");
        }
        let stored = games::append(&app.writers, &present, &events).await;
        assert!(matches!(stored, Ok(Appended::Stored)), "{stored:?}");
    }
}

#[actix_web::test]
async fn a_long_queue_of_one_game_arrives_in_order_and_delays_no_other() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let endpoint = Endpoint::start().await;
    created_for(&app, &bo, &endpoint, &json!(["game.offer", "game.your_turn"])).await;
    let crowded = app.started_between(&ana, &bo, &json!({})).await;
    let other = app.started_between(&ana, &bo, &json!({})).await;
    endpoint.will(&[Reply::Status(500)]);
    offers(&app, &crowded, &ana, 80).await;
    assert_eq!(round(&app).await, 1);
    // The endpoint gets no delivery for some seconds. Then the other game's message is not behind those of this one.
    app.played(&other, &ana, 1, "A").await;
    let_pass(&app, 5).await;
    deliver(&app).await;
    assert_eq!(of_game(&endpoint, &other).len(), 1);
    let_pass(&app, 5).await;
    deliver(&app).await;
    let told = of_game(&endpoint, &crowded);
    assert_eq!((told.len(), told[0]), (1 + 160, told[1]));
    assert!(told.is_sorted(), "{told:?}");
    assert_eq!(count_rows(&app, "webhook_delivery where not is_delivered").await, 0);
}

#[actix_web::test]
async fn what_waits_behind_a_delivery_is_sent_with_it_until_one_fails() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let endpoint = Endpoint::start().await;
    created_for(&app, &bo, &endpoint, &json!(["game.offer"])).await;
    let id = app.started_between(&ana, &bo, &json!({})).await;
    offers(&app, &id, &ana, 5).await;
    // A proven endpoint.
    sql(&app, "update webhook set lane = 0".to_owned()).await;
    endpoint.will(&[Reply::Status(200), Reply::Status(202), Reply::Status(200), Reply::Status(500)]);
    assert_eq!(round(&app).await, 1);
    assert_eq!((endpoint.received().len(), endpoint.connections()), (4, 1));
    for (connection, count) in [("opened", 1), ("reused", 3)] {
        let line = format!(r#"mancala_webhook_connections_total{{connection="{connection}"}} {count}"#);
        assert!(app.metrics.text().lines().any(|known| known == line), "{line}");
    }
    assert!(app.metrics.text().lines().any(|line| line == "mancala_webhook_connections_open 0"));
    let delivered =
        "webhook_delivery where is_delivered and ended_at is not null and attempts = 1 and last_status < 300";
    assert_eq!(count_rows(&app, delivered).await, 3);
    // The one that failed is the first of the queue now, and those behind it wait for it.
    let failed = "webhook_delivery where attempts = 1 and last_status = 500 and next_attempt_at is not null and leased_until is null";
    assert_eq!(count_rows(&app, failed).await, 1);
    assert_eq!(count_rows(&app, "webhook_delivery where attempts = 0 and next_attempt_at is null").await, 6);
    assert_eq!(round(&app).await, 0);
    for _ in 0..2 {
        let_pass(&app, 400).await;
        deliver(&app).await;
    }
    assert_eq!(count_rows(&app, "webhook_delivery where not is_delivered").await, 0);
    let received = endpoint.received();
    assert_eq!((received.len(), received[3].id()), (11, received[4].id()));
    assert!(received.iter().map(Received::seq).is_sorted());
}

#[actix_web::test]
async fn a_lease_that_another_process_has_taken_over_records_nothing() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let endpoint = Endpoint::start().await;
    created_for(&app, &bo, &endpoint, &json!(["game.offer"])).await;
    let id = app.started_between(&ana, &bo, &json!({})).await;
    offers(&app, &id, &ana, 2).await;
    sql(&app, "update webhook set lane = 0".to_owned()).await;
    endpoint.always(Reply::Nothing);
    endpoint.will(&[Reply::Status(500)]);
    round(&app).await;
    let_pass(&app, 400).await;
    let taken = job::take(&app.db, Lane::Failing, 1, &Full::default(), now()).await.expect("it is taken");
    let waiting = behind(&app.db, &taken).await.expect("they are read").remove(&taken[0].id).expect("they wait");
    assert_eq!((taken.len(), waiting.len()), (1, 3));
    let_pass(&app, 31).await;
    let again = job::take(&app.db, Lane::Failing, 1, &Full::default(), now()).await.expect("it is taken again");
    assert_eq!((again[0].id, again[0].attempt), (taken[0].id, taken[0].attempt + 1));
    let outcome =
        AttemptOutcome { status: Some(200), error: None, retry_after: time::Duration::ZERO, next: NextStep::Delivered };
    let made = |due: &Due| Attempted { due: due.clone(), outcome: outcome.clone(), begun: now(), ended: now() };
    let run = |first: &Due| LeaseResult { first: made(first), rest: waiting.iter().map(made).collect() };
    record(&app.db, &[run(&taken[0])], false, now()).await.expect("it says nothing");
    assert_eq!(count_rows(&app, "webhook_delivery where is_delivered").await, 0);
    // Beside one that is recorded, it changes neither the order nor the health.
    let failed = AttemptOutcome { status: None, error: Some("timeout"), next: NextStep::GivenUp, ..outcome.clone() };
    let mut over = run(&taken[0]);
    over.first.outcome = failed;
    let alone = LeaseResult { rest: vec![], ..run(&again[0]) };
    record(&app.db, &[alone.clone(), over], false, now()).await.expect("the other one is recorded");
    assert_eq!(count_rows(&app, "webhook_delivery where is_delivered").await, 1);
    assert_eq!(count_rows(&app, "webhook where failures = 0").await, 1);
    let next = job::take(&app.db, Lane::Quick, 1, &Full::default(), now()).await.expect("it is due");
    assert_eq!(next[0].id, waiting[0].id);
    let rest = [LeaseResult { first: made(&next[0]), rest: waiting[1..].iter().map(made).collect() }];
    // The record waits for another transaction.
    let mut other = app.db.begin().await.expect("a transaction");
    sqlx::query("select from webhook for update").execute(&mut *other).await.expect("they are locked");
    let recording = record(&app.db, &rest, false, now());
    let (recorded, ()) = join(recording, async {
        tokio::time::sleep(Duration::from_millis(600)).await;
        other.rollback().await.expect("they are unlocked");
    })
    .await;
    recorded.expect("they are recorded");
    assert_eq!(count_rows(&app, "webhook_delivery where is_delivered").await, 4);
}

#[actix_web::test]
async fn a_game_with_ten_webhooks_takes_no_more_than_one_with_one() {
    let app = TestApp::start().await;
    let (ana, bo, cy) = (app.guest("Ana").await, app.guest("Bo").await, app.guest("Cy").await);
    let endpoint = Endpoint::start().await;
    for owner in std::iter::repeat_n(&bo, 10).chain([&cy]) {
        created_for(&app, owner, &endpoint, &json!(["game.offer"])).await;
    }
    let game_of_bo = app.started_between(&ana, &bo, &json!({})).await;
    let game_of_cy = app.started_between(&ana, &cy, &json!({})).await;
    offers(&app, &game_of_bo, &ana, 40).await;
    offers(&app, &game_of_cy, &ana, 40).await;
    round(&app).await;
    // The queue still has most of the one game, and little of the other.
    let waiting = async |game: &str| -> i64 {
        let count = "select count(*) from webhook_event where game_id = $1::uuid";
        sqlx::query_scalar(count).bind(game).fetch_one(&app.db).await.expect("a count")
    };
    assert!(waiting(&game_of_bo).await > 60);
    assert!(waiting(&game_of_cy).await < 20);
}

#[actix_web::test]
async fn a_queue_is_sent_when_its_endpoint_is_enabled_or_moved_or_recovers() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let waiting = "webhook_delivery where ended_at is null";
    for way in ["enable", "enable again", "move", "redeliver", "ping"] {
        let endpoint = Endpoint::start().await;
        let (path, _) = created_for(&app, &ana, &endpoint, &json!(["game.move", "game.offer"])).await;
        let games =
            [app.started_between(&ana, &bo, &json!({})).await, app.started_between(&ana, &bo, &json!({})).await];
        endpoint.always(Reply::Status(500));
        for id in &games {
            app.played(id, &ana, 1, "A").await;
            app.played(id, &bo, 2, "a").await;
        }
        for _ in 0..6 {
            deliver(&app).await;
            let_pass(&app, 7).await;
        }
        assert_eq!((endpoint.received().len() >= 3, count_rows(&app, waiting).await), (true, 4), "{way}");
        deliver(&app).await;
        endpoint.always(Reply::Status(200));
        match way {
            "enable" => {
                app.patch(&path, Some(&ana), &json!({"enabled": true})).await;
            }
            "enable again" => {
                app.patch(&path, Some(&ana), &json!({"enabled": false})).await;
                deliver(&app).await;
                assert_eq!(count_rows(&app, waiting).await, 4);
                app.patch(&path, Some(&ana), &json!({"enabled": true})).await;
            }
            "move" => {
                let url = endpoint.url().replace("key=1", "key=2");
                app.patch(&path, Some(&ana), &json!({ "url": url })).await;
            }
            "redeliver" => {
                // The newest, which is behind others.
                let newest = app.get(&format!("{path}/deliveries?limit=1"), Some(&ana)).await.ids().remove(0);
                let again = app.post(&format!("{path}/deliveries/{newest}/redeliver"), Some(&ana), &json!({})).await;
                assert_eq!(again.status, 202);
            }
            _ => {
                ping(&app, &ana, &path).await;
            }
        }
        deliver(&app).await;
        assert_eq!(count_rows(&app, waiting).await, 0, "{way}");
        for id in &games {
            assert!(of_game(&endpoint, id).is_sorted());
        }
        assert_eq!(app.get(&path, Some(&ana)).await.body["failing_since"], Value::Null);
        sql(&app, "delete from webhook_delivery; delete from webhook".to_owned()).await;
    }
}

#[actix_web::test]
async fn an_unreadable_game_does_not_delay_other_messages() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let endpoint = Endpoint::start().await;
    created_for(&app, &ana, &endpoint, &json!(["game.move"])).await;
    let games = [
        app.started_between(&ana, &bo, &json!({})).await,
        app.started_between(&ana, &bo, &json!({})).await,
        app.started_between(&ana, &bo, &json!({})).await,
    ];
    for id in &games {
        app.played(id, &ana, 1, "A").await;
    }
    let mut superuser = app.options.clone().username("postgres").connect().await.expect("PostgreSQL runs");
    let mut set_kind = async |from: &str, to: &str| {
        let id = &games[1];
        let change = format!("update event set kind = '{to}' where game_id = '{id}' and kind = '{from}'");
        sqlx::raw_sql(AssertSqlSafe(change)).execute(&mut superuser).await.expect("it is changed");
    };
    set_kind("moved", "unheard of").await;
    deliver(&app).await;
    assert_eq!([0, 1, 2].map(|n| of_game(&endpoint, &games[n]).len()), [1, 0, 1]);
    // Its events are sent, in order, once it can be read.
    set_kind("unheard of", "moved").await;
    app.played(&games[1], &bo, 2, "a").await;
    let_pass(&app, 11).await;
    deliver(&app).await;
    assert_eq!(of_game(&endpoint, &games[1]), [3, 4]);
    assert_eq!(count_rows(&app, "webhook_event").await, 0);
}

#[actix_web::test]
async fn a_game_that_changes_as_a_webhook_is_created_is_sent_later() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let id = app.started_between(&ana, &bo, &json!({})).await;
    let mut transaction = app.db.begin().await.expect("a transaction");
    let lock = format!("select from game where id = '{id}' for update");
    sqlx::raw_sql(AssertSqlSafe(lock)).execute(&mut *transaction).await.expect("it is locked");
    let endpoint = Endpoint::start().await;
    created(&app, &ana, &endpoint).await;
    // Still locked when it is looked for once more.
    let_pass(&app, 16).await;
    deliver(&app).await;
    assert_eq!(count_rows(&app, "game where has_webhooks").await, 0);
    transaction.rollback().await.expect("it is free");
    let_pass(&app, 16).await;
    deliver(&app).await;
    assert_eq!(count_rows(&app, "game where has_webhooks").await, 1);
    assert_eq!(count_rows(&app, "webhook where flag_at is not null").await, 0);
    app.played(&id, &ana, 1, "A").await;
    deliver(&app).await;
    assert_eq!(endpoint.kinds(), ["game.move"]);
}

#[actix_web::test]
async fn a_webhook_created_while_its_player_is_erased_sends_nothing() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let endpoint = Endpoint::start().await;
    created(&app, &ana, &endpoint).await;
    let id = app.started_between(&ana, &bo, &json!({})).await;
    deliver(&app).await;
    let columns = "id, player_id, created_at, url, secret, verified_at, due_at";
    let kept = format!("create table kept as select {columns} from webhook");
    sql(&app, kept).await;
    assert_eq!(app.delete_me(&ana).await.status, 204);
    // As if its transaction had ended after the erasure.
    let restored = format!("insert into webhook ({columns}) select {columns} from kept");
    sql(&app, format!("delete from webhook; {restored}; drop table kept")).await;
    let sent = endpoint.received().len();
    app.resign_game(&id, &bo).await;
    deliver(&app).await;
    assert_eq!((endpoint.received().len(), count_rows(&app, "webhook_event").await), (sent, 0));
    let writers = Writers::start(&app.options, 1, Writers::QUEUE_MAX).0;
    erasure::end_games(&app.db, &writers, now()).await.expect("it ends them");
    assert_eq!(count_rows(&app, "webhook where url <> ''").await, 0);
    purge(&app).await;
    assert_eq!(count_rows(&app, "webhook").await, 0);
}

#[actix_web::test]
async fn a_full_queue_disables_its_endpoint_and_expires_after_a_week() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let endpoint = Endpoint::start().await;
    let (path, _) = created_for(&app, &ana, &endpoint, &json!(["game.move"])).await;
    let waiting = "insert into webhook_delivery (id, webhook_id, created_at, game_id, seq, type, payload, in_order) \
        select gen_random_uuid(), id, now(), id, n, 'game.move', '{}', true from webhook, generate_series(1, 10000) n";
    sql(&app, waiting.to_owned()).await;
    let id = app.started_between(&ana, &bo, &json!({})).await;
    app.played(&id, &ana, 1, "A").await;
    deliver(&app).await;
    let shown = app.get(&path, Some(&ana)).await.body;
    assert_eq!((&shown["enabled"], &shown["disabled_reason"]), (&json!(false), &json!("overflow")));
    let (other, _) = created_for(&app, &ana, &endpoint, &json!(["game.finished"])).await;
    sql(
        &app,
        format!("update webhook set disabled_at = now(), disabled_reason = 'overflow' where '{other}' like '%' || id"),
    )
    .await;
    sql(&app, "insert into webhook_delivery (id, webhook_id, created_at, game_id, seq, type, payload, in_order) \
        select gen_random_uuid(), id, now(), id, 1, 'game.move', '{}', true from webhook where events = '{game.finished}'".to_owned()).await;
    // What waits is dropped, so that it can go on.
    app.patch(&other, Some(&ana), &json!({"enabled": true})).await;
    purge(&app).await;
    assert_eq!(count_rows(&app, "webhook_delivery").await, 10_000);
    let_pass(&app, 7 * 24 * 60 * 60 + 1).await;
    purge(&app).await;
    assert_eq!((count_rows(&app, "webhook_delivery").await, count_rows(&app, "webhook").await), (0, 2));
    app.patch(&path, Some(&ana), &json!({"enabled": true})).await;
    app.played(&id, &bo, 2, "a").await;
    deliver(&app).await;
    assert_eq!(endpoint.kinds(), ["game.move"]);
}

#[actix_web::test]
async fn a_deadline_warning_is_sent_once_unless_the_turn_is_over() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let (to_ana, to_bo) = (Endpoint::start().await, Endpoint::start().await);
    let soon = json!(["game.deadline_soon"]);
    created_for(&app, &ana, &to_ana, &soon).await;
    created_for(&app, &bo, &to_bo, &soon).await;
    let days = json!({"clock": {"type": "per_move", "move_s": 2 * 24 * 60 * 60}});
    let id = app.started_between(&ana, &bo, &days).await;
    // Too short for a warning.
    app.started_between(&ana, &bo, &json!({"clock": {"type": "per_move", "move_s": 3599}})).await;
    let waiting = "webhook_delivery where ended_at is null";
    deliver(&app).await;
    assert_eq!((count_rows(&app, waiting).await, to_ana.received().len()), (1, 0));
    // An offer changes nothing about it.
    app.offer(&id, &ana, "draw").await;
    let_pass(&app, 35 * 60 * 60).await;
    deliver(&app).await;
    assert_eq!(to_ana.received().len(), 0);
    let_pass(&app, 2 * 60 * 60).await;
    deliver(&app).await;
    deliver(&app).await;
    let told = to_ana.received();
    let game = app.get_game(&id, Some(&ana)).await.body;
    assert_eq!((told.len(), told[0].kind(), &told[0].body["data"]["event"]), (1, "game.deadline_soon", &Value::Null));
    let shown = ["turn", "deadline"].map(|name| told[0].body["data"][name].clone());
    assert_eq!(shown, [json!("south"), game["clock"]["deadline"].clone()]);
    // A turn that is over gets no warning, whether or not it was noticed before the time came.
    app.played(&id, &ana, 1, "A").await;
    deliver(&app).await;
    assert_eq!(count_rows(&app, waiting).await, 1);
    app.played(&id, &bo, 2, "a").await;
    let_pass(&app, 37 * 60 * 60).await;
    let taken = job::take(&app.db, Lane::Unproven, 10, &Full::default(), now()).await;
    assert_eq!(taken.expect("it is taken").len(), 1);
    let_pass(&app, 31).await;
    round(&app).await;
    assert_eq!(to_bo.received().len(), 0);
    deliver(&app).await;
    assert_eq!(count_rows(&app, waiting).await, 1);
}

#[actix_web::test]
async fn a_deleted_webhook_sends_nothing_and_its_log_goes_however_long_it_is() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let endpoint = Endpoint::start().await;
    let (path, _) = created(&app, &ana, &endpoint).await;
    ping(&app, &ana, &path).await;
    let long = "insert into webhook_delivery (id, webhook_id, created_at, type, payload, in_order, ended_at) \
        select gen_random_uuid(), id, now(), 'webhook.ping', '{}', false, now() from webhook, generate_series(1, 2500)";
    sql(&app, long.to_owned()).await;
    let deleted = send(signed(app.request(Method::DELETE, &path), Some(&ana))).await;
    assert_eq!(deleted.status, 204);
    deliver(&app).await;
    assert_eq!(endpoint.received().len(), 0);
    purge(&app).await;
    assert_eq!((count_rows(&app, "webhook_delivery").await, count_rows(&app, "webhook").await), (0, 0));
}

#[actix_web::test]
async fn pings_that_race_with_their_records_end_once() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let endpoint = Endpoint::start().await;
    let (path, _) = created(&app, &ana, &endpoint).await;
    let path = format!("{path}/ping");
    let nothing = json!({});
    for _ in 0..30 {
        let pings = (0..4).map(|_| app.post(&path, Some(&ana), &nothing));
        let (answers, _) = join(join_all(pings), round(&app)).await;
        assert!(answers.iter().all(|answer| answer.status == 202 || answer.status == 503), "{answers:?}");
    }
    deliver(&app).await;
    assert_eq!(count_rows(&app, "webhook_delivery where not is_delivered or next_attempt_at is not null").await, 0);
    // Every ping was received once.
    let received = endpoint.received();
    let ids: HashSet<_> = received.iter().map(|one| one.id().to_owned()).collect();
    assert_eq!((ids.len(), i64::try_from(ids.len())), (received.len(), Ok(count_rows(&app, "webhook_delivery").await)));
}
