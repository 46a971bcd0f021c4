//! Moves per second over HTTP, beside what PostgreSQL alone can do: pgbench running the equivalent statement, on the
//! same server in the same run. Server, PostgreSQL and load share the machine, and every commit is durable.
//!
//! `cargo bench --bench moves` prints the ratio, what a move costs in bytes, and what it takes while people sign in. Seconds a phase, and clients: `SECONDS`
//! and `CLIENTS`.

use std::{
    env, fs,
    io::{self, BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use mancala_server::{
    db::{
        self,
        embedded::{Durability, Embedded, PORT, Settings},
    },
    http::new_key,
    rules::{AnyOptions, AnyPosition, Variant},
};
use serde_json::Value;
use sqlx::{Connection, PgConnection, Row, postgres::PgConnectOptions};

/// Games whose memory is measured.
const GAMES: usize = 10_000;

/// Who signs in.
const SIGN_IN_ACCOUNT: &str = r#"{"name":"Ana","password":"correct horse"}"#;
const SIGN_IN: &str = r#"{"grant_type":"password","name":"Ana","password":"correct horse"}"#;

/// Sign-ins a second that are tried beside the moves.
const SIGN_INS: u32 = 50;

/// No player may have more at once.
const GAMES_A_GUEST: usize = 1000;

/// The append of a move with its values written out, as pgbench can send it: one row of `event` an update.
const PGBENCH_SETUP: &str = "
create table pgbench_game (like game including all) with (fillfactor = 70);
create table pgbench_event (like event including all);
insert into pgbench_game (id, created_at, variant, preset, options, rules_version, opponent, visibility, creator_seat,
    updated_at, version, ply, seat_0_moved, seat_1_moved, status, position)
select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, now(), 'kalah', 'standard', '', 1, 'self', 'public', 0,
    now(), 1, 0, true, true, 'active', '4,4,4,4,4,4/4,4,4,4,4,4 0-0 S - 0 1S'
from generate_series(0, 999) n";

const PGBENCH_SCRIPT: &str = "
\\set next :version + 1
with locked as (
    select id from pgbench_game where id = ('00000000-0000-7000-8000-' || lpad(:client_id::text, 12, '0'))::uuid
        and version = :version order by id for no key update
), updated as (
    update pgbench_game set version = :next, updated_at = now(), ply = :version, status = 'active',
        seat_0_moved = true, seat_1_moved = true, position = '4,4,0,5,5,5/4,4,4,4,4,4 1-0 S e 1 1S'
    from locked where pgbench_game.id = ('00000000-0000-7000-8000-' || lpad(:client_id::text, 12, '0'))::uuid
        and pgbench_game.id = locked.id and pgbench_game.version = :version returning pgbench_game.id
), logged as (
    insert into pgbench_event (game_id, at, seq, ply, seat, kind, move, position)
    select updated.id, now(), :next, :version, 0, 'moved', 'C', '4,4,0,5,5,5/4,4,4,4,4,4 1-0 S e 1 1S' from updated
)
select id from updated;
\\set version :next
";

fn main() -> io::Result<()> {
    // `cargo test --benches` passes flags of its own; there is nothing to test here.
    if env::args().any(|argument| argument == "--test") {
        return Ok(());
    }
    let seconds = number("SECONDS", 10);
    let clients = number("CLIENTS", 32);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("bench");
    let _ = fs::remove_dir_all(&folder);

    let begun = Instant::now();
    let settings = Settings { folder: folder.join("postgres"), durability: Durability::Durable };
    let embedded = Embedded::start(&settings).map_err(io::Error::other)?;
    let url = format!(
        "postgres://{}@localhost:{PORT}/{}?host={}",
        embedded.user(),
        embedded.database(),
        embedded.socket_folder().display()
    );
    let key = folder.join("jwt.pem");
    fs::write(&key, new_key())?;
    let server = Server::start(&url, &key)?;
    println!("start to ready, cold (with initdb and migrations): {:.2} s", begun.elapsed().as_secs_f64());

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut connection = runtime.block_on(connect(&embedded))?;

    let before = runtime.block_on(wal(&mut connection))?;
    let moves = play(&server, clients, Duration::from_secs(seconds as u64));
    let after = runtime.block_on(wal(&mut connection))?;
    let ours = rate(moves.len(), seconds);
    println!("moves/s over HTTP, {clients} games at once: {ours:.0}");
    report_latency(moves.clone());
    println!("WAL a move: {:.0} bytes", (after - before) / rate(moves.len(), 1));
    runtime.block_on(report_storage(&mut connection, moves.len()))?;

    report_sign_ins(&server, clients, seconds)?;

    runtime
        .block_on(async { sqlx::raw_sql(PGBENCH_SETUP).execute(&mut connection).await })
        .map_err(io::Error::other)?;
    match pgbench(&embedded, &folder, clients, seconds) {
        Ok(floor) => {
            println!("statements/s of pgbench -M prepared, {clients} clients: {floor:.0}");
            println!("ratio: {:.2}", ours / floor);
        }
        Err(error) => println!("no floor: pgbench: {error}"),
    }

    server.memory("before 10,000 games")?;
    create_games(&server);
    server.memory("after 10,000 games")?;
    drop(server);
    embedded.stop();

    let begun = Instant::now();
    let embedded = Embedded::start(&settings).map_err(io::Error::other)?;
    let server = Server::start(&url, &key)?;
    println!("start to ready, warm: {:.2} s", begun.elapsed().as_secs_f64());
    drop(server);
    embedded.stop();
    fs::remove_dir_all(folder)
}

fn number(name: &str, default: usize) -> usize {
    env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[expect(clippy::cast_precision_loss, reason = "a rate is shown in whole moves")]
fn rate(count: usize, seconds: usize) -> f64 {
    count as f64 / seconds as f64
}

/// The server as its users start it.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(url: &str, key: &Path) -> io::Result<Self> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mancala-server"));
        command.args([
            "--listen",
            "127.0.0.1:0",
            "--log-format",
            "json",
            // A player here makes as many moves as a thousand elsewhere.
            "--rate-limits",
            "off",
            "--database-url",
            url,
            "--jwt-private-key-file",
        ]);
        let mut child = command.arg(key).stderr(Stdio::piped()).spawn()?;
        let log = child.stderr.take().ok_or_else(|| io::Error::other("no log"))?;
        let mut lines = BufReader::new(log).lines();
        let address = lines.find_map(|line| {
            let line = line.ok()?;
            let rest = line.split_once("API http://")?.1;
            Some(rest.split('/').next()?.to_owned())
        });
        let address = address.ok_or_else(|| io::Error::other("the server did not start"))?;
        thread::spawn(move || lines.for_each(drop));
        Ok(Self { child, address })
    }

    fn memory(&self, when: &str) -> io::Result<()> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or(" unknown");
        println!("resident memory {when}:{resident}");
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One connection that sends and waits: the cheapest client there is, for the load shares the machine.
struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
    token: String,
}

impl Client {
    fn connect(address: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: vec![], token: String::new() })
    }

    fn guest(address: &str) -> io::Result<Self> {
        let mut client = Self::connect(address)?;
        let guest = client.post("/v1/players", "{}", 201)?;
        guest["access_token"].as_str().unwrap_or_default().clone_into(&mut client.token);
        Ok(client)
    }

    /// The answer's body as JSON.
    fn post(&mut self, path: &str, body: &str, status: u16) -> io::Result<Value> {
        let body = self.exchange(path, body, status)?;
        serde_json::from_slice(&self.buffer[body..]).map_err(io::Error::other)
    }

    /// Where in the buffer the answer's body begins.
    fn exchange(&mut self, path: &str, body: &str, status: u16) -> io::Result<usize> {
        let bearer =
            if self.token.is_empty() { String::new() } else { format!("authorization: Bearer {}\r\n", self.token) };
        let head = format!("POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n{bearer}");
        write!(self.stream, "{head}content-length: {}\r\n\r\n{body}", body.len())?;
        self.buffer.clear();
        loop {
            let mut chunk = [0; 8192];
            let read = self.stream.read(&mut chunk)?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.buffer.extend_from_slice(&chunk[..read]);
            let Some(end) = self.buffer.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
            let head = String::from_utf8_lossy(&self.buffer[..end]).to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
            if self.buffer.len() < end + 4 + length.unwrap_or(0) {
                continue;
            }
            if !head.starts_with(&format!("http/1.1 {status}")) {
                return Err(io::Error::other(String::from_utf8_lossy(&self.buffer).into_owned()));
            }
            return Ok(end + 4);
        }
    }
}

/// Plays games against oneself, one after the other in each client; the time that each move took.
fn play(server: &Server, clients: usize, time: Duration) -> Vec<Duration> {
    let options = AnyOptions::parse(Variant::Kalah, "standard", "").expect("the standard preset is valid");
    let until = Instant::now() + time;
    thread::scope(|scope| {
        let players: Vec<_> = (0..clients)
            .map(|n| {
                scope.spawn(move || {
                    let mut client = Client::guest(&server.address).expect("the server answers");
                    let mut took = vec![];
                    loop {
                        let game = client.post("/v1/games", r#"{"variant":"kalah","opponent":{"type":"self"}}"#, 201);
                        let path =
                            format!("/v1/games/{}/moves", game.expect("a game")["id"].as_str().unwrap_or_default());
                        let mut position = AnyPosition::opening(&options);
                        for ply in 1.. {
                            let legal = position.legal_moves();
                            if legal.is_empty() {
                                break;
                            }
                            if Instant::now() >= until {
                                return took;
                            }
                            let mv = legal[(n + took.len() * 7) % legal.len()];
                            let begun = Instant::now();
                            client
                                .exchange(&path, &format!(r#"{{"ply":{ply},"move":"{mv}"}}"#), 201)
                                .expect("it is played");
                            took.push(begun.elapsed());
                            position.play_unchecked(mv);
                        }
                    }
                })
            })
            .collect();
        players.into_iter().flat_map(|player| player.join().expect("a client ends well")).collect()
    })
}

fn report_latency(mut moves: Vec<Duration>) {
    moves.sort();
    let at = |per_mille: usize| moves[(moves.len() - 1) * per_mille / 1000].as_secs_f64() * 1000.0;
    println!(
        "a move takes, in ms: p50 {:.2}, p90 {:.2}, p99 {:.2}, longest {:.2}",
        at(500),
        at(900),
        at(990),
        at(1000)
    );
}

/// What a move takes while nobody signs in, and while many do: with a few games at once, and with as many as can be.
fn report_sign_ins(server: &Server, clients: usize, seconds: usize) -> io::Result<()> {
    let time = Duration::from_secs(seconds as u64);
    Client::connect(&server.address)?.post("/v1/players", SIGN_IN_ACCOUNT, 201)?;
    for games in [2, clients] {
        println!("{games} games at once:");
        report_latency(play(server, games, time));
        println!("{games} games at once, and {SIGN_INS} sign-ins a second tried:");
        let signed_in = thread::scope(|scope| {
            let signing_in: Vec<_> = (0..SIGN_INS).map(|n| scope.spawn(move || sign_in(server, n, time))).collect();
            report_latency(play(server, games, time));
            signing_in.into_iter().map(|person| person.join().expect("a client ends well")).sum::<usize>()
        });
        println!("sign-ins a second: {:.0}", rate(signed_in, seconds));
    }
    Ok(())
}

/// Tries to sign in once a second; how often it was done. Whoever is told to come back does so a second later.
fn sign_in(server: &Server, n: u32, time: Duration) -> usize {
    let until = Instant::now() + time;
    thread::sleep(Duration::from_secs(1) * n / SIGN_INS);
    let mut client = Client::connect(&server.address).expect("the server listens");
    let mut signed_in = 0;
    while Instant::now() < until {
        let begun = Instant::now();
        match client.exchange("/v1/tokens", SIGN_IN, 200) {
            Ok(_) => signed_in += 1,
            Err(error) => assert!(error.to_string().contains("503"), "{error}"),
        }
        thread::sleep(Duration::from_secs(1).saturating_sub(begun.elapsed()));
    }
    signed_in
}

fn create_games(server: &Server) {
    for _ in 0..GAMES / GAMES_A_GUEST {
        let mut client = Client::guest(&server.address).expect("the server answers");
        for _ in 0..GAMES_A_GUEST {
            client
                .exchange("/v1/games", r#"{"variant":"kalah","opponent":{"type":"self"}}"#, 201)
                .expect("a game is created");
        }
    }
}

async fn connect(embedded: &Embedded) -> io::Result<PgConnection> {
    let options: PgConnectOptions = db::embedded_options(embedded);
    PgConnection::connect_with(&options).await.map_err(io::Error::other)
}

/// Bytes of WAL written so far.
async fn wal(connection: &mut PgConnection) -> io::Result<f64> {
    let query = sqlx::query_scalar("select (pg_current_wal_lsn() - '0/0')::float8");
    query.fetch_one(connection).await.map_err(io::Error::other)
}

async fn report_storage(connection: &mut PgConnection, moves: usize) -> io::Result<()> {
    // Sessions report what they did within a second of their last statement.
    let counts = "select n_tup_upd, n_tup_hot_upd from pg_stat_user_tables where relname = 'game'";
    let (updates, heap_only) = loop {
        let row = sqlx::query(counts).fetch_one(&mut *connection).await.map_err(io::Error::other)?;
        let (updates, heap_only): (i64, i64) = (row.get(0), row.get(1));
        if updates >= i64::try_from(moves).unwrap_or(i64::MAX) {
            break (updates, heap_only);
        }
    };
    println!(
        "heap-only updates: {heap_only} of {updates}, {:.1} %",
        rate(usize::try_from(heap_only * 100).unwrap_or(0), usize::try_from(updates).unwrap_or(1))
    );
    let sizes = "select (select avg(pg_column_size(game.*)) from game)::float8, \
                 (select avg(pg_column_size(event.*)) from event where kind = 'moved')::float8, \
                 (select pg_total_relation_size('event')::float8 / count(*) from event)";
    let row = sqlx::query(sizes).fetch_one(connection).await.map_err(io::Error::other)?;
    let (game, event, with_index): (f64, f64, f64) = (row.get(0), row.get(1), row.get(2));
    println!("stored bytes: {game:.0} a game's row, {event:.0} a move's event ({with_index:.0} with its index)");
    Ok(())
}

/// Transactions a second.
fn pgbench(embedded: &Embedded, folder: &Path, clients: usize, seconds: usize) -> io::Result<f64> {
    let script = folder.join("append.sql");
    fs::write(&script, PGBENCH_SCRIPT)?;
    let threads = thread::available_parallelism().map_or(1, usize::from).min(clients);
    let mut command = Command::new(program("pgbench"));
    command
        .args(["--no-vacuum", "--protocol", "prepared", "--define", "version=1"])
        .args(["--client", &clients.to_string(), "--jobs", &threads.to_string(), "--time", &seconds.to_string()])
        .arg("--host")
        .arg(embedded.socket_folder())
        .args(["--port", &PORT.to_string(), "--username", embedded.user(), "--file"])
        .arg(&script)
        .arg(embedded.database());
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let rate = text.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
    rate.ok_or_else(|| io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()))
}

/// A program of PostgreSQL, on `PATH` or where Debian keeps them.
fn program(name: &str) -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let found = versions.map(|version| version.path().join("bin").join(name)).filter(|path| path.is_file()).max();
    found.unwrap_or_else(|| name.into())
}
