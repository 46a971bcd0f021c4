//! Limits of games against the computer: how many a player has, whose turn comes first, and when an abandoned game ends.

use mancala_server::{
    db::games::computer_turns::{self, ComputerTurn, Waits},
    jobs::{abandonment, computers},
};
use serde_json::{Value, json};
use time::Duration;

use crate::support::{app::TestApp, calls::Guest, clock::now, database::count_rows, job::Job};

/// A game in which the computer is to move, or the player as South.
fn against(side: &str) -> Value {
    json!({"variant": "kalah", "side": side, "opponent": {"type": "computer", "level": 8}})
}

async fn create(app: &TestApp, player: &Guest, side: &str) -> String {
    app.created(player, &against(side)).await["id"].as_str().expect("an id").to_owned()
}

/// A refused game: what the answer says.
async fn refused(app: &TestApp, player: &Guest) -> String {
    let answer = app.create_game(player, &against("north")).await;
    answer.is_problem(409, "too_many_games");
    answer.string("/detail")
}

async fn take(app: &TestApp) -> ComputerTurn {
    computer_turns::take(&app.db, now(), now() + Duration::minutes(1)).await.expect("a database").expect("a turn")
}

/// Makes all turns as if they had come just now, in the order of their games, however long the test has taken.
pub async fn as_if_new(app: &TestApp) {
    let renew = "update computer_turn set waits_since = now() + place * interval '1 ms'
        from (select game_id, row_number() over (order by game_id) as place from computer_turn) placed
        where computer_turn.game_id = placed.game_id";
    sqlx::query(renew).execute(&app.db).await.expect("rows");
}

#[actix_web::test]
async fn a_guest_has_few_games_against_the_computer_and_an_account_more() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.account("Bo", "correct horse").await);
    let first = create(&app, &ana, "south").await;
    for player in [&ana, &ana, &bo, &bo, &bo, &bo] {
        create(&app, player, "south").await;
    }
    assert_eq!(refused(&app, &ana).await, "a guest has at most 3 games against the computer that are not over");
    // Others are not refused, nor games of other kinds, and a game that is over makes room.
    app.created(&ana, &json!({"variant": "kalah"})).await;
    assert_eq!(app.resign_game(&first, &ana).await.status, 200);
    create(&app, &ana, "south").await;
    refused(&app, &ana).await;
    assert_eq!(count_rows(&app, "computer_game").await, 7);
    for _ in 4..50 {
        create(&app, &bo, "south").await;
    }
    assert_eq!(refused(&app, &bo).await, "a player has at most 50 games against the computer that are not over");
}

#[actix_web::test]
async fn the_guests_of_a_network_share_a_limit_of_games() {
    let app = TestApp::start_with_networks().await;
    let (ana, bo, cleo) = (
        app.guest_at("2001:db8:1:2::3").await,
        app.guest_at("2001:db8:1:4::5").await,
        app.guest_at("2001:db8:2::1").await,
    );
    for player in [&ana, &ana, &ana, &bo] {
        create(&app, player, "south").await;
    }
    assert_eq!(
        refused(&app, &bo).await,
        "the guests and new accounts of one network have at most 4 games against the computer that are not over"
    );
    create(&app, &cleo, "south").await;
    // A guest that becomes an account shares as before, and an account that is no longer new with none.
    let changed = app.patch("/v1/me", Some(&ana), &json!({"name": "Ana", "password": "correct horse"})).await;
    let ana = Guest { token: changed.string("/tokens/access_token"), ..ana };
    refused(&app, &ana).await;
    let dee = app.established_account("Dee").await;
    for _ in 0..5 {
        create(&app, &dee, "south").await;
    }
}

#[actix_web::test]
async fn guests_of_a_network_have_one_turn_in_a_round_and_accounts_are_first() {
    let app = TestApp::start_with_networks().await;
    let mut games = vec![];
    games.push(create(&app, &app.account_at("New", "192.0.2.1").await, "north").await);
    for _ in 0..2 {
        games.push(create(&app, &app.guest_at("192.0.2.1").await, "north").await);
    }
    games.push(create(&app, &app.guest_at("192.0.2.2").await, "north").await);
    games.push(create(&app, &app.established_account("Ana").await, "north").await);
    as_if_new(&app).await;
    let mut order = vec![];
    for _ in 0..5 {
        let game = take(&app).await.game.0.to_string();
        order.push(games.iter().position(|id| *id == game).expect("it is known"));
    }
    assert_eq!(order, [4, 0, 3, 1, 2]);
}

#[actix_web::test]
async fn a_guest_who_has_waited_is_before_an_account() {
    let app = TestApp::start_with_networks().await;
    let (ana, bo) = (app.guest_at("192.0.2.1").await, app.account("Bo", "correct horse").await);
    let waiting = create(&app, &ana, "north").await;
    create(&app, &bo, "north").await;
    as_if_new(&app).await;
    sqlx::query("update computer_turn set waits_since = waits_since - interval '2 s' where game_id = $1::uuid")
        .bind(&waiting)
        .execute(&app.db)
        .await
        .expect("a row");
    assert_eq!(take(&app).await.game.0.to_string(), waiting);
}

#[actix_web::test]
async fn new_players_do_not_keep_a_turn_of_a_later_round_waiting() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.account("Ana", "correct horse").await, app.account("Bo", "correct horse").await);
    let mut games = vec![create(&app, &ana, "north").await, create(&app, &ana, "north").await];
    sqlx::query("update computer_turn set waits_since = waits_since - interval '5 s'")
        .execute(&app.db)
        .await
        .expect("rows");
    let first = take(&app).await;
    games.push(create(&app, &bo, "north").await);
    let order = [first, take(&app).await, take(&app).await].map(|turn| turn.game.0.to_string());
    assert_eq!(order.as_slice(), games);
}

#[actix_web::test]
async fn the_time_of_a_turn_is_shared_by_its_round_and_by_its_network() {
    let app = TestApp::start_with_networks().await;
    let (ana, bo) = (app.guest_at("192.0.2.1").await, app.guest_at("192.0.2.1").await);
    for player in [&ana, &ana, &bo, &app.guest_at("192.0.2.2").await] {
        create(&app, player, "north").await;
    }
    let turn = take(&app).await;
    let Waits { of_round, of_place } = computer_turns::waits(&app.db, turn).await.expect("a database");
    assert_eq!((of_round.len(), of_place.len()), (2, 3));
    assert!(of_place[0] >= of_place[2], "{of_place:?}");
    computer_turns::end(&app.db, turn).await.expect("a database");
    assert_eq!(computer_turns::waits(&app.db, turn).await.expect("a database"), Waits::default());
}

#[actix_web::test]
async fn an_abandoned_game_of_a_guest_against_the_computer_ends() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.account("Bo", "correct horse").await);
    let (pool, writers, metrics) =
        (mancala_server::db::pool(app.options.clone(), 1), app.writers.clone(), app.metrics.clone());
    let playing = Job::start(|stopping| computers::run(pool, writers, metrics, stopping));
    let (unmoved, moved, of_account) =
        (create(&app, &ana, "south").await, create(&app, &ana, "south").await, create(&app, &bo, "south").await);
    assert_eq!(app.play_move(&moved, &ana, 1, "A").await.status, 201);
    let mut turns = 1;
    while turns > 0 {
        turns = count_rows(&app, "computer_turn").await;
    }
    playing.end().await;
    let computers = create(&app, &ana, "north").await;
    let end = async |days: i64| {
        let (mut scan, now) = (abandonment::Scan::default(), now() + Duration::days(days));
        let after = Some(Duration::days(7));
        abandonment::end_games(&app.db, &app.writers, after, &mut scan, now).await.expect("a round");
    };
    let status = async |id: &str| app.get_game(id, None).await.body["status"].as_str().expect("text").to_owned();
    end(6).await;
    for id in [&unmoved, &moved, &of_account, &computers] {
        assert_eq!(status(id).await, "active");
    }
    // A guest who may not move has abandoned nothing.
    let stop = "insert into player_suspension (player_id, reason, begun_at, until, games, changed_at)
        select id, 'x', now(), now() + interval '3 days', 'stop', now() from player where name = 'Ana'";
    sqlx::query(stop).execute(&app.db).await.expect("the guest is stopped");
    end(8).await;
    assert_eq!([status(&unmoved).await, status(&moved).await], ["active", "active"]);
    // A guest that has had no time to move since its suspension has not abandoned its game either.
    for (hours, found) in [(36, "active"), (0, "aborted")] {
        let lift = "update player_suspension set lifted_at = now() + make_interval(hours => $1)";
        sqlx::query(lift).bind(hours).execute(&app.db).await.expect("it is lifted");
        end(8).await;
        assert_eq!(status(&unmoved).await, found);
    }
    assert_eq!([status(&unmoved).await, status(&moved).await], ["aborted", "finished"]);
    assert_eq!([status(&of_account).await, status(&computers).await], ["active", "active"]);
    assert_eq!(app.get_game(&moved, None).await.body["result"]["reason"], "resignation");
    // Games that are over count no more, and the next scan deletes what is stored about them.
    assert_eq!(count_rows(&app, "computer_game").await, 4);
    end(8).await;
    assert_eq!(count_rows(&app, "computer_game").await, 2);
}

#[actix_web::test]
async fn a_scan_for_abandoned_games_pauses_between_two_passes() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let mut scan = abandonment::Scan::default();
    let later = async |scan: &mut abandonment::Scan, hours: i64| {
        let (after, now) = (Some(Duration::days(7)), now() + Duration::days(8) + Duration::hours(hours));
        abandonment::end_games(&app.db, &app.writers, after, scan, now).await.expect("a round");
    };
    later(&mut scan, 0).await;
    let id = create(&app, &ana, "south").await;
    later(&mut scan, 0).await;
    assert_eq!(app.get_game(&id, None).await.body["status"], "active");
    later(&mut scan, 2).await;
    assert_eq!(app.get_game(&id, None).await.body["status"], "aborted");
}
