//! Reports of players: what is kept of one, who can make it and how many, and what becomes of reports with their players.

use futures_util::future::join_all;
use mancala_server::{
    db::players::{
        self,
        report_quotas::{ACCOUNT_REPORTS_KEPT, NETWORK_REPORTS_KEPT_MAX, NETWORK_REPORTS_MAX, REPORTS_MAX},
    },
    domain::Level,
    jobs::purge,
};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    answer::Answer,
    app::TestApp,
    calls::{Guest, send, signed},
    clock::now,
    database::count_rows,
};

const PASSWORD: &str = "correct horse";

async fn report(app: &TestApp, reporter: &Guest, player: &str, body: &Value) -> Answer {
    app.post(&format!("/v1/players/{player}/reports"), Some(reporter), body).await
}

/// All reports, by the ids of the players.
async fn rows(app: &TestApp) -> Vec<(String, String)> {
    let rows = "select reporter_id::text, reported_id::text from player_report order by id";
    sqlx::query_as(rows).fetch_all(&app.db).await.expect("reports are read")
}

#[actix_web::test]
async fn a_report_keeps_the_names_and_the_version_of_its_game() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.account("Bo the Bad", PASSWORD).await);
    let game = app.started_between(&bo, &ana, &json!({"visibility": "unlisted"})).await;
    app.played(&game, &bo, 1, "A").await;
    let body = json!({"reason": "cheating", "note": "plays like\na program", "game_id": game});
    let made = report(&app, &ana, &bo.id, &body).await;
    assert_eq!(made.status, 201, "{made:?}");
    assert_eq!(made.body["player"], json!({"id": bo.id, "name_then": "Bo the Bad"}));
    let seen = ["reason", "note", "game_id", "game_version", "closed_at"].map(|field| made.body[field].clone());
    assert_eq!(seen, [json!("cheating"), json!("plays like\na program"), json!(game), json!(3), Value::Null]);
    // Neither a new name nor further moves change it, and a repetition is answered with it.
    assert_eq!(app.patch("/v1/me", Some(&bo), &json!({"name": "Bo the Good"})).await.status, 200);
    app.played(&game, &ana, 2, "a").await;
    let again = report(&app, &ana, &bo.id, &json!({"reason": "other", "game_id": game})).await;
    assert_eq!((again.status.as_u16(), &again.body), (200, &made.body));
    // Without a game, and by another player, it is another report.
    for (reporter, body) in [(&ana, json!({"reason": "name"})), (&app.guest("Eve").await, json!({"reason": "name"}))] {
        let other = report(&app, reporter, &bo.id, &body).await;
        assert_eq!(other.status, 201, "{other:?}");
        assert_eq!(other.body["player"]["name_then"], "Bo the Good");
        assert_eq!([&other.body["note"], &other.body["game_id"], &other.body["game_version"]], [&Value::Null; 3]);
        assert_eq!(report(&app, reporter, &bo.id, &body).await.body, other.body);
    }
    assert_eq!(rows(&app).await.len(), 3);
    // The reporter's export has what was reported, and the reported player's has nothing of it.
    let export = app.get("/v1/me/export", Some(&ana)).await;
    assert_eq!(export.body["reports"].as_array().map(Vec::len), Some(2));
    assert_eq!(export.body["reports"][1], made.body);
    let export = app.get("/v1/me/export", Some(&bo)).await;
    assert_eq!(export.body["reports"], json!([]));
    assert!(!export.text.contains("plays like"));
}

#[actix_web::test]
async fn a_wrong_report_is_refused_and_nothing_is_stored() {
    let app = TestApp::start().await;
    let (ana, bo, cy, gone) =
        (app.guest("Ana").await, app.account("Bo", PASSWORD).await, app.guest("Cy").await, app.guest("Gone").await);
    app.delete_me(&gone).await;
    let imported = app.imported_long_game(&bo, 4).await;
    let imported = app.get_game(&imported, Some(&bo)).await.string("/seats/south/id");
    let computer = Level::try_from(3).expect("a level").player().0.to_string();
    let name = json!({"reason": "name"});
    for player in [&ana.id, &gone.id, &imported, &computer] {
        report(&app, &ana, player, &name).await.is_problem(403, "forbidden");
    }
    for player in ["0199aaaa-0000-7000-8000-000000000000", "me", "Bo"] {
        report(&app, &ana, player, &name).await.is_problem(404, "not_found");
    }
    let invited = json!({"visibility": "private", "opponent": {"type": "player", "player_id": cy.id}});
    let secret = app.started_between(&bo, &cy, &invited).await;
    let without_bo = app.started_between(&ana, &cy, &json!({})).await;
    for (body, pointer) in [
        (json!({}), "/reason"),
        (json!({"reason": "ugly"}), "/reason"),
        (json!({"reason": 5}), "/reason"),
        (json!({"reason": "name", "note": ""}), "/note"),
        (json!({"reason": "name", "note": null}), "/note"),
        (json!({"reason": "name", "note": "x".repeat(1001)}), "/note"),
        (json!({"reason": "name", "note": "a\u{0}b"}), "/note"),
        (json!({"reason": "name", "game_id": "x"}), "/game_id"),
        (json!({"reason": "name", "game_id": "0199aaaa-0000-7000-8000-000000000000"}), "/game_id"),
        // A private game of others, and one in which the reported player does not sit.
        (json!({"reason": "name", "game_id": secret}), "/game_id"),
        (json!({"reason": "name", "game_id": without_bo}), "/game_id"),
        (json!({"reason": "name", "reporter": "Bo"}), "/reporter"),
    ] {
        let refused = report(&app, &ana, &bo.id, &body).await;
        refused.is_problem(422, "validation_failed");
        assert_eq!(refused.body["errors"][0]["pointer"], pointer, "{body}");
    }
    let long = json!({"reason": "name", "note": "x".repeat(1 << 20)});
    report(&app, &ana, &bo.id, &long).await.is_problem(413, "payload_too_large");
    let path = format!("/v1/players/{}/reports", bo.id);
    app.post(&path, None, &name).await.is_problem(401, "unauthenticated");
    for guest in [&app.stranger(), &gone] {
        app.post(&path, Some(guest), &name).await.is_problem(401, "invalid_token");
    }
    app.get(&path, Some(&ana)).await.is_problem(405, "method_not_allowed");
    assert_eq!(rows(&app).await, []);
}

#[actix_web::test]
async fn a_player_makes_a_bounded_number_of_reports_a_day() {
    let app = TestApp::start().await;
    let (ana, bo, cy) = (app.guest("Ana").await, app.guest("Bo").await, app.guest("Cy").await);
    let name = json!({"reason": "name"});
    let mut others = vec![];
    for n in 0..REPORTS_MAX {
        others.push(app.guest(&format!("Other {n}")).await);
    }
    // Several at once are counted one after the other. More of them might wait for each other longer than a request may.
    let all: Vec<_> = [&bo, &cy].into_iter().chain(&others).collect();
    let mut made = vec![];
    for several in all.chunks(6) {
        made.extend(join_all(several.iter().map(|other| report(&app, &ana, &other.id, &name))).await);
    }
    let refused: Vec<_> = made.iter().filter(|answer| answer.status != 201).collect();
    assert_eq!((made.len() - refused.len(), refused.len()), (REPORTS_MAX as usize, 2));
    for answer in refused {
        answer.is_problem(429, "rate_limited");
        let seconds: u64 = answer.headers["retry-after"].to_str().expect("text").parse().expect("a number");
        assert!((86_300..=86_401).contains(&seconds), "{seconds}");
    }
    assert_eq!(rows(&app).await.len(), REPORTS_MAX as usize);
    // What is open already is no further report, and others may still report.
    let reported = rows(&app).await[0].1.clone();
    assert_eq!(report(&app, &ana, &reported, &name).await.status, 200);
    assert_eq!(report(&app, &bo, &ana.id, &name).await.status, 201);
    // A day later there is room again.
    let aged = "update player_report set created_at = created_at - interval '1 day' where id = (select id from player_report order by id limit 1)";
    sqlx::query(aged).execute(&app.db).await.expect("it ages");
    let fresh = app.guest("Fresh").await;
    assert_eq!(report(&app, &ana, &fresh.id, &name).await.status, 201);
    let more = app.guest("More").await;
    report(&app, &ana, &more.id, &name).await.is_problem(429, "rate_limited");
}

#[actix_web::test]
async fn the_guests_of_a_network_share_a_number_of_reports() {
    let app = TestApp::start_with_networks().await;
    let bad = app.guest_at("203.0.113.9").await;
    let name = json!({"reason": "name"});
    for n in 0..NETWORK_REPORTS_MAX {
        let guest = app.guest_at("198.51.100.7").await;
        assert_eq!(report(&app, &guest, &bad.id, &name).await.status, 201, "{n}");
    }
    let guest = app.guest_at("198.51.100.7").await;
    report(&app, &guest, &bad.id, &name).await.is_problem(429, "rate_limited");
    let elsewhere = app.guest_at("192.0.2.1").await;
    assert_eq!(report(&app, &elsewhere, &bad.id, &name).await.status, 201);
}

/// A report from an address.
async fn report_at(app: &TestApp, address: &str, reporter: &Guest, player: &str) -> Answer {
    let request = app.request(Method::POST, &format!("/v1/players/{player}/reports"));
    send(signed(request, Some(reporter)).header("x-forwarded-for", address).json(&json!({"reason": "name"}))).await
}

/// An account that was made elsewhere.
async fn account_elsewhere(app: &TestApp, n: u32) -> Guest {
    let guest = app.guest_at(&format!("203.0.113.{n}")).await;
    let body = json!({"name": format!("Account {n}"), "password": PASSWORD});
    assert_eq!(app.patch("/v1/me", Some(&guest), &body).await.status, 200);
    // The account is no longer new.
    let forget = sqlx::query("update player set network = null where id = $1::uuid").bind(&guest.id);
    forget.execute(&app.db).await.expect("the account is there");
    let answer = app.sign_in(&format!("Account {n}"), PASSWORD).await;
    Guest { id: guest.id, token: answer.string("/access_token") }
}

/// Copies the first report until its network has so many, by players of which nothing else is known.
async fn fill_up(app: &TestApp, count: u32) {
    let reports = "with one as (select * from player_report where reporter_name <> 'x' order by created_at limit 1), others as (
            insert into player (id, kind, name, created_at) select gen_random_uuid(), 'guest', 'x', now()
            from generate_series(1, $1 - (select count(*) from player_report join one using (network)))
            returning id
        )
        insert into player_report (id, reporter_id, reported_id, reporter_name, reported_name, network, reason, created_at)
        select gen_random_uuid(), others.id, one.reported_id, 'x', 'x', one.network, 'name', one.created_at - interval '1 hour'
        from one, others";
    sqlx::query(reports).bind(i64::from(count)).execute(&app.db).await.expect("reports come");
}

#[actix_web::test]
async fn an_account_keeps_two_reports_in_a_network_that_has_used_its_own() {
    let app = TestApp::start_with_networks().await;
    let (school, home) = ("198.51.100.7", "192.0.2.1");
    let (ana, bo, cy) =
        (account_elsewhere(&app, 1).await, account_elsewhere(&app, 2).await, account_elsewhere(&app, 3).await);
    let guest = app.guest_at(school).await;
    let mut bad = vec![];
    for _ in 0..=ACCOUNT_REPORTS_KEPT {
        bad.push(app.guest_at("203.0.113.200").await);
    }
    // Reports of accounts count for their network: with this one it has made all but one.
    assert_eq!(report_at(&app, school, &cy, &bad[0].id).await.status, 201);
    fill_up(&app, NETWORK_REPORTS_MAX - 1).await;
    assert_eq!(report_at(&app, school, &guest, &bad[0].id).await.status, 201);
    report_at(&app, school, &guest, &bad[1].id).await.is_problem(429, "rate_limited");
    // Two of each account are left, those before included.
    for player in &bad[..ACCOUNT_REPORTS_KEPT as usize] {
        assert_eq!(report_at(&app, school, &ana, &player.id).await.status, 201);
    }
    assert_eq!(report_at(&app, school, &cy, &bad[1].id).await.status, 201);
    for account in [&ana, &cy] {
        let refused = report_at(&app, school, account, &bad[2].id).await;
        refused.is_problem(429, "rate_limited");
        // There is room when the copies are a day old, an hour before the account's own.
        let seconds: u64 = refused.headers["retry-after"].to_str().expect("text").parse().expect("a number");
        assert!((82_000..=82_801).contains(&seconds), "{seconds}");
    }
    assert_eq!(report_at(&app, home, &ana, &bad[2].id).await.status, 201);
    // The quota of all accounts of the network has room for one more report.
    fill_up(&app, NETWORK_REPORTS_KEPT_MAX - 1).await;
    assert_eq!(report_at(&app, school, &bo, &bad[0].id).await.status, 201);
    report_at(&app, school, &bo, &bad[1].id).await.is_problem(429, "rate_limited");
    assert_eq!(report_at(&app, home, &bo, &bad[1].id).await.status, 201);
}

#[actix_web::test]
async fn the_networks_of_reports_are_exported_and_forgotten_after_a_day() {
    let app = TestApp::start_with_networks().await;
    let (guest, bad) = (app.guest_at("198.51.100.7").await, app.guest_at("203.0.113.9").await);
    let (ana, merged) = (account_elsewhere(&app, 1).await, app.guest_at("198.51.100.7").await);
    for reporter in [&guest, &ana, &merged] {
        assert_eq!(report_at(&app, "198.51.100.7", reporter, &bad.id).await.status, 201);
    }
    let networks = async |player: &Guest| app.get("/v1/me/export", Some(player)).await.body["report_networks"].clone();
    let own = app.get("/v1/me/export", Some(&guest)).await.body["network"].clone();
    assert_eq!((networks(&guest).await, networks(&ana).await), (json!([own]), json!([own])));
    // Neither a password nor a merge makes room in a network.
    assert_eq!(app.patch("/v1/me", Some(&guest), &json!({"name": "Bo", "password": PASSWORD})).await.status, 200);
    let token = json!({"guest_token": merged.token});
    assert_eq!(app.post("/v1/me/merge", Some(&ana), &token).await.status, 200);
    let settings = purge::Settings { guest_retention: None };
    for (hours, left) in [(23, 3), (25, 0)] {
        let later = now() + time::Duration::hours(hours);
        purge::run(&app.db, settings, &mut purge::Guests::default(), later).await.expect("a database");
        assert_eq!(count_rows(&app, "player_report where network is not null").await, left, "{hours}");
    }
    assert_eq!(networks(&ana).await, json!([]));
}

#[actix_web::test]
async fn an_erasure_leaves_no_report_by_a_player_or_about_it() {
    let app = TestApp::start().await;
    let (ana, bo, cy) = (app.guest("Ana").await, app.account("Bo", PASSWORD).await, app.guest("Cy").await);
    let spam = json!({"reason": "spam"});
    for (reporter, player) in [(&ana, &bo), (&bo, &ana), (&bo, &cy), (&cy, &bo), (&cy, &ana)] {
        assert_eq!(report(&app, reporter, &player.id, &spam).await.status, 201);
    }
    assert_eq!(app.delete_me(&ana).await.status, 204);
    assert_eq!(rows(&app).await, [(bo.id.clone(), cy.id.clone()), (cy.id.clone(), bo.id.clone())]);
    // The release before knows no reports, and erases so.
    let erased = "update player set kind = 'deleted', name = 'Deleted player' where id = $1::uuid";
    sqlx::query(erased).bind(&bo.id).execute(&app.db).await.expect("the player is erased");
    assert_eq!(rows(&app).await, []);
    // A guest that is purged takes its reports along.
    assert_eq!(report(&app, &cy, &app.guest("Di").await.id, &spam).await.status, 201);
    players::purge_guests(&app.db, now() + time::Duration::days(400), None, 100).await.expect("guests go");
    assert_eq!(rows(&app).await, []);
}

#[actix_web::test]
async fn reports_and_erasures_at_once_leave_no_report_of_an_erased_player() {
    let app = TestApp::start().await;
    let (ana, spam) = (app.guest("Ana").await, json!({"reason": "spam"}));
    for _ in 0..10 {
        let bo = app.guest("Bo").await;
        let (made, own, erased) = futures_util::future::join3(
            report(&app, &ana, &bo.id, &spam),
            report(&app, &bo, &ana.id, &spam),
            app.delete_me(&bo),
        )
        .await;
        assert_eq!(erased.status, 204);
        assert!([201, 403].contains(&made.status.as_u16()), "{made:?}");
        assert!([201, 401].contains(&own.status.as_u16()), "{own:?}");
        assert_eq!(rows(&app).await, []);
    }
}

#[actix_web::test]
async fn an_account_takes_over_the_reports_of_a_guest_and_those_about_it() {
    let app = TestApp::start().await;
    let (guest, ana) = (app.guest("Guest").await, app.account("Ana", PASSWORD).await);
    let (bo, cy) = (app.guest("Bo").await, app.guest("Cy").await);
    let stalling = json!({"reason": "stalling"});
    // Both the guest and the account about Bo; each other; only the guest about Cy, and Cy about the guest.
    for (reporter, player) in [(&guest, &bo), (&ana, &bo), (&guest, &ana), (&ana, &guest), (&guest, &cy), (&cy, &guest)]
    {
        assert_eq!(report(&app, reporter, &player.id, &stalling).await.status, 201);
    }
    for _ in 0..2 {
        let merged = app.post("/v1/me/merge", Some(&ana), &json!({"guest_token": guest.token})).await;
        assert_eq!(merged.status, 200, "{merged:?}");
        let pairs = [(&ana, &bo), (&ana, &bo), (&ana, &cy), (&cy, &ana)];
        let expected = pairs.map(|(reporter, player)| (reporter.id.clone(), player.id.clone()));
        assert_eq!(rows(&app).await, expected);
    }
    // The guest's report about Bo is closed, because the account's own is open.
    let closed = "player_report where closed_at is not null and reported_name = 'Bo' and reporter_name = 'Guest'";
    assert_eq!(
        (count_rows(&app, closed).await, count_rows(&app, "player_report where closed_at is null").await),
        (1, 3)
    );
    let names = "player_report where reported_name = 'Guest'";
    assert_eq!(count_rows(&app, names).await, 1, "the name is that of the time of the report");
    report(&app, &bo, &guest.id, &stalling).await.is_problem(403, "forbidden");
    let answer = send(signed(app.request(Method::GET, "/v1/me/export"), Some(&ana))).await;
    assert_eq!(answer.body["reports"].as_array().map(Vec::len), Some(3));
}

#[actix_web::test]
async fn reports_and_merges_at_once_wait_for_each_other_and_end() {
    let app = TestApp::start().await;
    let spam = json!({"reason": "spam"});
    for _ in 0..10 {
        let (cy, guest) = (app.guest("Cy").await, app.guest("Guest").await);
        let ana = app.account(&format!("Ana {}", &guest.id[24..]), PASSWORD).await;
        // The merge locks those who have reported the guest, while they report the guest or the account.
        let game = app.started_between(&cy, &guest, &json!({})).await;
        assert_eq!(report(&app, &cy, &guest.id, &json!({"reason": "spam", "game_id": game})).await.status, 201);
        let token = json!({"guest_token": guest.token});
        let (merged, about_guest, about_account, own) = futures_util::future::join4(
            app.post("/v1/me/merge", Some(&ana), &token),
            report(&app, &cy, &guest.id, &spam),
            report(&app, &cy, &ana.id, &spam),
            report(&app, &guest, &cy.id, &spam),
        )
        .await;
        assert_eq!(merged.status, 200, "{merged:?}");
        // The one about the guest may have become one about the account.
        assert!([200, 201].contains(&about_account.status.as_u16()), "{about_account:?}");
        assert!([201, 403].contains(&about_guest.status.as_u16()), "{about_guest:?}");
        assert!([201, 401].contains(&own.status.as_u16()), "{own:?}");
        assert!(rows(&app).await.iter().all(|(reporter, reported)| ![reporter, reported].contains(&&guest.id)));
    }
}
