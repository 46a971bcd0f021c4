//! Durability: no acknowledged move is lost when the server, its PostgreSQL or both are killed under load.

use std::{
    cell::Cell,
    env, fs,
    io::{BufRead, BufReader, Read},
    mem,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    rc::Rc,
    time::Duration,
};

use futures_util::future::{join, join_all};
use mancala_server::{
    db,
    embedded::{self, Durability, Embedded, Settings},
};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};

use crate::support::{
    clock::{until, until_async, until_some},
    replay::every_log_replays_to_its_row,
};

/// How often something is killed under load, for each way of killing.
const KILLS: usize = 7;

/// Games that are played at once while something is killed: as many as a group has appends at most.
const PLAYERS: usize = 64;

/// How many moves are acknowledged before something is killed, at least, and how many more each time: so it happens at
/// different moments.
const MOVES: usize = 300;
const MOVES_MORE: usize = 61;

/// How long a start, or a recovery, may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// A folder for one test's embedded PostgreSQL, gone with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mancala-server"));
    command.env_clear().env("PATH", env::var_os("PATH").unwrap_or_default()).stderr(Stdio::piped());
    command.args(["--listen", "127.0.0.1:0", "--log-format", "json", "--rate-limits", "off", "--data-dir"]).arg(folder);
    command
}

/// A server on its embedded PostgreSQL.
struct Server {
    child: Child,
    base: String,
}

impl Server {
    fn start(folder: &Path) -> Self {
        let mut child = command(folder).spawn().expect("the binary runs");
        let mut log = BufReader::new(child.stderr.take().expect("standard error is piped")).lines();
        let mut seen = vec![];
        let base = loop {
            let Some(Ok(line)) = log.next() else { panic!("the server did not start: {seen:#?}") };
            if let Some((_, rest)) = line.split_once("API ") {
                break rest.split("/v1").next().expect("an address").to_owned();
            }
            seen.push(line);
        };
        // The pipe is read to its end: a full pipe would block the server.
        std::thread::spawn(move || log.for_each(drop));
        Self { child, base }
    }

    /// Kills it by SIGKILL.
    fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it is a child of ours");
    }

    fn stop(mut self) {
        kill(Pid::from_raw(self.child.id().try_into().expect("a process id")), Signal::SIGTERM).expect("it runs");
        let status = self.child.wait().expect("it is a child of ours");
        assert_eq!(status.code(), Some(0));
    }
}

/// A test that has failed leaves nothing running.
impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asserts of every game in the folder, also those of which nothing was acknowledged, that its row is the fold of its log.
async fn everything_replays(folder: &Folder) {
    let settings = Settings { folder: folder.0.clone(), durability: Durability::Ephemeral };
    let embedded = Embedded::start(&settings).expect("the server has left the folder in order");
    let games = every_log_replays_to_its_row(&db::pool(embedded::connect_options(&embedded), 2)).await;
    assert!(games >= PLAYERS, "{games}");
    embedded.stop();
}

/// The process id of the folder's PostgreSQL, while it has one.
fn postmaster(folder: &Path) -> Option<Pid> {
    let text = fs::read_to_string(folder.join("pgdata/postmaster.pid")).ok()?;
    text.lines().next()?.trim().parse().ok().map(Pid::from_raw)
}

/// A player's games against oneself, as far as the server has acknowledged them.
struct Player {
    client: Client,
    token: String,
    game: String,
    /// What the last answer showed of the game; absent if there was none, so that it is asked for.
    shown: Option<Value>,
    /// A move that was sent and not acknowledged.
    pending: Option<(usize, String)>,
    /// The move of each ply, or nothing if its answer was lost.
    acknowledged: Vec<String>,
    /// Games that have ended, and their plies.
    past: Vec<(String, Vec<String>)>,
}

impl Player {
    async fn new(base: &str, client: Client) -> Self {
        let guest = client.post(format!("{base}/v1/players")).json(&json!({})).send().await.expect("an answer");
        let guest: Value = guest.json().await.expect("JSON");
        let token = guest["access_token"].as_str().expect("a token").to_owned();
        let (game, shown, pending, acknowledged, past) = (String::new(), None, None, vec![], vec![]);
        let mut player = Self { client, token, game, shown, pending, acknowledged, past };
        player.begin(base).await.expect("a game is created");
        player
    }

    /// Begins a new game.
    async fn begin(&mut self, base: &str) -> Option<()> {
        let body = json!({"variant": "kalah", "opponent": {"type": "self"}});
        let request = self.client.post(format!("{base}/v1/games")).bearer_auth(&self.token).json(&body);
        let answer = request.send().await.ok()?;
        if answer.status() != StatusCode::CREATED {
            return None;
        }
        let game: Value = answer.json().await.ok()?;
        let id = game["id"].as_str().expect("an id").to_owned();
        let ended = (mem::replace(&mut self.game, id), mem::take(&mut self.acknowledged));
        self.past.extend(Some(ended).filter(|(id, _)| !id.is_empty()));
        self.shown = Some(game);
        Some(())
    }

    async fn get(&self, base: &str, path: &str) -> Option<Value> {
        let answer = self.client.get(format!("{base}/v1/games/{path}")).send().await.ok()?;
        if answer.status() != StatusCode::OK {
            return None;
        }
        answer.json().await.ok()
    }

    /// Plays one move; true if it was acknowledged. What was not may have been stored or not: it is sent again, until it is
    /// acknowledged either way.
    async fn play(&mut self, base: &str) -> bool {
        if self.pending.is_none() {
            if self.shown.is_none() {
                self.shown = self.get(base, &self.game).await;
            }
            let Some(game) = &self.shown else { return false };
            let Some(legal) = game["legal_moves"].as_array().filter(|legal| !legal.is_empty()) else {
                return self.begin(base).await.is_some();
            };
            let ply = self.acknowledged.len() + 1;
            assert_eq!(game["ply"], ply - 1, "{game}");
            self.pending = Some((ply, legal[ply * 7 % legal.len()].as_str().expect("a move").to_owned()));
        }
        let Some((ply, mv)) = &self.pending else { return false };
        let request = self.client.post(format!("{base}/v1/games/{}/moves", self.game)).bearer_auth(&self.token);
        self.shown = None;
        let Ok(answer) = request.json(&json!({"ply": ply, "move": mv})).send().await else { return false };
        if !answer.status().is_success() {
            assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
            return false;
        }
        self.acknowledged.push(mv.clone());
        self.pending = None;
        self.shown = answer.json::<Value>().await.ok().map(|answer| answer["game"].clone());
        true
    }

    /// Plays until a move is acknowledged.
    async fn play_on(&mut self, base: &str) {
        until_async("a move is acknowledged", async || self.play(base).await).await;
    }

    /// Asserts that every acknowledged move is in the history, and that the history has no gap. Beyond them it may have
    /// only the one move of which the answer was lost.
    async fn verify(&mut self, base: &str) {
        let present = (self.game.clone(), self.acknowledged.clone());
        for (game, acknowledged) in self.past.drain(..).chain([present]).collect::<Vec<_>>() {
            let history = self.get(base, &format!("{game}/moves?limit=100")).await.expect("the history is there");
            let items = history["items"].as_array().expect("items");
            assert!(items.iter().zip(1..).all(|(mv, ply)| mv["ply"] == ply));
            let unanswered = usize::from(game == self.game && self.pending.is_some());
            let lengths = acknowledged.len()..=acknowledged.len() + unanswered;
            assert!(lengths.contains(&items.len()), "{} of {acknowledged:?}", items.len());
            for (mv, acknowledged) in items.iter().zip(&acknowledged) {
                assert_eq!(mv["move"], **acknowledged);
            }
        }
    }
}

/// The players of the test, each with a game.
async fn players(base: &str) -> Vec<Player> {
    let client = Client::builder().timeout(PATIENCE).build().expect("a client");
    join_all((0..PLAYERS).map(|_| Player::new(base, client.clone()))).await
}

/// Every player verifies their game, and plays on.
async fn all_is_there(base: &str, players: &mut [Player]) {
    join_all(players.iter_mut().map(async |player| {
        player.verify(base).await;
        player.play_on(base).await;
    }))
    .await;
}

/// Lets all players move as fast as they can until so many more moves are acknowledged, then disturbs them while play goes
/// on.
async fn under_load(base: &str, players: &mut [Player], round: usize, disturb: impl FnOnce()) {
    let moves = MOVES + round * MOVES_MORE;
    let (acknowledged, disturbed) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(false)));
    let playing = join_all(players.iter_mut().map(|player| {
        let (acknowledged, disturbed) = (acknowledged.clone(), disturbed.clone());
        async move {
            // A few more after the disturbance: they fail, or they are answered by what came back.
            let mut afterwards = 0;
            while afterwards < 3 {
                let is_played = player.play(base).await;
                acknowledged.set(acknowledged.get() + usize::from(is_played));
                afterwards += usize::from(disturbed.get());
            }
        }
    }));
    let disturbing = async {
        until("the moves are acknowledged", || acknowledged.get() >= moves).await;
        disturb();
        disturbed.set(true);
    };
    join(playing, disturbing).await;
}

#[actix_web::test]
async fn a_killed_server_has_lost_nothing_that_it_acknowledged() {
    let folder = Folder::new("killed-server");
    let mut server = Server::start(&folder.0);
    let mut players = players(&server.base).await;
    for round in 0..KILLS {
        let base = server.base.clone();
        under_load(&base, &mut players, round, || server.kill()).await;
        server = Server::start(&folder.0);
        // The server has kept its key: the tokens are still valid.
        all_is_there(&server.base, &mut players).await;
    }
    server.stop();
    everything_replays(&folder).await;
}

#[actix_web::test]
async fn a_killed_postgresql_comes_back_and_has_lost_nothing() {
    let folder = Folder::new("killed-postgresql");
    let server = Server::start(&folder.0);
    let mut players = players(&server.base).await;
    for round in 0..KILLS {
        let killed = postmaster(&folder.0).expect("PostgreSQL runs");
        under_load(&server.base, &mut players, round, || kill(killed, Signal::SIGKILL).expect("it runs")).await;
        join_all(players.iter_mut().map(|player| player.play_on(&server.base))).await;
        all_is_there(&server.base, &mut players).await;
        assert_ne!(postmaster(&folder.0), Some(killed));
    }
    server.stop();
    everything_replays(&folder).await;
}

#[actix_web::test]
async fn both_killed_have_lost_nothing() {
    let folder = Folder::new("killed-both");
    let mut server = Server::start(&folder.0);
    let mut players = players(&server.base).await;
    for round in 0..KILLS {
        let (base, killed) = (server.base.clone(), postmaster(&folder.0).expect("PostgreSQL runs"));
        let both = || {
            kill(killed, Signal::SIGKILL).expect("it runs");
            server.kill();
        };
        under_load(&base, &mut players, round, both).await;
        server = Server::start(&folder.0);
        all_is_there(&server.base, &mut players).await;
    }
    server.stop();
    everything_replays(&folder).await;
}

#[actix_web::test]
async fn a_start_killed_while_creating_the_database_is_repaired_by_the_next() {
    let folder = Folder::new("killed-initdb");
    for _ in 0..3 {
        let _ = fs::remove_dir_all(&folder.0);
        let mut starting = command(&folder.0).spawn().expect("the binary runs");
        let victim = until_some("initdb runs", async || {
            assert_eq!(starting.try_wait().expect("a child of ours"), None, "it ended before initdb was seen");
            process_with("initdb", &folder.0)
        })
        .await;
        let _ = kill(victim, Signal::SIGKILL);
        let _ = starting.kill();
        starting.wait().expect("a child of ours");
        Server::start(&folder.0).stop();
    }
}

#[actix_web::test]
async fn a_server_stopped_while_creating_its_database_leaves_nothing_running() {
    let folder = Folder::new("stopped-initdb");
    let mut starting = command(&folder.0).spawn().expect("the binary runs");
    until("initdb runs", || process_with("initdb", &folder.0).is_some()).await;
    kill(Pid::from_raw(starting.id().try_into().expect("a process id")), Signal::SIGTERM).expect("it runs");
    let mut log = String::new();
    starting.stderr.take().expect("standard error is piped").read_to_string(&mut log).expect("text");
    assert_eq!(starting.wait().expect("a child of ours").code(), Some(0), "{log}");
    assert!(!log.contains("API ") && postmaster(&folder.0).is_none(), "{log}");
    Server::start(&folder.0).stop();
}

#[actix_web::test]
async fn a_failed_initdb_is_one_clear_line() {
    let folder = Folder::new("failed-initdb");
    let mut starting = command(&folder.0).spawn().expect("the binary runs");
    let victim = until_some("initdb runs", async || process_with("initdb", &folder.0)).await;
    kill(victim, Signal::SIGKILL).expect("it runs");
    let mut log = String::new();
    starting.stderr.take().expect("standard error is piped").read_to_string(&mut log).expect("text");
    assert_eq!(starting.wait().expect("a child of ours").code(), Some(1), "{log}");
    let last = log.lines().last().expect("a line");
    assert!(last.starts_with("mancala-server: ") && last.contains("initdb"), "{last}");
}

#[test]
fn a_second_server_on_the_same_folder_is_refused() {
    let folder = Folder::new("in-use");
    let server = Server::start(&folder.0);
    let output = command(&folder.0).output().expect("the binary runs");
    let log = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{log}");
    assert!(log.lines().last().is_some_and(|line| line.contains("in use")), "{log}");
    server.stop();
}

#[test]
fn a_folder_of_another_major_version_is_refused_and_left_alone() {
    let folder = Folder::new("other-version");
    Server::start(&folder.0).stop();
    let version = folder.0.join("pgdata/PG_VERSION");
    let real = fs::read_to_string(&version).expect("a version");
    fs::write(&version, "12\n").expect("it is written");
    let output = command(&folder.0).output().expect("the binary runs");
    let log = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{log}");
    assert!(log.lines().last().is_some_and(|line| line.contains("12")), "{log}");
    fs::write(&version, real).expect("it is written");
    Server::start(&folder.0).stop();
}

#[test]
fn the_key_is_for_its_owners_eyes_only() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new("key");
    Server::start(&folder.0).stop();
    let key = fs::metadata(folder.0.join("jwt-private-key.pem")).expect("the key is there");
    assert_eq!(key.permissions().mode() & 0o777, 0o600);
}

/// A process of that name that works on the folder.
fn process_with(name: &str, folder: &Path) -> Option<Pid> {
    let folder = folder.to_string_lossy();
    fs::read_dir("/proc").ok()?.flatten().find_map(|entry| {
        let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line);
        (line.split('\0').next()?.ends_with(name) && line.contains(&*folder)).then(|| Pid::from_raw(pid))
    })
}
