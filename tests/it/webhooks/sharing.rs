//! How endpoints, hosts and players share what is sent at once: none of them delays the others.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use futures_util::future::{join, join_all};
use mancala_server::{
    db::{
        Writers,
        outbound::{Full, Lane},
        webhooks::attempts::Due,
    },
    domain::PlayerId,
    jobs::webhooks as job,
    webhook::{Reach, system_names},
};
use serde_json::json;

use super::queues::{of_game, offers, sql};
use crate::support::{
    app::TestApp,
    clock::{now, until},
    database::count_rows,
    endpoint::{Endpoint, Reply},
    webhooks::{created, created_for, deliver, let_pass, ping, round, settings},
};

#[actix_web::test]
async fn failing_endpoints_do_not_delay_a_new_one() {
    let app = TestApp::start().await;
    let dead = Endpoint::start().await;
    dead.always(Reply::Nothing);
    let guests = join_all((0..80).map(|n| app.guest(if n % 2 == 0 { "Ana" } else { "Bo" }))).await;
    for guest in &guests {
        let (path, _) = created(&app, guest, &dead).await;
        ping(&app, guest, &path).await;
    }
    deliver(&app).await;
    let tried: HashSet<_> = dead.received().iter().map(|one| one.id().to_owned()).collect();
    assert_eq!(tried.len(), 80);
    // They have places of their own.
    sql(&app, "update webhook set due_at = now() - interval '1 hour', paused_until = null".to_owned()).await;
    let (cy, live) = (app.guest("Cy").await, Endpoint::start().await);
    let (path, _) = created(&app, &cy, &live).await;
    ping(&app, &cy, &path).await;
    let one = job::round(&app.db, &settings(&app, Reach::Anywhere, system_names())).await.expect("a round");
    assert!(one >= 1);
    assert_eq!(live.kinds(), ["webhook.ping"]);
}

#[actix_web::test]
async fn a_message_that_keeps_failing_stays_queued_though_others_succeed() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let endpoint = Endpoint::start().await;
    let (path, _) = created_for(&app, &ana, &endpoint, &json!(["game.move"])).await;
    let id = app.started_between(&ana, &bo, &json!({})).await;
    app.played(&id, &ana, 1, "A").await;
    endpoint.will(&[Reply::Status(500)]);
    round(&app).await;
    for _ in 0..15 {
        // A spell of failures, and a success that ends it.
        endpoint.will(&[Reply::Status(500), Reply::Status(500), Reply::Status(500), Reply::Status(500)]);
        for _ in 0..4 {
            let_pass(&app, 20).await;
            ping(&app, &ana, &path).await;
            round(&app).await;
        }
        ping(&app, &ana, &path).await;
        round(&app).await;
    }
    let waiting = count_rows(&app, "webhook_delivery where type = 'game.move' and ended_at is null").await;
    let arrived = endpoint.received().iter().filter(|one| one.kind() == "game.move").count();
    assert!(waiting == 1 || arrived > 1);
    let_pass(&app, 25 * 60 * 60).await;
    deliver(&app).await;
    assert_eq!(count_rows(&app, "webhook_delivery where not is_delivered").await, 0);
}

#[actix_web::test]
async fn a_slow_host_and_a_player_with_many_endpoints_leave_room_for_others() {
    let app = TestApp::start().await;
    let (dead, live) = (Endpoint::start().await, Endpoint::start().await);
    dead.always(Reply::Silence);
    // Forty players with an endpoint at one host, one with ten endpoints at ten hosts, and then one more.
    let guests = join_all((0..40).map(|_| app.guest("Ana"))).await;
    let (bo, cy) = (app.guest("Bo").await, app.guest("Cy").await);
    let of_bo = join_all((0..10).map(|_| Endpoint::start())).await;
    let mut paths = vec![];
    for (guest, endpoint) in
        guests.iter().map(|guest| (guest, &dead)).chain(of_bo.iter().map(|endpoint| (&bo, endpoint)))
    {
        endpoint.always(Reply::Silence);
        paths.push((guest, created(&app, guest, endpoint).await.0));
    }
    paths.push((&cy, created(&app, &cy, &live).await.0));
    for (guest, path) in &paths {
        ping(&app, guest, path).await;
    }
    let host = dead.address.to_string();
    let full = Full { hosts: vec![host.clone()], players: vec![PlayerId(bo.id.parse().expect("an id"))] };
    let taken = job::take(&app.db, Lane::Unproven, 64, &full, now()).await.expect("they are taken");
    assert_eq!(taken.iter().map(|due| due.player.0.to_string()).collect::<Vec<_>>(), std::slice::from_ref(&cy.id));
    let_pass(&app, 31).await;
    let stopping = tokio_util::sync::CancellationToken::new();
    let (writers, writing) = Writers::start(&app.options, 1, Writers::QUEUE_MAX);
    let settings = settings(&app, Reach::Anywhere, system_names());
    let running = job::run(
        mancala_server::db::pool(app.options.clone(), 3),
        writers.webhook_events(),
        settings,
        stopping.clone(),
    );
    let arrived = async {
        until("the last one gets its message", || !live.received().is_empty()).await;
        // Each message makes the job take what is due once more.
        let (_, of_cy) = paths.last().expect("there are paths");
        for count in 2..=4 {
            let begun = Instant::now();
            while live.received().len() < count {
                assert!(begun.elapsed() < Duration::from_secs(90), "it never gets another one");
                // A ping adds nothing while the attempt of an earlier one is not recorded yet.
                ping(&app, &cy, of_cy).await;
            }
        }
        let of_bo: usize = of_bo.iter().map(Endpoint::held).sum();
        assert!(dead.held() <= 8 && of_bo <= 2, "{} and {of_bo}", dead.held());
        stopping.cancel();
    };
    join(running, arrived).await;
    writing.end().await;
}

#[actix_web::test]
async fn one_poll_begins_as_much_for_a_host_and_a_player_as_they_may_have() {
    let app = TestApp::start().await;
    let (host, bo) = (Endpoint::start().await, app.guest("Bo").await);
    let guests = join_all((0..40).map(|_| app.guest("Ana"))).await;
    let of_bo = join_all((0..10).map(|_| Endpoint::start())).await;
    for (guest, endpoint) in
        guests.iter().map(|guest| (guest, &host)).chain(of_bo.iter().map(|endpoint| (&bo, endpoint)))
    {
        let (path, _) = created(&app, guest, endpoint).await;
        ping(&app, guest, &path).await;
    }
    sql(&app, "update webhook set lane = 0".to_owned()).await;
    // Two more for each endpoint.
    let more = "insert into webhook_delivery (id, webhook_id, created_at, type, payload, in_order, next_attempt_at)
        select gen_random_uuid(), webhook_id, created_at, type, payload, false, next_attempt_at
        from webhook_delivery, generate_series(1, 2) where ended_at is null";
    sql(&app, more.to_owned()).await;
    let taken = job::take(&app.db, Lane::Quick, 128, &Full::default(), now()).await.expect("they are taken");
    let bo = PlayerId(bo.id.parse().expect("an id"));
    let (of_bo, of_host): (Vec<_>, Vec<_>) = taken.iter().partition(|due| due.player == bo);
    let endpoints = |due: &[&Due]| due.iter().map(|due| due.webhook).collect::<HashSet<_>>().len();
    assert_eq!((of_host.len(), endpoints(&of_host)), (32, 32));
    assert_eq!((of_bo.len(), endpoints(&of_bo)), (8, 8));
}

#[actix_web::test]
async fn one_connection_is_enough_to_queue_and_send() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let endpoint = Endpoint::start().await;
    created_for(&app, &bo, &endpoint, &json!(["game.offer"])).await;
    let game = app.started_between(&ana, &bo, &json!({})).await;
    offers(&app, &game, &ana, 1).await;
    let alone = mancala_server::db::pool(app.options.clone(), 1);
    let sent = job::round(&alone, &settings(&app, Reach::Anywhere, system_names())).await.expect("a round");
    assert!(sent > 0);
    assert!(!of_game(&endpoint, &game).is_empty());
}
