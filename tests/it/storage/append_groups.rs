//! Appends that share one statement: the failure of one harms no other.

use std::{
    cell::Cell,
    iter,
    time::{Duration, Instant},
};

use futures_util::{
    StreamExt,
    future::{join, join_all, join3},
    stream::FuturesUnordered,
};
use reqwest::{Client, RequestBuilder};
use serde_json::json;
use sqlx::{AssertSqlSafe, ConnectOptions, PgConnection};
use uuid::Uuid;

use crate::support::{
    answer::Answer,
    app::{TestApp, writers},
    calls::{Guest, send},
    clock::{until, until_async, until_some},
    database::until_lock_wait,
    scrape::sample,
};

/// Moves that go together in most tests: not so many that the servers of several tests need more connections than the tests'
/// PostgreSQL has.
pub(super) const TOGETHER: usize = 20;

/// "Within about a second" on a busy machine: the group waits for a lock once, and an append that is retried alone once more.
const ABOUT_A_SECOND: Duration = Duration::from_secs(2);

/// An append waits three seconds for its turn, and may be tried once more then.
const A_TURN: Duration = Duration::from_millis(4500);

/// So many games of one player against oneself, in the order in which a group has them.
pub(super) async fn games_of(app: &TestApp, guest: &Guest, count: usize) -> Vec<String> {
    let body = json!({"variant": "kalah", "opponent": {"type": "self"}});
    let mut ids = vec![];
    // The games are created one after the other: all at once they would take a connection each, as would those of the other
    // tests.
    while ids.len() < count {
        ids.push(app.created(guest, &body).await["id"].as_str().expect("an id").to_owned());
    }
    ids.sort();
    ids
}

/// Holds up the next append of these games in the middle of its statement, until the gate is opened for them. After
/// five seconds at most, the statement runs out of time.
pub(super) async fn shut_gate(app: &TestApp, games: &[&String]) {
    let names: Vec<_> = games.iter().map(|game| format!("'{game}'")).collect();
    let gate = format!(
        "create table opened (game_id uuid);
         create function wait_at_gate() returns trigger language plpgsql as $$ begin
             while not exists (select from opened where game_id = new.game_id) loop perform pg_sleep(0.001); end loop;
             return new;
         end $$;
         create trigger gate before insert on event for each row when (new.game_id in ({}))
             execute function wait_at_gate()",
        names.join(", ")
    );
    sqlx::raw_sql(AssertSqlSafe(gate)).execute(&app.db).await.expect("there is a gate");
}

pub(super) async fn open_gate(app: &TestApp, game: &str) {
    sqlx::query("insert into opened values ($1)").bind(id(game)).execute(&app.db).await.expect("the gate opens");
}

fn id(game: &str) -> Uuid {
    game.parse().expect("an id")
}

/// What is counted under a name.
pub(super) fn counted(app: &TestApp, name: &str) -> usize {
    let text = app.metrics.text();
    format!("{:.0}", sample(&text, name)).parse().expect("a count")
}

pub(super) fn queued(app: &TestApp) -> usize {
    counted(app, "mancala_appends_queued")
}

/// Plays the first move of a game, which is held up at the gate. When it is, other moves begin, and wait for the
/// writer. Once so many wait, something is done, and the gate is opened: then they go together. The first game's move
/// is always stored.
pub(super) async fn together<T, U>(
    app: &TestApp,
    (guest, first): (&Guest, &str),
    (count, moving): (usize, impl Future<Output = T>),
    meanwhile: impl Future<Output = U>,
) -> (T, U) {
    let begun = queued(app);
    let moving = async {
        // Not when a writer has taken it: that may have to connect first, and other sessions would go before.
        until_inserting(app).await;
        moving.await
    };
    let opening = async {
        until("they wait for the writer", || queued(app) == begun + count).await;
        let done = meanwhile.await;
        open_gate(app, first).await;
        done
    };
    let (played, moved, done) = join3(app.play_move(first, guest, 1, "A"), moving, opening).await;
    assert_eq!(played.status, 201, "{played:?}");
    (moved, done)
}

/// The first move of each game, at once.
pub(super) fn all_move<'a>(
    app: &'a TestApp,
    guest: &'a Guest,
    games: &'a [String],
) -> (usize, impl Future<Output = Vec<Answer>> + 'a) {
    (games.len(), join_all(games.iter().map(|game| app.play_move(game, guest, 1, "A"))))
}

/// A test's games: one that is held up at the gate, and those of which the moves wait for it.
pub(super) async fn prepared(count: usize) -> (TestApp, Guest, String, Vec<String>) {
    prepared_at(TestApp::start().await, count, &[]).await
}

/// The same at a server that was started otherwise; some of the games are held up at the gate as well.
pub(super) async fn prepared_at(app: TestApp, count: usize, also: &[usize]) -> (TestApp, Guest, String, Vec<String>) {
    let ana = app.guest("Ana").await;
    let mut games = games_of(&app, &ana, count + 1).await;
    let held = games.remove(0);
    let gated: Vec<_> = iter::once(&held).chain(also.iter().map(|n| &games[*n])).collect();
    shut_gate(&app, &gated).await;
    (app, ana, held, games)
}

/// Asserts that each game has exactly its first ply.
pub(super) async fn each_has_one_ply(app: &TestApp, games: &[String]) {
    for game in games {
        let history = app.list_moves(game, "", None).await.body;
        assert_eq!(history["items"].as_array().map(Vec::len), Some(1), "{history}");
        let shown = app.get_game(game, None).await;
        assert_eq!(shown.body["version"], 2, "{shown:?}");
    }
}

/// The first move of a game, at some server.
pub(super) fn first_move(client: &Client, base: &str, game: &str, guest: &Guest) -> RequestBuilder {
    let request = client.post(format!("{base}/v1/games/{game}/moves")).bearer_auth(&guest.token);
    request.json(&json!({"ply": 1, "move": "A"}))
}

pub(super) fn statuses(answers: &[Answer]) -> Vec<u16> {
    answers.iter().map(|answer| answer.status.as_u16()).collect()
}

/// Another session, with a transaction that has done this.
async fn session_that(app: &TestApp, statements: &str) -> PgConnection {
    let mut session = app.options.connect().await.expect("PostgreSQL runs");
    run(&mut session, &format!("begin; {statements}")).await;
    session
}

async fn run(session: &mut PgConnection, statements: &str) {
    sqlx::raw_sql(AssertSqlSafe(statements)).execute(session).await.expect("the statements are right");
}

/// An event that is in the way of a game's second.
fn event_in_the_way(game: &str) -> String {
    format!("insert into event (game_id, at, seq, kind) values ('{game}', now(), 2, 'moved')")
}

#[actix_web::test]
async fn moves_that_come_while_one_is_under_way_go_together_and_no_more_than_64() {
    let (app, ana, held, games) = prepared(100).await;
    let before = (counted(&app, "mancala_append_group_size_count"), counted(&app, "mancala_append_group_size_sum"));
    let (answers, ()) = together(&app, (&ana, &held), all_move(&app, &ana, &games), async {}).await;
    assert_eq!(statuses(&answers), [201; 100]);
    let after = (counted(&app, "mancala_append_group_size_count"), counted(&app, "mancala_append_group_size_sum"));
    // The first alone, 64, and the rest.
    assert_eq!((after.0 - before.0, after.1 - before.1), (3, 101));
    assert_eq!(counted(&app, "mancala_append_group_size_bucket{le=\"32.0\"}"), 1);
    assert_eq!(counted(&app, "mancala_retries_total"), 0);
    each_has_one_ply(&app, &games).await;
}

#[actix_web::test]
async fn of_several_queued_moves_of_one_game_exactly_one_is_played() {
    let (app, ana, held, games) = prepared(TOGETHER).await;
    let (raced, others) = games.split_first().expect("a game");
    let racing = join_all((0..10).map(|n| app.play_move(raced, &ana, 1, ["A", "B"][n % 2])));
    let moving =
        (others.len() + 10, join(racing, join_all(others.iter().map(|game| app.play_move(game, &ana, 1, "A")))));
    let ((raced_answers, answers), ()) = together(&app, (&ana, &held), moving, async {}).await;
    assert_eq!(statuses(&answers), [201; TOGETHER - 1]);
    let mut found = statuses(&raced_answers);
    found.sort_unstable();
    assert_eq!(found, [[200; 4].as_slice(), &[201], &[409; 5]].concat());
    each_has_one_ply(&app, &games).await;
}

#[actix_web::test]
async fn a_conflict_fails_its_own_move_and_the_rest_of_the_group_is_stored() {
    let (app, ana, held, games) = prepared(TOGETHER).await;
    let (other, _) = app.second_server_with(|_| {});
    let elsewhere = async |game: &str, mv: &str| {
        let request = Client::new().post(format!("http://{other}/v1/games/{game}/moves")).bearer_auth(&ana.token);
        assert_eq!(send(request.json(&json!({"ply": 1, "move": mv}))).await.status, 201);
    };
    let meanwhile = async {
        elsewhere(&games[3], "A").await;
        elsewhere(&games[17], "B").await;
    };
    let (answers, ()) = together(&app, (&ana, &held), all_move(&app, &ana, &games), meanwhile).await;
    for (n, answer) in answers.iter().enumerate() {
        match n {
            3 => assert_eq!(answer.status, 200, "{answer:?}"),
            17 => {
                answer.is_problem(409, "stale_ply");
                assert_eq!((&answer.body["moves"][0]["move"], &answer.body["game"]["ply"]), (&json!("B"), &json!(1)));
            }
            _ => assert_eq!(answer.status, 201, "{answer:?}"),
        }
    }
    assert_eq!(counted(&app, "mancala_appends_total{outcome=\"conflict\"}"), 2);
    assert_eq!(counted(&app, "mancala_appends_total{outcome=\"failed\"}"), 0);
    assert_eq!(counted(&app, "mancala_retries_total"), 2);
    each_has_one_ply(&app, &games).await;
}

#[actix_web::test]
async fn an_event_that_is_in_the_way_of_one_game_fails_its_mover_alone() {
    let (app, ana, held, games) = prepared(TOGETHER).await;
    sqlx::raw_sql(AssertSqlSafe(event_in_the_way(&games[9]))).execute(&app.db).await.expect("it is in the way");
    let (answers, ()) = together(&app, (&ana, &held), all_move(&app, &ana, &games), async {}).await;
    for (n, answer) in answers.iter().enumerate() {
        if n == 9 {
            answer.is_problem(500, "internal");
        } else {
            assert_eq!(answer.status, 201, "{answer:?}");
        }
    }
    assert_eq!(counted(&app, "mancala_appends_total{outcome=\"failed\"}"), 1);
    let out_of_the_way = "delete from event where game_id = $1 and seq = 2";
    sqlx::query(out_of_the_way).bind(id(&games[9])).execute(&app.db).await.expect("it goes");
    assert_eq!(app.play_move(&games[9], &ana, 1, "A").await.status, 201);
    each_has_one_ply(&app, &games).await;
}

#[actix_web::test]
async fn locked_rows_delay_the_rest_of_their_group_by_about_a_second() {
    // Few or most of a group: an append of an unlocked row does not wait for each locked one.
    for locked in [1, 15] {
        let (app, ana, held, games) = prepared(TOGETHER).await;
        let (locked, free) = games.split_at(locked);
        let names: Vec<_> = locked.iter().map(|game| format!("'{game}'")).collect();
        let lock = format!("select from game where id in ({}) for update", names.join(", "));
        let mut holder = session_that(&app, &lock).await;
        let moving = async {
            let ((_, of_locked), (_, of_free)) = (all_move(&app, &ana, locked), all_move(&app, &ana, free));
            let free_first = async {
                let answers = of_free.await;
                let answered = Instant::now();
                // The movers of the others still try.
                run(&mut holder, "rollback").await;
                (answers, answered)
            };
            join(of_locked, free_first).await
        };
        let ((of_locked, (of_free, answered)), opened) =
            together(&app, (&ana, &held), (TOGETHER, moving), async { Instant::now() }).await;
        assert!(of_free.iter().all(|answer| answer.status == 201), "{of_free:?}");
        assert!(answered - opened < ABOUT_A_SECOND, "{:?}", answered - opened);
        assert!(of_locked.iter().all(|answer| answer.status == 201), "{of_locked:?}");
        each_has_one_ply(&app, &games).await;
    }
}

#[actix_web::test]
async fn while_storing_is_blocked_no_move_waits_beyond_the_queues_timeout() {
    let (app, ana, held, games) = prepared(TOGETHER).await;
    // Before a move is held at the gate, which lasts five seconds at most.
    let mut session = app.options.connect().await.expect("PostgreSQL runs");
    let locker = Cell::new(None);
    let locking = async {
        locker.set(Some(actix_web::rt::spawn(async move {
            run(&mut session, "begin; lock table event in exclusive mode").await;
            session
        })));
        // Then it is granted when the statement that is under way ends, before the group's.
        until_lock_wait(&app).await;
        Instant::now()
    };
    let moving = async {
        let mut moves: FuturesUnordered<_> = games.iter().map(|game| app.play_move(game, &ana, 1, "A")).collect();
        let (first, answered) = (moves.next().await.expect("a move"), Instant::now());
        let session = locker.take().expect("it was asked for before the gate was opened");
        run(&mut session.await.expect("it is held"), "rollback").await;
        (first, answered, moves.collect::<Vec<_>>().await)
    };
    let ((first, answered, others), opened) = together(&app, (&ana, &held), (TOGETHER, moving), locking).await;
    first.is_problem(503, "unavailable");
    assert!(answered - opened < A_TURN, "{:?}", answered - opened);
    assert!(others.iter().all(|answer| [201, 503].contains(&answer.status.as_u16())), "{others:?}");
    for game in &games {
        let again = app.play_move(game, &ana, 1, "A").await;
        assert!(again.status.is_success(), "{again:?}");
    }
    each_has_one_ply(&app, &games).await;
}

#[actix_web::test]
async fn a_move_of_a_row_that_stays_locked_is_refused_with_a_retry_after() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let games = games_of(&app, &ana, 2).await;
    let mut holder = session_that(&app, &format!("select from game where id = '{}' for update", games[0])).await;
    let refused = app.play_move(&games[0], &ana, 1, "A").await;
    refused.is_problem(503, "unavailable");
    assert!(refused.headers.contains_key("retry-after"));
    assert_eq!(app.play_move(&games[1], &ana, 1, "A").await.status, 201);
    run(&mut holder, "rollback").await;
    assert_eq!(app.play_move(&games[0], &ana, 1, "A").await.status, 201);
    each_has_one_ply(&app, &games).await;
}

#[actix_web::test]
async fn a_deadlock_with_another_process_loses_no_move() {
    let app = TestApp::start().await;
    // PostgreSQL looks for deadlocks before the lock times out, so this is a deadlock and no timeout.
    let database = app.options.get_database().expect("a name").to_owned();
    run(&mut app.superuser().await, &format!("alter database {database} set deadlock_timeout = '50ms'")).await;
    // The group is held up once more, where it has all rows and has inserted nothing yet.
    let (app, ana, held, games) = prepared_at(app, TOGETHER, &[0]).await;
    let (mine, theirs) = (&games[12], &games[15]);
    let mut superuser = app.options.clone().username("postgres").connect().await.expect("PostgreSQL runs");
    // The deadlock is not found by the other process.
    run(&mut superuser, &format!("set deadlock_timeout = '60s'; begin; {}", event_in_the_way(theirs))).await;
    let pid = sqlx::query_scalar("select pg_backend_pid()").fetch_one(&mut superuser).await.expect("it has one");
    let crossing = async {
        open_gate(&app, &held).await;
        until("the group is under way", || queued(&app) == 0).await;
        until_inserting(&app).await;
        let wait = format!("update game set version = version where id = '{mine}'");
        let opening = async {
            until_blocked(&app, pid).await;
            open_gate(&app, &games[0]).await;
        };
        join(run(&mut superuser, &wait), opening).await;
        // PostgreSQL has ended the writer's transaction, so that the superuser's got its lock.
        run(&mut superuser, "rollback").await;
    };
    let (answers, ()) = together(&app, (&ana, &held), all_move(&app, &ana, &games), crossing).await;
    assert_eq!(statuses(&answers), [201; TOGETHER]);
    each_has_one_ply(&app, &games).await;
    // Sessions report their statistics within seconds, or when they end.
    let end = "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1";
    sqlx::query(end).bind(&database).execute(&mut app.superuser().await).await.expect("they end");
    let mut session = app.options.connect().await.expect("PostgreSQL runs");
    let deadlocks = "select deadlocks from pg_stat_database where datname = current_database()";
    until_async("the deadlock is counted", async || {
        sqlx::query_scalar::<_, i64>(deadlocks).fetch_one(&mut session).await.expect("a count") > 0
    })
    .await;
}

#[actix_web::test]
async fn a_full_queue_refuses_new_appends_and_keeps_the_queued_ones() {
    let (app, ana, held, games) = prepared_at(
        TestApp::start_with(|service| service.writers = writers(&service.database, 5)).await,
        TOGETHER,
        &[],
    )
    .await;
    let moving = async { (join_all(games.iter().map(|game| app.play_move(game, &ana, 1, "A")))).await };
    let turned_away = async {
        let refused = || counted(&app, "mancala_http_refusals_total{code=\"unavailable\"}");
        until("the others are turned away", || refused() == TOGETHER - 5).await;
    };
    let (answers, ()) = together(&app, (&ana, &held), (5, moving), turned_away).await;
    let mut stored = 0;
    for (game, answer) in games.iter().zip(answers) {
        if answer.status == 201 {
            stored += 1;
        } else {
            answer.is_problem(503, "unavailable");
            assert!(answer.headers["retry-after"].to_str().expect("text").parse::<u32>().expect("seconds") > 0);
            assert_eq!(app.play_move(game, &ana, 1, "A").await.status, 201);
        }
    }
    assert_eq!(stored, 5);
    each_has_one_ply(&app, &games).await;
}

/// Waits until an append is held up at the gate, and says which process of PostgreSQL's does it.
pub(super) async fn until_inserting(app: &TestApp) -> i32 {
    let held_up = "select pid from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'";
    let look = async || sqlx::query_scalar::<_, i32>(held_up).fetch_optional(&app.db).await.expect("an answer");
    until_some("an append comes to the gate", look).await
}

/// Waits until any session waits for a lock.
async fn until_blocked(app: &TestApp, pid: i32) {
    let blocked = "select exists (select from pg_locks where pid = $1 and not granted)";
    until_async("it waits for a lock", async || {
        sqlx::query_scalar::<_, bool>(blocked).bind(pid).fetch_one(&app.db).await.expect("an answer")
    })
    .await;
}
