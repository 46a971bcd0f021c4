//! Backups of the embedded database: made and restored while a server runs, and the way to other programs.

use std::{
    fs,
    io::{BufRead, BufReader},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use reqwest::Client;
use serde_json::{Value, json};

use mancala_server::{db::databases, embedded::PORT};
use sqlx::{ConnectOptions, Connection, postgres::PgConnectOptions};

use crate::support::{app::TestApp, binary::server, programs::programs};

/// The folder of a test, gone with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("the path is text").to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Exit status, standard output and standard error of a command on a data folder.
fn run(data: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = server(arguments).args(["--log-format", "text", "--data-dir", data]).output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn run_well(data: &str, arguments: &[&str]) -> String {
    let (status, said, log) = run(data, arguments);
    assert_eq!(status, Some(0), "{said} {log}");
    said
}

/// A server on its embedded database.
struct Server {
    child: Child,
    base: String,
}

impl Server {
    fn start(data: &str) -> Self {
        let mut command = server(&["--listen", "127.0.0.1:0", "--log-format", "json", "--data-dir", data]);
        let mut child = command.stderr(Stdio::piped()).spawn().expect("the binary runs");
        let mut log = BufReader::new(child.stderr.take().expect("standard error is piped")).lines();
        let base = loop {
            let Some(Ok(line)) = log.next() else { panic!("the server did not start") };
            if let Some((_, rest)) = line.split_once("API ") {
                break rest.split("/v1").next().expect("an address").to_owned();
            }
        };
        std::thread::spawn(move || log.for_each(drop));
        Self { child, base }
    }

    /// A new guest's token.
    async fn guest(&self) -> String {
        let request = Client::new().post(format!("{}/v1/players", self.base)).json(&json!({"name": "Ana"}));
        let body: Value = request.send().await.expect("an answer").json().await.expect("JSON");
        body["access_token"].as_str().expect("a token").to_owned()
    }

    /// A new game's id, and the status of asking for the game.
    async fn create(&self, token: &str) -> String {
        let request = Client::new().post(format!("{}/v1/games", self.base)).bearer_auth(token);
        let body: Value =
            request.json(&json!({"variant": "kalah"})).send().await.expect("an answer").json().await.expect("JSON");
        body["id"].as_str().unwrap_or_else(|| panic!("{body}")).to_owned()
    }

    async fn status(&self, game: &str) -> u16 {
        let answer = Client::new().get(format!("{}/v1/games/{game}", self.base)).send().await.expect("an answer");
        answer.status().as_u16()
    }

    fn stop(mut self) {
        kill(Pid::from_raw(self.child.id().try_into().expect("a process id")), Signal::SIGTERM).expect("it runs");
        assert_eq!(self.child.wait().expect("it is a child of ours").code(), Some(0));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[actix_web::test]
async fn a_backup_of_a_running_server_becomes_another_one_with_its_key() {
    let folder = Folder::new("backups_running");
    let (one, two, file) = (folder.path("one"), folder.path("two"), folder.path("games.backup"));
    let running = Server::start(&one);
    let token = running.guest().await;
    let game = running.create(&token).await;
    assert_eq!(run_well(&one, &["backup", &file]), format!("{file}\n{file}.key\n"));
    for file in [&file, &format!("{file}.key")] {
        assert_eq!(fs::metadata(file).expect("a file").mode() & 0o777, 0o600);
    }
    assert_eq!(fs::read_dir(&folder.0).expect("a folder").count(), 3, "nothing else is left");
    let (status, _, log) = run(&one, &["backup", &file]);
    assert!(status == Some(1) && log.contains("is there already"), "{log}");
    let later = running.create(&token).await;
    running.stop();
    assert!(run_well(&two, &["restore", &file]).contains("is restored"));
    let restored = Server::start(&two);
    assert_eq!((restored.status(&game).await, restored.status(&later).await), (200, 404));
    // The key is the same: the token still opens the account.
    restored.create(&token).await;
    restored.stop();
    assert!(run_well(&two, &["verify"]).contains("2 games are sound"));
}

#[actix_web::test]
async fn a_restore_replaces_a_database_only_when_told_and_keeps_it() {
    let folder = Folder::new("backups_replace");
    let (data, file) = (folder.path("data"), folder.path("games.backup"));
    let running = Server::start(&data);
    let token = running.guest().await;
    let game = running.create(&token).await;
    run_well(&data, &["backup", &file]);
    let later = running.create(&token).await;
    let (status, _, log) = run(&data, &["restore", &file]);
    assert!(status == Some(1) && log.contains("--replace"), "{log}");
    assert_eq!(running.status(&later).await, 200);
    // A file that is no backup changes nothing.
    let wrong = folder.path("wrong");
    fs::write(&wrong, "none").expect("a file");
    let (status, _, log) = run(&data, &["restore", "--replace", &wrong]);
    assert!(status == Some(1) && log.contains("pg_restore failed"), "{log}");
    assert_eq!(running.status(&later).await, 200);
    // A file that is no key is refused as well.
    let (beside, key) = (format!("{file}.key"), format!("{data}/jwt-private-key.pem"));
    let whole = fs::read(&beside).expect("the key of the backup");
    fs::write(&beside, "none").expect("a file");
    let (status, _, log) = run(&data, &["restore", "--replace", &file]);
    assert!(status == Some(1) && log.contains("it is no Ed25519 key"), "{log}");
    assert_eq!((running.status(&later).await, fs::read(&key).expect("a key")), (200, whole.clone()));
    fs::write(&beside, whole).expect("a file");
    // A database that happens to have the name of an unfinished restore is not dropped.
    let options = PgConnectOptions::new().socket(folder.path("data/socket")).port(PORT).username("mancala");
    let mut connection = options.database("mancala").connect().await.expect("PostgreSQL runs");
    sqlx::raw_sql("create database mancala_restore").execute(&mut connection).await.expect("it comes");
    let (status, _, log) = run(&data, &["restore", "--replace", &file]);
    assert!(status == Some(1) && log.contains("mancala_restore that no restore has made"), "{log}");
    sqlx::raw_sql("drop database mancala_restore").execute(&mut connection).await.expect("it is still there");
    connection.close().await.expect("it closes");
    let said = run_well(&data, &["restore", "--replace", &file]);
    assert!(said.contains("is kept as mancala_before_"), "{said}");
    running.stop();
    let again = Server::start(&data);
    assert_eq!((again.status(&game).await, again.status(&later).await), (200, 404));
    again.stop();
}

#[actix_web::test]
async fn an_upgrade_that_is_refused_changes_nothing() {
    let folder = Folder::new("backups_upgrade");
    let (data, programs) = (folder.path("data"), programs());
    let programs = programs.to_str().expect("the path is text");
    let (status, _, log) = run(&data, &["upgrade", "--programs", programs]);
    assert!(status == Some(1), "there is no database: {log}");
    let running = Server::start(&data);
    let game = running.create(&running.guest().await).await;
    let (status, _, log) = run(&data, &["upgrade", "--programs", programs]);
    assert!(status == Some(1) && log.contains("is in use by another server"), "{log}");
    running.stop();
    let (status, _, log) = run(&data, &["upgrade", "--programs", "/tmp"]);
    assert!(status == Some(1) && log.contains("/tmp does not hold the programs"), "{log}");
    let (status, _, log) = run(&data, &["upgrade", "--programs", programs]);
    assert!(status == Some(1) && log.contains("is not newer"), "{log}");
    let names: Vec<_> = fs::read_dir(&data).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
    assert!(!names.iter().any(|name| name.to_string_lossy().starts_with("upgrade-")), "{names:?}");
    let after = Server::start(&data);
    assert_eq!(after.status(&game).await, 200);
    after.stop();
    let url = ("DATABASE_URL", "postgres://localhost/none");
    let output = server(&["upgrade"]).envs([url]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[actix_web::test]
async fn an_exchange_ends_connections_to_both_and_fails_without_one() {
    let app = TestApp::start().await;
    let own = app.options.get_database().expect("a name");
    let [present, restored, kept] = ["present", "restored", "kept"].map(|name| format!("{own}_{name}"));
    let options = app.options.clone().database(&present);
    for name in [&present, &restored] {
        databases::create(&app.options, name).await.expect("it is created");
    }
    let mut connections = vec![];
    for name in [&present, &restored] {
        connections.push(options.clone().database(name).connect().await.expect("a connection"));
    }
    databases::exchange(&options, &restored, &kept).await.expect("both are exchanged");
    for connection in &mut connections {
        connection.ping().await.expect_err("it has ended");
    }
    let begun = Instant::now();
    let error = databases::exchange(&options, &restored, "free").await.expect_err("there is no second one");
    assert_eq!(error.sqlstate().as_deref(), Some("3D000"));
    assert!(begun.elapsed() < Duration::from_secs(3), "it is not tried again");
    for name in [&present, &kept] {
        databases::drop(&app.options, name).await.expect("it is dropped");
    }
}

#[test]
fn a_key_file_of_another_kind_is_never_offered_to_be_overwritten() {
    let folder = Folder::new("backups_key");
    let key = folder.path("rsa.pem");
    fs::write(&key, "-----BEGIN PRIVATE KEY-----\nnone\n-----END PRIVATE KEY-----\n").expect("a file");
    fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("a mode");
    let url = ("DATABASE_URL", "postgres://localhost/none");
    let output = server(&["--jwt-private-key-file", &key]).envs([url]).output().expect("it runs");
    let line = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{line}");
    assert!(line.contains("leave that file as it is") && !line.contains(&format!("-out {key}")), "{line}");
}
