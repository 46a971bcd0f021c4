//! Appends whose connection, client or server goes: an acknowledged move is stored, and none is stored twice.

use std::{
    cell::RefCell,
    env, fs, iter,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use futures_util::future::{join_all, join3};
use mancala_server::db::Writers;
use nix::sys::signal::Signal;
use reqwest::Client;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{UnixListener, UnixStream},
    task::JoinHandle,
};
use uuid::Uuid;

use super::append_groups::{
    TOGETHER, all_move, counted, each_has_one_ply, first_move, games_of, open_gate, prepared, prepared_at, queued,
    shut_gate, statuses, together, until_inserting,
};
use crate::support::{
    app::{TestApp, writers},
    binary::{Running, until_connections_refused, url},
    calls::send,
    clock::until,
    scrape::{sample, until_line},
};

#[actix_web::test]
async fn a_lost_connection_loses_no_move() {
    let (app, ana, held, games) = prepared_at(TestApp::start().await, TOGETHER, &[7]).await;
    let ending = async {
        open_gate(&app, &held).await;
        until("the group is under way", || queued(&app) == 0).await;
        let pid = until_inserting(&app).await;
        sqlx::query("select pg_terminate_backend($1)").bind(pid).execute(&app.db).await.expect("it ends");
        open_gate(&app, &games[7]).await;
    };
    let (answers, ()) = together(&app, (&ana, &held), all_move(&app, &ana, &games), ending).await;
    assert_eq!(statuses(&answers), [201; TOGETHER]);
    assert_eq!(counted(&app, "mancala_appends_total{outcome=\"failed\"}"), TOGETHER);
    assert_eq!(counted(&app, "mancala_retries_total"), TOGETHER);
    each_has_one_ply(&app, &games).await;
}

#[actix_web::test]
async fn a_group_that_was_stored_as_its_connection_broke_is_acknowledged() {
    let app = TestApp::start().await;
    let wire = Wire::to(&app);
    let (other, metrics) = app.second_server_with(|service| {
        service.writers = writers(&app.options.clone().host(wire.folder()).into(), Writers::QUEUE_MAX);
    });
    let ana = app.guest("Ana").await;
    let games = games_of(&app, &ana, TOGETHER + 1).await;
    let (held, games) = games.split_first().expect("a game");
    shut_gate(&app, &[held]).await;
    let (client, base) = (Client::new(), format!("http://{other}"));
    let play = |game: &String| send(first_move(&client, &base, game, &ana));
    let rest = async {
        until("the first is under way", || sample(&metrics.text(), "mancala_db_writer_connections_in_use") > 0.0).await;
        join_all(games.iter().map(play)).await
    };
    let cutting = async {
        let waiting = f64::from(u32::try_from(TOGETHER).expect("a small number"));
        until("they wait", || sample(&metrics.text(), "mancala_appends_queued") >= waiting).await;
        // The first one is left out: its own statement may be sent again, if the lock was held for too long.
        wire.swallow_the_answer_about(&games[0]);
        open_gate(&app, held).await;
    };
    let (first, answers, ()) = join3(play(held), rest, cutting).await;
    assert_eq!(first.status, 201, "{first:?}");
    // The log has all of them: they were found there.
    assert_eq!(statuses(&answers), [200; TOGETHER]);
    each_has_one_ply(&app, games).await;
}

#[actix_web::test]
async fn a_queued_move_whose_client_hangs_up_is_played_once() {
    let (app, ana, held, games) = prepared(TOGETHER).await;
    let (gone, kept) = games.split_at(TOGETHER / 2);
    let (leaving, port) = (RefCell::new(vec![]), app.address.port());
    let (client, base) = (Client::new(), format!("http://{}", app.address));
    let moving = async {
        for game in gone {
            // The connection ends with the request, as no other can be sent on it.
            leaving.borrow_mut().push(actix_web::rt::spawn(first_move(&client, &base, game, &ana).send()));
        }
        join_all(kept.iter().map(|game| app.play_move(game, &ana, 1, "A"))).await
    };
    let hang_up = async {
        let connected = connections(port);
        leaving.borrow().iter().for_each(JoinHandle::abort);
        until("the server knows that they have gone", || connections(port) + gone.len() <= connected).await;
    };
    let (answers, ()) = together(&app, (&ana, &held), (TOGETHER, moving), hang_up).await;
    assert!(answers.iter().all(|answer| answer.status == 201), "{answers:?}");
    for game in gone {
        let again = app.play_move(game, &ana, 1, "A").await;
        assert_eq!(again.status, 200, "{again:?}");
    }
    each_has_one_ply(&app, &games).await;
}

#[actix_web::test]
async fn a_stopping_server_stores_its_queue_also_for_clients_that_left() {
    let (app, ana, held, games) = prepared(TOGETHER).await;
    let arguments = ["--metrics-listen", "127.0.0.1:0", "--rate-limits", "off"];
    let mut running = Running::start_with(&url(&app), &app.key, &arguments, &[]);
    let metrics = running.metrics.clone().expect("the log says where");
    let reaches = async |name: &str, count: usize| until_line(&metrics, &format!("{name} {count}")).await;
    let (client, base) = (Client::new(), running.base.clone());
    let playing = |game: &String| actix_web::rt::spawn(send(first_move(&client, &base, game, &ana)));
    let first = playing(&held);
    reaches("mancala_db_writer_connections_in_use", 1).await;
    let (gone, kept) = games.split_at(TOGETHER / 2);
    let (leaving, staying): (Vec<_>, Vec<_>) = (gone.iter().map(playing).collect(), kept.iter().map(playing).collect());
    reaches("mancala_appends_queued", TOGETHER).await;
    leaving.iter().for_each(JoinHandle::abort);
    running.signal(Signal::SIGTERM);
    until_connections_refused(&running).await;
    open_gate(&app, &held).await;
    for answer in join_all(iter::once(first).chain(staying)).await {
        assert_eq!(answer.expect("it was not stopped").status, 201);
    }
    let (status, log) = running.ended();
    assert_eq!(status, Some(0), "{log}");
    each_has_one_ply(&app, &games).await;
}

/// How many connections a server on this port has that it has not closed.
fn connections(port: u16) -> usize {
    let (port, table) = (format!(":{port:04X}"), fs::read_to_string("/proc/net/tcp").expect("Linux has it"));
    let fields = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    // Established, or closed by the client alone.
    fields.filter(|line| line[1].ends_with(&port) && ["01", "08"].contains(&line[3])).count()
}

/// A way to PostgreSQL on which an answer can be lost.
struct Wire {
    folder: PathBuf,
    /// The id of a game, in the bytes of the statement whose answer is lost.
    swallows: Arc<Mutex<Option<Uuid>>>,
}

impl Wire {
    fn to(app: &TestApp) -> Self {
        let folder = env::temp_dir().join(format!("wire-{}", Uuid::now_v7().simple()));
        fs::create_dir(&folder).expect("a new folder");
        let name = format!(".s.PGSQL.{}", app.options.get_port());
        let listener = UnixListener::bind(folder.join(&name)).expect("a new socket");
        let (there, swallows) = (Path::new(app.options.get_host()).join(&name), Arc::<Mutex<Option<Uuid>>>::default());
        let switch = swallows.clone();
        actix_web::rt::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = UnixStream::connect(&there).await.expect("PostgreSQL runs");
                actix_web::rt::spawn(pass(client, server, switch.clone()));
            }
        });
        Self { folder, swallows }
    }

    fn folder(&self) -> &str {
        self.folder.to_str().expect("the path is text")
    }

    /// The next statement about this game is passed on; when its answer comes, which is after its commit, the connection ends.
    fn swallow_the_answer_about(&self, game: &str) {
        *self.swallows.lock().expect("it is short") = Some(game.parse().expect("an id"));
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Passes on what comes from either side, until one of them ends.
async fn pass(mut client: UnixStream, mut server: UnixStream, swallows: Arc<Mutex<Option<Uuid>>>) {
    let (mut up, mut down, mut is_last) = (vec![0; 65536], vec![0; 65536], false);
    loop {
        tokio::select! {
            read = client.read(&mut up) => {
                let Ok(length @ 1..) = read else { return };
                is_last |= swallows.lock().expect("it is short").take_if(|game| up[..length].windows(16).any(|id| id == game.as_bytes())).is_some();
                server.write_all(&up[..length]).await.expect("PostgreSQL runs");
            }
            read = server.read(&mut down) => {
                let Ok(length @ 1..) = read else { return };
                if is_last {
                    return;
                }
                client.write_all(&down[..length]).await.expect("the server runs");
            }
        }
    }
}
