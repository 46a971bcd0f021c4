//! Commands that last: they outlive their database, can be stopped and go on, and store nothing twice.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use mancala_server::{
    db,
    embedded::{self, Durability, Embedded, PORT, Settings},
};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use sqlx::{AssertSqlSafe, PgPool};

use crate::support::{
    binary::{File, ended, server},
    clock::{until, until_async},
    cluster::superuser_of,
};

/// A game that the explorer counts. Each line of a file with it is another game.
const GAME: &str = "[Variant \"kalah\"]\n[South \"Ana\"]\n[North \"Bo\"]\n[Result \"1-0\"]\n\n\
    1. A a 2. C c 3. D d 1-0\n\n";

/// How many games the commands work on: at their pace, some seconds of work.
const GAMES: usize = 300;

/// A PostgreSQL for one test alone, and files beside it.
struct Bench {
    folder: PathBuf,
    embedded: Option<Embedded>,
    pool: PgPool,
}

impl Bench {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&folder);
        // A commit that is not durable may be lost when PostgreSQL is killed, and the import could not know.
        let settings = Settings { folder: folder.join("postgres"), durability: Durability::Durable };
        let embedded = Embedded::start(&settings).expect("the tests need a PostgreSQL");
        fs::write(folder.join("games.txt"), GAME.repeat(GAMES)).expect("a file");
        let pool = db::pool(embedded::connect_options(&embedded), 2);
        Self { folder, embedded: Some(embedded), pool }
    }

    fn file(&self, name: &str) -> String {
        self.folder.join(name).to_str().expect("the path is text").to_owned()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let embedded = self.embedded.as_ref().expect("it runs");
        let socket = embedded.socket_folder().display();
        let url = format!("postgres://{}@localhost:{PORT}/{}?host={socket}", embedded.user(), embedded.database());
        let mut command = server(arguments);
        command.args(["--log-format", "text", "--database-url", &url]).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).spawn().expect("the binary runs")
    }

    /// Standard output of a run that must be successful.
    fn run(&self, arguments: &[&str]) -> String {
        ended_well(&self.command(arguments).output().expect("the binary runs"))
    }

    async fn count(&self, table: &str) -> i64 {
        let count = AssertSqlSafe(format!("select count(*) from {table}"));
        sqlx::query_scalar(count).fetch_one(&self.pool).await.unwrap_or(0)
    }

    /// Kills PostgreSQL as a lack of memory does, and waits until it runs again.
    async fn kill_database(&self) {
        let embedded = self.embedded.as_ref().expect("it runs");
        let pid = embedded.pid().expect("it runs");
        kill(Pid::from_raw(pid.try_into().expect("a process id")), Signal::SIGKILL).expect("it runs");
        until("the database starts again", || embedded.pid().is_some_and(|new| new != pid)).await;
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.embedded = None;
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Whether the position in a file is behind the first game. It is written at the beginning, too.
fn is_begun(position: &str) -> bool {
    fs::read_to_string(position).is_ok_and(|kept| !kept.contains("\"games\":0,"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn ended_well(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{} {}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// What a command says that has waited for its database.
fn outlived(child: Child) -> String {
    let output = child.wait_with_output().expect("it is a child of ours");
    let said = ended_well(&output);
    let log = text(&output.stderr);
    assert_eq!(log.matches("waits for at most 600 s").count(), log.matches("answers again").count(), "{log}");
    assert!(log.contains("answers again"), "the database was lost: {log}");
    said
}

#[actix_web::test]
async fn long_commands_outlive_a_killed_database() {
    let bench = Bench::new("lasting_killed");
    let (games, copy, position) = (bench.file("games.txt"), bench.file("copy"), bench.file("position"));
    let import = bench.start(&["import", &games, "--pace", "100"]);
    until_async("the first games are stored", async || bench.count("game").await > 0).await;
    bench.kill_database().await;
    assert!(outlived(import).contains("300 games were imported\n"));
    assert_eq!((bench.count("game").await, bench.count("import_key").await), (300, 300));
    let verify = bench.start(&["verify", "--pace", "100", "--resume", &position]);
    until("the first game is done", || is_begun(&position)).await;
    bench.kill_database().await;
    assert_eq!(outlived(verify), "300 games are sound\n");
    let export = bench.start(&["export", &copy, "--pace", "100", "--resume", &position]);
    until("the first game is done", || is_begun(&position)).await;
    bench.kill_database().await;
    assert_eq!(outlived(export), "300 games were exported\n");
    assert_eq!(mode(&copy), 0o600, "private games are among them");
    assert_eq!(fs::read_to_string(&copy).expect("a file").lines().count(), GAMES);
    let reindex = bench.start(&["reindex", "--pace", "100"]);
    until_async("the rebuild begins", async || bench.count("explorer_rebuild").await > 0).await;
    bench.kill_database().await;
    outlived(reindex);
    assert_eq!((bench.count("unexplored_game").await, bench.count("explored_number").await), (0, 300));
}

/// The permissions of a file.
fn mode(path: &str) -> u32 {
    fs::metadata(path).expect("a file").permissions().mode() & 0o777
}

#[actix_web::test]
async fn a_stopped_command_ends_with_4_and_goes_on_where_it_was() {
    let bench = Bench::new("lasting_stopped");
    let (games, copy, position) = (bench.file("games.txt"), bench.file("copy"), bench.file("position"));
    let said = bench.run(&["import", &games]);
    assert!(said.contains("300 games wait for the opening explorer"), "{said}");
    for (arguments, said) in [
        (["verify", "--resume", &position].as_slice(), "300 games are sound\n"),
        (&["export", &copy, "--resume", &position], "300 games were exported\n"),
    ] {
        let child = bench.start(&[arguments, &["--pace", "60"]].concat());
        until("the first game is done", || is_begun(&position)).await;
        kill(Pid::from_raw(child.id().try_into().expect("a process id")), Signal::SIGTERM).expect("it runs");
        let output = child.wait_with_output().expect("it is a child of ours");
        assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(4), ""), "{output:?}");
        assert!(text(&output.stderr).contains("stopped before it was done"), "{output:?}");
        let kept = fs::read_to_string(&position).expect("a position");
        assert!(!kept.contains("\"games\":0,") && !kept.contains("\"games\":300,"), "{kept}");
        // A file that others could read is the owner's again, also if it is gone on with.
        if arguments[0] == "export" {
            fs::set_permissions(&copy, fs::Permissions::from_mode(0o644)).expect("it is ours");
        }
        // What was written after the position is written again, and not twice.
        let other = if arguments[0] == "verify" { "export" } else { "verify" };
        let wrong = if other == "export" { vec![other, &copy] } else { vec![other] };
        let output = bench.command(&[&wrong, ["--resume", &position].as_slice()].concat()).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert_eq!(bench.run(arguments), said);
        assert!(!Path::new(&position).exists());
    }
    assert_eq!(mode(&copy), 0o600);
    let lines = fs::read_to_string(&copy).expect("a file");
    let lines: std::collections::BTreeSet<_> = lines.lines().collect();
    assert_eq!(lines.len(), GAMES);
}

#[actix_web::test]
async fn a_stopped_reindex_changes_nothing_and_goes_on_where_it_was() {
    let bench = Bench::new("lasting_reindex");
    bench.run(&["import", &bench.file("games.txt")]);
    assert!(bench.run(&["reindex"]).starts_with("300 games were counted"));
    let child = bench.start(&["reindex", "--pace", "60"]);
    until_async("the games are read", async || bench.count("explorer_rebuild where step = 'loading'").await > 0).await;
    kill(Pid::from_raw(child.id().try_into().expect("a process id")), Signal::SIGTERM).expect("it runs");
    let output = child.wait_with_output().expect("it is a child of ours");
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(4), ""), "{output:?}");
    assert_eq!((bench.count("explored_number").await, bench.count("explorer_rebuild_game").await), (300, 300));
    assert!(bench.run(&["reindex", "--continue"]).starts_with("300 games were counted"));
    assert_eq!((bench.count("explored_number").await, bench.count("explorer_rebuild_game").await), (300, 0));
    assert!(bench.run(&["reindex", "--continue"]).starts_with("0 games were counted"));
}

#[actix_web::test]
async fn an_import_that_was_killed_is_run_again_and_stores_no_game_twice() {
    let bench = Bench::new("lasting_import");
    let games = bench.file("games.txt");
    let mut import = bench.start(&["import", &games, "--pace", "100"]);
    until_async("the first games are stored", async || bench.count("game").await > 0).await;
    import.kill().expect("it runs");
    import.wait().expect("it is a child of ours");
    let before = bench.count("game").await;
    assert!((1..300).contains(&before), "{before}");
    let said = bench.run(&["import", &games]);
    assert!(said.contains("games were imported before: --again"), "{said}");
    assert_eq!(bench.count("game").await, 300);
    let more = bench.file("more.txt");
    fs::write(&more, GAME.repeat(GAMES + 5)).expect("a file");
    assert!(bench.run(&["import", &more]).starts_with("5 games were imported\n"));
    // A line more, and no line end at the end of the file.
    fs::write(&more, format!("\n{}", GAME.repeat(GAMES).trim_end())).expect("a file");
    assert!(bench.run(&["import", &more]).starts_with("0 games were imported\n300 games were imported before"));
    assert!(bench.run(&["import", "--visibility", "unlisted", &games]).starts_with("300 games were imported\n"));
    assert!(bench.run(&["import", "--again", &games]).starts_with("300 games were imported\n"));
    assert_eq!(bench.count("game").await, 905);
}

#[actix_web::test]
async fn a_damaged_game_is_named_and_left_out_of_an_export() {
    let bench = Bench::new("lasting_damaged");
    let (games, copy) = (bench.file("games.txt"), bench.file("copy"));
    bench.run(&["import", &games]);
    let options = embedded::connect_options(bench.embedded.as_ref().expect("it runs"));
    let superuser = db::pool(superuser_of(&options).database("mancala"), 1);
    let damage = "with chosen as (select id from game order by id limit 1 offset 7)
        update event set position = 'none' from chosen where game_id = chosen.id and ply = 3 returning game_id::text";
    let id: String = sqlx::query_scalar(damage).fetch_one(&superuser).await.expect("a game is damaged");
    for arguments in [["export", &copy].as_slice(), &["verify"]] {
        let output = bench.command(arguments).output().expect("the binary runs");
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        assert!(text(&output.stdout).contains(&format!("game {id}: ")), "{output:?}");
    }
    let lines = fs::read_to_string(&copy).expect("a file");
    assert_eq!((lines.lines().count(), lines.contains(&id)), (GAMES - 1, false));
}

#[test]
fn the_output_of_an_export_is_not_its_position() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lasting_one_file");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("inner")).expect("a folder");
    let name = |name: &str| folder.join(name).to_str().expect("the path is text").to_owned();
    fs::write(name("there"), "kept\n").expect("a file");
    std::os::unix::fs::symlink(name("there"), name("link")).expect("a link");
    for (output, position) in
        [("new", "new"), ("new", "inner/../new"), ("there", "there"), ("there", "link"), ("link", "there")]
    {
        let url = "postgres://127.0.0.1:1/none";
        let (status, line) = ended(&["export", &name(output), "--resume", &name(position), "--database-url", url]);
        assert_eq!(status, Some(2), "{output} {position}: {line}");
        assert!(line.contains("--resume"), "{line}");
    }
    assert_eq!(fs::read_to_string(name("there")).expect("a file"), "kept\n");
    fs::remove_dir_all(folder).expect("the folder goes");
}

#[test]
fn an_export_without_a_database_leaves_the_file_as_it_is() {
    let kept = File::new("kept\n");
    let url = "postgres://127.0.0.1:1/none";
    let (status, line) = ended(&["export", kept.name(), "--database-wait-s", "0", "--database-url", url]);
    assert_eq!(status, Some(1), "{line}");
    assert_eq!(fs::read_to_string(&kept.0).expect("a file"), "kept\n");
}

#[actix_web::test]
async fn a_position_that_does_not_fit_is_refused() {
    let bench = Bench::new("lasting_position");
    let (games, copy, position) = (bench.file("games.txt"), bench.file("copy"), bench.file("position"));
    bench.run(&["import", &games]);
    let child = bench.start(&["export", &copy, "--resume", &position, "--pace", "60"]);
    until("the first game is done", || is_begun(&position)).await;
    kill(Pid::from_raw(child.id().try_into().expect("a process id")), Signal::SIGTERM).expect("it runs");
    child.wait_with_output().expect("it is a child of ours");
    let fails = |arguments: &[&str], status: i32, said: &str| {
        let output = bench.command(arguments).output().expect("the binary runs");
        let line = text(&output.stderr);
        assert_eq!((output.status.code(), line.contains(said)), (Some(status), true), "{arguments:?} {output:?}");
    };
    fails(&["export", &copy, "--resume", &position, "--format", "text"], 2, "another --format");
    fails(&["export", &bench.file("other"), "--resume", &position], 2, "another output");
    fails(&["verify", "--resume", &position], 2, "another command");
    let kept = fs::read_to_string(&position).expect("a position");
    let games = kept.split_once("\"games\":").expect("a count").1.split_once(',').expect("an end").0;
    let changed = kept.replace(&format!("\"games\":{games},"), &format!("\"games\":{},", u64::MAX));
    assert_ne!(changed, kept);
    fs::write(&position, changed).expect("a file");
    fails(&["export", &copy, "--resume", &position], 2, "was changed");
    fs::write(&position, kept).expect("a file");
    let whole = fs::read(&copy).expect("a file");
    fs::write(&copy, "x".repeat(whole.len())).expect("a file");
    fails(&["export", &copy, "--resume", &position], 1, "no line ends at the position");
    let nowhere = bench.file("nowhere/position");
    fails(&["export", &copy, "--resume", &nowhere], 1, &nowhere);
    fails(&["verify", "--resume", &nowhere], 1, &nowhere);
    assert_eq!(fs::read(&copy).expect("a file").len(), whole.len(), "it is not emptied");
    fs::write(&copy, whole).expect("a file");
    assert_eq!(bench.run(&["export", &copy, "--resume", &position]), "300 games were exported\n");
}
