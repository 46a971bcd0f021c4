//! Nothing that was acknowledged is lost, whatever is killed: the server, its PostgreSQL, both, while they work.

use std::{
    cell::Cell,
    env, fs,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    rc::Rc,
    time::{Duration, Instant},
};

use futures_util::future::{join, join_all};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};

/// How often something is killed under load, for each way of killing.
const KILLS: usize = 7;

/// Games that are played at once while something is killed.
const PLAYERS: usize = 6;

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
    command.args(["--listen", "127.0.0.1:0", "--log-format", "json", "--data-dir"]).arg(folder);
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
        // Whoever stops reading a pipe stops its writer.
        std::thread::spawn(move || log.for_each(drop));
        Self { child, base }
    }

    /// Ends it without a chance to say goodbye.
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

/// The process id of the folder's PostgreSQL, while it has one.
fn postmaster(folder: &Path) -> Option<Pid> {
    let text = fs::read_to_string(folder.join("pgdata/postmaster.pid")).ok()?;
    text.lines().next()?.trim().parse().ok().map(Pid::from_raw)
}

/// One player's game against oneself, as far as the server has acknowledged it.
struct Player {
    client: Client,
    token: String,
    game: String,
    acknowledged: Vec<String>,
}

impl Player {
    async fn new(base: &str) -> Self {
        let client = Client::builder().timeout(PATIENCE).build().expect("a client");
        let guest = client.post(format!("{base}/v1/players")).json(&json!({})).send().await.expect("an answer");
        let guest: Value = guest.json().await.expect("JSON");
        let token = guest["access_token"].as_str().expect("a token").to_owned();
        let mut player = Self { client, token, game: String::new(), acknowledged: vec![] };
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
        game["id"].as_str().expect("an id").clone_into(&mut self.game);
        self.acknowledged.clear();
        Some(())
    }

    async fn get(&self, base: &str, path: &str) -> Option<Value> {
        let answer = self.client.get(format!("{base}/v1/games/{}{path}", self.game)).send().await.ok()?;
        if answer.status() != StatusCode::OK {
            return None;
        }
        answer.json().await.ok()
    }

    /// Plays one move; true if it was acknowledged. What was not may have been stored or not: it is sent again later.
    async fn play(&mut self, base: &str) -> bool {
        let Some(game) = self.get(base, "").await else { return false };
        let Some(legal) = game["legal_moves"].as_array().filter(|legal| !legal.is_empty()) else {
            return self.begin(base).await.is_some();
        };
        let ply = game["ply"].as_u64().expect("a number") + 1;
        let mv = legal[self.acknowledged.len() % legal.len()].as_str().expect("a move").to_owned();
        let request = self.client.post(format!("{base}/v1/games/{}/moves", self.game)).bearer_auth(&self.token);
        let Ok(answer) = request.json(&json!({"ply": ply, "move": mv})).send().await else { return false };
        if !answer.status().is_success() {
            assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
            return false;
        }
        // A move of which the answer was lost is in the log, and acknowledged by the ply after it.
        self.acknowledged.resize(usize::try_from(ply).expect("a short game"), String::new());
        self.acknowledged[usize::try_from(ply).expect("a short game") - 1] = mv;
        true
    }

    /// Asserts that every acknowledged move is in the history, and that the history has no gap.
    async fn verify(&self, base: &str) {
        let history = self.get(base, "/moves?limit=100").await.expect("the history is there");
        let items = history["items"].as_array().expect("items");
        assert!(items.iter().zip(1..).all(|(mv, ply)| mv["ply"] == ply));
        assert!(items.len() >= self.acknowledged.len(), "{} of {:?}", items.len(), self.acknowledged);
        for (mv, acknowledged) in items.iter().zip(&self.acknowledged) {
            assert!(acknowledged.is_empty() || mv["move"] == **acknowledged, "{mv} is not {acknowledged}");
        }
    }
}

/// Lets everybody play until `moves` more are acknowledged, then does something, while play goes on.
async fn under_load(base: &str, players: &mut [Player], moves: usize, disturb: impl FnOnce()) {
    let (acknowledged, disturbed) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(false)));
    let playing = join_all(players.iter_mut().map(|player| {
        let (acknowledged, disturbed) = (acknowledged.clone(), disturbed.clone());
        async move {
            // A few more after the disturbance: they fail, or they are answered by what came back.
            let mut afterwards = 0;
            while afterwards < 3 {
                acknowledged.set(acknowledged.get() + usize::from(player.play(base).await));
                afterwards += usize::from(disturbed.get());
            }
        }
    }));
    let disturbing = async {
        while acknowledged.get() < moves {
            actix_web::rt::task::yield_now().await;
        }
        disturb();
        disturbed.set(true);
    };
    join(playing, disturbing).await;
}

#[actix_web::test]
async fn a_killed_server_has_lost_nothing_that_it_acknowledged() {
    let folder = Folder::new("killed-server");
    let mut server = Server::start(&folder.0);
    let mut players = join_all((0..PLAYERS).map(|_| Player::new(&server.base))).await;
    for round in 0..KILLS {
        let base = server.base.clone();
        under_load(&base, &mut players, 40 + round * 7, || server.kill()).await;
        server = Server::start(&folder.0);
        // Also the key is the same one: the tokens are still good.
        for player in &mut players {
            player.verify(&server.base).await;
            assert!(player.play(&server.base).await);
        }
    }
    server.stop();
}

#[actix_web::test]
async fn a_killed_postgresql_comes_back_and_has_lost_nothing() {
    let folder = Folder::new("killed-postgresql");
    let server = Server::start(&folder.0);
    let mut players = join_all((0..PLAYERS).map(|_| Player::new(&server.base))).await;
    for round in 0..KILLS {
        let killed = postmaster(&folder.0).expect("PostgreSQL runs");
        under_load(&server.base, &mut players, 40 + round * 7, || kill(killed, Signal::SIGKILL).expect("it runs"))
            .await;
        let begun = Instant::now();
        for player in &mut players {
            while !player.play(&server.base).await {
                assert!(begun.elapsed() < PATIENCE, "PostgreSQL did not come back");
            }
            player.verify(&server.base).await;
        }
        assert_ne!(postmaster(&folder.0), Some(killed));
    }
    server.stop();
}

#[actix_web::test]
async fn both_killed_have_lost_nothing() {
    let folder = Folder::new("killed-both");
    let mut server = Server::start(&folder.0);
    let mut players = join_all((0..PLAYERS).map(|_| Player::new(&server.base))).await;
    for round in 0..KILLS {
        let (base, killed) = (server.base.clone(), postmaster(&folder.0).expect("PostgreSQL runs"));
        let both = || {
            kill(killed, Signal::SIGKILL).expect("it runs");
            server.kill();
        };
        under_load(&base, &mut players, 40 + round * 7, both).await;
        server = Server::start(&folder.0);
        for player in &mut players {
            player.verify(&server.base).await;
            assert!(player.play(&server.base).await);
        }
    }
    server.stop();
}

#[test]
fn a_start_that_was_killed_while_it_made_the_database_is_made_good_by_the_next() {
    let folder = Folder::new("killed-initdb");
    for _ in 0..3 {
        let _ = fs::remove_dir_all(&folder.0);
        let mut starting = command(&folder.0).spawn().expect("the binary runs");
        let begun = Instant::now();
        let victim = loop {
            assert!(begun.elapsed() < PATIENCE, "initdb was never seen");
            assert_eq!(starting.try_wait().expect("a child of ours"), None, "it ended before initdb was seen");
            if let Some(pid) = process_with("initdb", &folder.0) {
                break pid;
            }
        };
        let _ = kill(victim, Signal::SIGKILL);
        let _ = starting.kill();
        starting.wait().expect("a child of ours");
        Server::start(&folder.0).stop();
    }
}

#[test]
fn a_server_that_is_told_to_stop_while_it_makes_its_database_stops_cleanly_and_leaves_nothing_running() {
    let folder = Folder::new("stopped-initdb");
    let mut starting = command(&folder.0).spawn().expect("the binary runs");
    let begun = Instant::now();
    while process_with("initdb", &folder.0).is_none() {
        assert!(begun.elapsed() < PATIENCE, "initdb was never seen");
    }
    kill(Pid::from_raw(starting.id().try_into().expect("a process id")), Signal::SIGTERM).expect("it runs");
    let mut log = String::new();
    starting.stderr.take().expect("standard error is piped").read_to_string(&mut log).expect("text");
    assert_eq!(starting.wait().expect("a child of ours").code(), Some(0), "{log}");
    assert!(!log.contains("API ") && postmaster(&folder.0).is_none(), "{log}");
    Server::start(&folder.0).stop();
}

#[test]
fn a_failed_initdb_is_one_clear_line() {
    let folder = Folder::new("failed-initdb");
    let mut starting = command(&folder.0).spawn().expect("the binary runs");
    let begun = Instant::now();
    let victim = loop {
        assert!(begun.elapsed() < PATIENCE, "initdb was never seen");
        if let Some(pid) = process_with("initdb", &folder.0) {
            break pid;
        }
    };
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
