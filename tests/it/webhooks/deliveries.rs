//! Deliveries to webhooks: order, retries, what an endpoint may answer, and which addresses are allowed.

use std::{
    collections::{HashMap, HashSet},
    future::ready,
    net::Ipv4Addr,
    sync::Arc,
    time::Instant,
};

use futures_util::future::join;
use mancala_server::{
    db::{
        Writers,
        outbound::{Full, Lane},
        webhooks::deliveries::FOR_ENDPOINT_MAX,
    },
    jobs::webhooks,
    webhook::{Names, Ports, Reach, Sender, system_names},
};
use nix::sys::signal::Signal;
use rcgen::CertifiedKey;
use rustls::{RootCertStore, ServerConfig, crypto::ring};
use serde_json::{Value, json};

use crate::support::{
    app::TestApp,
    binary::{Running, url},
    clock::{now, until, until_async},
    database::count_rows,
    endpoint::{Endpoint, Received, Reply},
    webhooks::{create, created, created_for, deliver, let_pass, ping, purge, round, settings},
};

#[actix_web::test]
async fn events_of_a_game_arrive_in_order_though_the_endpoint_fails_at_times() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let endpoint = Endpoint::start().await;
    created(&app, &ana, &endpoint).await;
    let games = [app.started_between(&ana, &bo, &json!({})).await, app.started_between(&ana, &bo, &json!({})).await];
    endpoint.will(&[Reply::Status(500), Reply::Nothing, Reply::Status(200), Reply::Status(503), Reply::Status(404)]);
    for id in &games {
        for (ply, mv, reply) in [(1, "A", "a"), (3, "E", "e"), (5, "D", "d")] {
            app.played(id, &ana, ply, mv).await;
            app.played(id, &bo, ply + 1, reply).await;
        }
        deliver(&app).await;
    }
    for _ in 0..12 {
        let_pass(&app, 400).await;
        deliver(&app).await;
    }
    let mut arrived: HashMap<String, Vec<(u64, String)>> = HashMap::new();
    for one in endpoint.received() {
        let game = arrived.entry(one.body["data"]["game_id"].as_str().expect("a game").to_owned()).or_default();
        game.push((one.seq(), one.kind().to_owned()));
    }
    for id in &games {
        let told = &arrived[id];
        assert!(told.is_sorted(), "{told:?}");
        assert_eq!(told.iter().collect::<HashSet<_>>().len(), 6 + 4);
    }
    assert_eq!(count_rows(&app, "webhook_delivery where not is_delivered").await, 0);
    assert_eq!(endpoint.received().len(), 20 + 4);
}

#[actix_web::test]
async fn a_failed_attempt_is_retried_on_schedule_under_its_id_then_dropped() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let endpoint = Endpoint::start().await;
    endpoint.always(Reply::Status(500));
    let (path, secret) = created(&app, &ana, &endpoint).await;
    assert_eq!(app.post(&format!("{path}/ping"), Some(&ana), &json!({})).await.status, 202);
    assert_eq!(round(&app).await, 1);
    for (n, seconds) in [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400].into_iter().enumerate() {
        if n > 0 {
            let_pass(&app, seconds / 2).await;
            assert_eq!(round(&app).await, 0, "{n}");
        }
        // Part of the delay is random.
        let_pass(&app, seconds * if n > 0 { 7 } else { 12 } / 10 + 1).await;
        assert_eq!(round(&app).await, 1, "{n}");
    }
    let log = app.get(&format!("{path}/deliveries"), Some(&ana)).await.body;
    let one = &log["items"][0];
    assert_eq!((&one["status"], &one["attempts"], &one["last_status"]), (&json!("failed"), &json!(10), &json!(500)));
    assert_eq!((&one["last_error"], &one["next_attempt_at"]), (&json!("status"), &Value::Null));
    let received = endpoint.received();
    assert!(received.iter().all(|again| again.id() == received[0].id() && again.is_signed_by(&secret)));
    let shown = app.get(&path, Some(&ana)).await.body;
    assert!(shown["failing_since"].is_string() && shown["enabled"] == true, "{shown}");
}

#[actix_web::test]
async fn an_endpoint_may_ask_for_time() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let endpoint = Endpoint::start().await;
    let (path, _) = created(&app, &ana, &endpoint).await;
    endpoint.will(&[Reply::With(429, "retry-after: 1000".to_owned())]);
    ping(&app, &ana, &path).await;
    deliver(&app).await;
    let_pass(&app, 900).await;
    assert_eq!(round(&app).await, 0);
    let_pass(&app, 101).await;
    assert_eq!(round(&app).await, 1);
    assert_eq!(app.get(&format!("{path}/deliveries"), Some(&ana)).await.body["items"][0]["status"], "delivered");
}

#[actix_web::test]
async fn an_endpoint_gone_or_failing_for_five_days_is_disabled() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    for (reply, days, reason) in [(Reply::Status(410), 0, "gone"), (Reply::Nothing, 5, "failing")] {
        let endpoint = Endpoint::start().await;
        let (path, _) = created(&app, &ana, &endpoint).await;
        endpoint.always(reply);
        ping(&app, &ana, &path).await;
        deliver(&app).await;
        for _ in 0..days {
            assert_eq!(app.get(&path, Some(&ana)).await.body["enabled"], true);
            let_pass(&app, 24 * 60 * 60).await;
            deliver(&app).await;
        }
        let shown = app.get(&path, Some(&ana)).await.body;
        assert_eq!((&shown["enabled"], &shown["disabled_reason"]), (&json!(false), &json!(reason)));
        assert!(shown["disabled_at"].is_string());
        app.post(&format!("{path}/ping"), Some(&ana), &json!({})).await.is_problem(409, "webhook_disabled");
        let sent = endpoint.received().len();
        app.created(&ana, &json!({"variant": "kalah", "opponent": {"type": "self"}})).await;
        let_pass(&app, 24 * 60 * 60).await;
        deliver(&app).await;
        assert_eq!(endpoint.received().len(), sent);
        endpoint.always(Reply::Status(204));
        let enabled = app.patch(&path, Some(&ana), &json!({"enabled": true})).await.body;
        assert_eq!((&enabled["enabled"], &enabled["failing_since"]), (&json!(true), &Value::Null));
        app.created(&ana, &json!({"variant": "kalah", "opponent": {"type": "self"}})).await;
        deliver(&app).await;
        assert!(endpoint.received().len() > sent);
        assert_eq!(
            app.patch(&path, Some(&ana), &json!({"enabled": false})).await.body["disabled_reason"],
            "by_request"
        );
    }
}

#[actix_web::test]
async fn an_endpoint_that_never_answers_delays_no_other() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let (dead, live) = (Endpoint::start().await, Endpoint::start().await);
    dead.always(Reply::Silence);
    created(&app, &ana, &dead).await;
    created(&app, &bo, &live).await;
    let id = app.started_between(&ana, &bo, &json!({})).await;
    for (ply, mv, reply) in [(1, "A", "a"), (3, "E", "e"), (5, "D", "d")] {
        app.played(&id, &ana, ply, mv).await;
        app.played(&id, &bo, ply + 1, reply).await;
    }
    let begun = Instant::now();
    // The job runs as in a process: a delivery in flight to one endpoint does not keep those for others from being leased.
    let stopping = tokio_util::sync::CancellationToken::new();
    let (writers, writing) = Writers::start(&app.options, 1, Writers::QUEUE_MAX);
    let running = webhooks::run(
        mancala_server::db::pool(app.options.clone(), 3),
        writers.webhook_events(),
        settings(&app, Reach::Anywhere, system_names()),
        stopping.clone(),
    );
    let arrived = async {
        until("all messages arrive", || live.received().len() >= 9).await;
        // Attempts are made one at a time, for the oldest message, each of ten seconds.
        let attempts = u64::try_from(dead.received().len()).expect("a few");
        assert!(attempts <= 1 + begun.elapsed().as_secs() / 10);
        stopping.cancel();
    };
    join(running, arrived).await;
    writing.end().await;
}

#[actix_web::test]
async fn wrong_input_is_refused() {
    let app = TestApp::start_with(|service| service.settings.webhook_reach = Reach::Public(Ports::HTTPS)).await;
    let ana = app.guest("Ana").await;
    for url in [
        "http://169.254.169.254",
        "http://localhost",
        "https://localhost/",
        "https://0.0.0.0/",
        "https://2130706433/",
        "https://0x7f.1/",
        "https://[::1]/",
        "https://[::ffff:10.0.0.1]/",
        "https://[64:ff9b::a00:1]/",
        "https://a:b@example.com/",
        "https://example.com:22/",
        "https://example.com/#a",
        "javascript:alert(1)",
        "",
        "example.com",
        "https://example.com\r\nx: y",
    ] {
        let refused = create(&app, &ana, &json!({ "url": url })).await;
        refused.is_problem(422, "validation_failed");
        assert_eq!(refused.body["errors"][0]["pointer"], "/url", "{url}");
    }
    let url = "https://example.com/";
    for body in [
        json!({}),
        json!({"url": 1}),
        json!({"url": url, "events": []}),
        json!({"url": url, "events": ["game.nothing"]}),
        json!({"url": url, "events": [{"game.move": null}]}),
        json!({"url": url, "events": "game.move"}),
        json!({"url": url, "secret": "mine"}),
    ] {
        create(&app, &ana, &body).await.is_problem(422, "validation_failed");
    }
    let made = create(&app, &ana, &json!({ "url": url })).await;
    assert_eq!(made.status, 201);
    let path = format!("/v1/webhooks/{}", made.string("/id"));
    for body in
        [json!({"url": "http://10.0.0.1/"}), json!({"enabled": "no"}), json!({"events": []}), json!({"secret": ""})]
    {
        app.patch(&path, Some(&ana), &body).await.is_problem(422, "validation_failed");
    }
}

#[actix_web::test]
async fn nothing_is_sent_to_an_address_that_is_not_public_whatever_its_name() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let endpoint = Endpoint::start().await;
    let (path, _) = created(&app, &ana, &endpoint).await;
    let names: Names = Arc::new(|name| {
        let found = match name.as_str() {
            "ten.example" => vec!["10.0.0.1"],
            "one.example" => vec!["::1"],
            "mapped.example" => vec!["::ffff:127.0.0.1"],
            "nat64.example" => vec!["64:ff9b::a9fe:a9fe"],
            "mixed.example" => vec!["8.8.8.8", "127.0.0.1"],
            "any.example" => vec!["0.0.0.0"],
            _ => vec![],
        };
        let found = found.into_iter().map(|text| text.parse().expect("an address")).collect();
        Box::pin(ready(Ok(found)))
    });
    let port = endpoint.address.port();
    for (url, error) in [
        (format!("https://ten.example:{port}/"), "address_not_allowed"),
        (format!("https://one.example:{port}/"), "address_not_allowed"),
        (format!("https://mapped.example:{port}/"), "address_not_allowed"),
        (format!("https://nat64.example:{port}/"), "address_not_allowed"),
        (format!("https://mixed.example:{port}/"), "address_not_allowed"),
        (format!("https://any.example:{port}/"), "address_not_allowed"),
        ("https://none.example/".to_owned(), "name_not_found"),
        // What was allowed when it was stored.
        (endpoint.url(), "address_not_allowed"),
        (format!("https://127.0.0.1:{port}/"), "address_not_allowed"),
        (format!("https://2130706433:{port}/"), "address_not_allowed"),
        (format!("https://[::ffff:127.0.0.1]:{port}/"), "address_not_allowed"),
        ("http://169.254.169.254/".to_owned(), "address_not_allowed"),
    ] {
        sqlx::query("update webhook set url = $1").bind(&url).execute(&app.db).await.expect("it is changed");
        ping(&app, &ana, &path).await;
        let settings = settings(&app, Reach::Public(Ports::new(&[443, port]).expect("few")), names.clone());
        assert_eq!(webhooks::round(&app.db, &settings).await.expect("a round"), 1, "{url}");
        let log = app.get(&format!("{path}/deliveries?limit=1"), Some(&ana)).await.body;
        assert_eq!(
            (&log["items"][0]["last_error"], &log["items"][0]["last_status"]),
            (&json!(error), &Value::Null),
            "{url}"
        );
        sqlx::raw_sql("delete from webhook_delivery").execute(&app.db).await.expect("it is forgotten");
    }
    assert!(endpoint.received().is_empty());
}

#[actix_web::test]
async fn tls_deliveries_go_only_to_the_host_that_the_certificate_names() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(["push.example".to_owned()]).expect("a certificate");
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions of TLS")
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], signing_key.into())
        .expect("they belong together");
    let endpoint = Endpoint::start_encrypted(config).await;
    let port = endpoint.address.port();
    let names: Names = Arc::new(|_| Box::pin(ready(Ok(vec![Ipv4Addr::LOCALHOST.into()]))));
    let mut roots = RootCertStore::empty();
    roots.add(cert.der().clone()).expect("a root");
    let trusting = Sender::trusting(roots, Reach::Anywhere, names.clone());
    let distrusting = Sender::new(Reach::Anywhere, names);
    let plain = settings(&app, Reach::Anywhere, system_names());
    for (name, sender, became) in [
        ("push.example", &trusting, (json!("delivered"), Value::Null)),
        ("other.example", &trusting, (json!("waiting"), json!("tls"))),
        ("push.example", &distrusting, (json!("waiting"), json!("tls"))),
    ] {
        let answer = create(&app, &ana, &json!({"url": format!("https://{name}:{port}/a?b=c")})).await;
        let path = format!("/v1/webhooks/{}", answer.string("/id"));
        // Its challenge.
        let settings = webhooks::Settings { sender: sender.clone(), ..plain.clone() };
        assert_eq!(webhooks::round(&app.db, &settings).await.expect("a round"), 1);
        let log = app.get(&format!("{path}/deliveries"), Some(&ana)).await.body;
        assert_eq!((log["items"][0]["status"].clone(), log["items"][0]["last_error"].clone()), became, "{name}");
    }
    let received = endpoint.challenges();
    assert_eq!((received.len(), received[0].path.as_str()), (1, "/a?b=c"));
    assert_eq!(received[0].headers["host"], format!("push.example:{port}"));
}

#[actix_web::test]
async fn a_redirect_is_a_failure_and_is_not_followed() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let (endpoint, other) = (Endpoint::start().await, Endpoint::start().await);
    let (path, _) = created(&app, &ana, &endpoint).await;
    for status in [301, 302, 303, 307, 308] {
        endpoint.will(&[Reply::With(status, format!("location: {}", other.url()))]);
        ping(&app, &ana, &path).await;
        deliver(&app).await;
        let log = app.get(&format!("{path}/deliveries?limit=1"), Some(&ana)).await.body;
        assert_eq!((&log["items"][0]["last_status"], &log["items"][0]["status"]), (&json!(status), &json!("waiting")));
        sqlx::raw_sql("delete from webhook_delivery").execute(&app.db).await.expect("it is forgotten");
    }
    assert_eq!((endpoint.received().len(), other.received().len()), (5, 0));
}

#[actix_web::test]
async fn of_an_answer_nothing_but_its_head_is_read() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let endpoint = Endpoint::start().await;
    let (path, _) = created(&app, &ana, &endpoint).await;
    for (reply, status, error) in [
        (Reply::Giant, "delivered", Value::Null),
        (Reply::Endless, "delivered", Value::Null),
        // What ends them is that too much was read, not that it took too long.
        (Reply::EndlessHead, "waiting", json!("no_answer")),
        (Reply::EndlessInterim, "waiting", json!("no_answer")),
    ] {
        endpoint.will(std::slice::from_ref(&reply));
        ping(&app, &ana, &path).await;
        deliver(&app).await;
        let log = app.get(&format!("{path}/deliveries?limit=1"), Some(&ana)).await.body;
        assert_eq!((&log["items"][0]["status"], &log["items"][0]["last_error"]), (&json!(status), &error), "{reply:?}");
        sqlx::raw_sql("delete from webhook_delivery").execute(&app.db).await.expect("it is forgotten");
    }
}

#[actix_web::test]
async fn a_killed_servers_deliveries_are_sent_again_under_the_same_id() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let endpoint = Endpoint::start().await;
    let (path, secret) = created(&app, &ana, &endpoint).await;
    ping(&app, &ana, &path).await;
    let killed = settings(&app, Reach::Anywhere, system_names());
    let taken = webhooks::take(&app.db, Lane::Unproven, 10, &Full::default(), now()).await.expect("it is taken");
    assert_eq!(taken.len(), 1);
    assert!(webhooks::send(&killed.sender, &taken[0], now()).await.expect("an answer").is_success());
    // No other worker leases it while it may still be in flight.
    assert_eq!(round(&app).await, 0);
    let_pass(&app, 31).await;
    assert_eq!(round(&app).await, 1);
    let received = endpoint.received();
    assert_eq!((received.len(), received[0].id()), (2, received[1].id()));
    assert!(received.iter().all(|one| one.is_signed_by(&secret)));
    assert_eq!(app.get(&format!("{path}/deliveries"), Some(&ana)).await.body["items"][0]["status"], "delivered");
}

#[actix_web::test]
async fn two_servers_share_the_work_and_send_nothing_twice() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let endpoint = Endpoint::start().await;
    created(&app, &ana, &endpoint).await;
    let other = mancala_server::db::pool(app.options.clone(), 2);
    let mine = settings(&app, Reach::Anywhere, system_names());
    let mut games = vec![];
    for _ in 0..8 {
        let id = app.started_between(&ana, &bo, &json!({})).await;
        app.played(&id, &ana, 1, "A").await;
        app.played(&id, &bo, 2, "a").await;
        games.push(id);
    }
    // First the one, then the other, then both at once.
    assert!(webhooks::round(&app.db, &mine).await.expect("a round") > 0);
    assert!(webhooks::round(&other, &mine).await.expect("a round") > 0);
    until_async("all is delivered", async || {
        let (one, two) = join(webhooks::round(&app.db, &mine), webhooks::round(&other, &mine)).await;
        assert!(one.is_ok() || two.is_ok(), "{one:?} {two:?}");
        let ended = "webhook_delivery where ended_at is null";
        count_rows(&app, "webhook_event").await + count_rows(&app, ended).await == 0
    })
    .await;
    let received = endpoint.received();
    assert_eq!(received.iter().map(Received::id).collect::<HashSet<_>>().len(), 8 * 4);
    assert_eq!(received.len(), 8 * 4);
    for id in games {
        let of_game: Vec<_> =
            received.iter().filter(|one| one.body["data"]["game_id"] == *id).map(Received::seq).collect();
        assert!(of_game.is_sorted(), "{of_game:?}");
    }
}

#[actix_web::test]
async fn ended_deliveries_are_deleted_after_a_week() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let endpoint = Endpoint::start().await;
    let (path, _) = created(&app, &ana, &endpoint).await;
    ping(&app, &ana, &path).await;
    deliver(&app).await;
    for (seconds, left) in [(6 * 24 * 60 * 60, 1), (24 * 60 * 60 + 1, 0)] {
        let_pass(&app, seconds).await;
        purge(&app).await;
        assert_eq!(count_rows(&app, "webhook_delivery").await, left);
    }
}

#[actix_web::test]
async fn a_log_keeps_its_newest_ended_deliveries_and_all_that_wait() {
    let app = TestApp::start().await;
    let (ana, endpoint) = (app.guest("Ana").await, Endpoint::start().await);
    created(&app, &ana, &endpoint).await;
    let log = "insert into webhook_delivery (id, webhook_id, created_at, type, payload, in_order, ended_at) \
        select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, id, now() - '1 minute'::interval, \
            'game.move', '{}', true, case when n > 3 then now() end \
        from webhook, generate_series(1, $1 + 1003) n";
    sqlx::query(log).bind(FOR_ENDPOINT_MAX).execute(&app.db).await.expect("rows are made");
    purge(&app).await;
    let waiting = "select count(*) from webhook_delivery where ended_at is null and type = 'game.move'";
    let waiting: i64 = sqlx::query_scalar(waiting).fetch_one(&app.db).await.expect("a count");
    let ended = "select count(*), min(right(id::text, 12)) from webhook_delivery where ended_at is not null";
    let ended: (i64, String) = sqlx::query_as(ended).fetch_one(&app.db).await.expect("a count");
    assert_eq!((waiting, ended), (3, (FOR_ENDPOINT_MAX, format!("{:012}", 1004))));
}

#[actix_web::test]
async fn a_server_delivers_at_once_and_a_killed_one_loses_nothing() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let endpoint = Endpoint::start().await;
    created_for(&app, &ana, &endpoint, &json!(["game.move"])).await;
    let id = app.started_between(&ana, &bo, &json!({})).await;
    let arrived = async |count: usize| {
        // What was sent and not recorded when the server was killed comes twice.
        let seqs = || endpoint.received().iter().map(Received::seq).collect::<HashSet<_>>();
        until("the messages arrive", || seqs().len() >= count).await;
    };
    let options = ["--rate-limits", "off", "--webhook-allow-private", "on"];
    let first = Running::start_with(&url(&app), &app.key, &options, &[]);
    first.play(&id, &ana, 1, "A").await;
    arrived(1).await;
    first.signal(Signal::SIGKILL);
    drop(first);
    // The server may not have recorded what it had sent. Its leases have expired by now.
    let_pass(&app, 31).await;
    // Any running server delivers it.
    app.played(&id, &bo, 2, "a").await;
    let second = Running::start_with(&url(&app), &app.key, &options, &[]);
    arrived(2).await;
    second.signal(Signal::SIGTERM);
}
