//! The baselines: PostgreSQL alone, by pgbench with the statement of one move, and an actix-web handler that does nothing.

use std::{
    env, fs,
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
};

use actix_web::{App, HttpServer, web};
use mancala_embedded_postgres::{Embedded, PORT};
use sqlx::{Connection, PgConnection};
use tokio::sync::oneshot;

/// With this argument the bench is the process of the bare handler.
pub const BARE: &str = "bare-handler";

/// Copies of the service's tables, which stay as they are.
const TABLES: &str = "
create table if not exists pgbench_game (like game including all) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
create table if not exists pgbench_event (like event including all);";

/// As many games as clients, each at its first version. `{clients}` is a parameter.
const GAMES: &str = "
truncate pgbench_game, pgbench_event;
insert into pgbench_game (id, created_at, variant, preset, options, rules_version, opponent, visibility, creator_seat,
    updated_at, version, ply, seat_0_moved, seat_1_moved, status, position)
select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, now(), 'kalah', 'standard', '', 1, 'self', 'public', 0,
    now(), 1, 0, true, true, 'active', '4,4,4,4,4,4/4,4,4,4,4,4 0-0 S - 0 1S'
from generate_series(0, {clients} - 1) n";

/// The guarded append of one move with its values written out, as pgbench can send it.
const SCRIPT: &str = "
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

/// The plans of the service's connections: generic, and by indexes. Otherwise PostgreSQL scans so small a table.
const PLANS: &str = "-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_bitmapscan=off \
                     -c enable_hashjoin=off -c enable_mergejoin=off";

/// pgbench, with its tables and its script.
pub struct Pgbench {
    program: PathBuf,
    script: PathBuf,
}

/// The result of one run of pgbench.
pub struct Baseline {
    /// The number of statements.
    pub count: usize,
    /// Statements a second.
    pub rate: f64,
    /// The latency of each statement in nanoseconds, from when it was due; only at a fixed rate.
    pub took: Vec<u32>,
}

impl Pgbench {
    /// `programs` are PostgreSQL's own.
    pub async fn new(programs: &Path, folder: &Path, database: &mut PgConnection) -> io::Result<Self> {
        let script = folder.join("append.sql");
        fs::write(&script, SCRIPT)?;
        sqlx::raw_sql(TABLES).execute(database).await.map_err(io::Error::other)?;
        Ok(Self { program: programs.join("pgbench"), script })
    }

    /// Runs pgbench for a number of seconds with a number of clients, each appending to a game of its own. Without a rate each client
    /// appends as fast as it can. With one, pgbench draws when the statements are due, and they come as often on average.
    pub async fn run(
        &self,
        embedded: &Embedded,
        database: &mut PgConnection,
        clients: usize,
        seconds: u64,
        rate: Option<u32>,
    ) -> io::Result<Baseline> {
        let games = GAMES.replace("{clients}", &clients.to_string());
        database
            .transaction(|one| {
                Box::pin(async move { sqlx::raw_sql(sqlx::AssertSqlSafe(games)).execute(&mut **one).await })
            })
            .await
            .map_err(io::Error::other)?;
        let mut command = Command::new(&self.program);
        command
            .args(["--no-vacuum", "--protocol", "prepared", "--define", "version=1"])
            .args(["--client", &clients.to_string(), "--jobs", &clients.min(2).to_string()])
            .args(["--time", &seconds.to_string(), "--host"])
            .arg(embedded.socket_folder())
            .args(["--port", &PORT.to_string(), "--username", embedded.user(), "--file"])
            .arg(&self.script)
            .arg(embedded.database())
            .env("PGOPTIONS", PLANS);
        let log = self.script.with_extension("latency");
        if let Some(rate) = rate {
            command.args(["--rate", &rate.to_string(), "--log", "--log-prefix"]).arg(&log);
        }
        let output = command.output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let after = |start: &str| {
            text.lines().find_map(|line| line.strip_prefix(start)?.split([' ', '/']).next()?.parse().ok())
        };
        let reached = after("tps = ");
        let count = after("number of transactions actually processed: ").map(|count: f64| count.round());
        let (Some(reached), Some(count)) = (reached, count) else {
            return Err(io::Error::other(format!("pgbench: {}", String::from_utf8_lossy(&output.stderr))));
        };
        let played =
            "select (select sum(version - 1)::float8 from pgbench_game), (select count(*)::float8 from pgbench_event)";
        let (updated, logged): (f64, f64) =
            sqlx::query_as(played).fetch_one(database).await.map_err(io::Error::other)?;
        if (updated - count).abs() > 0.5 || (logged - count).abs() > 0.5 {
            return Err(io::Error::other(format!(
                "pgbench: {count} statements made {updated} updates, {logged} events"
            )));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count, rounded above")]
        Ok(Baseline {
            count: count as usize,
            rate: reached,
            took: if rate.is_some() { take_logged(&log)? } else { vec![] },
        })
    }
}

/// The latencies in the files that pgbench has logged, one for each of its threads. The first second's latencies are left out:
/// all connections prepare their statement then. Removes the files.
fn take_logged(prefix: &Path) -> io::Result<Vec<u32>> {
    let (folder, name) = (prefix.parent().unwrap_or(prefix), prefix.file_name().unwrap_or_default());
    // The microseconds when each ended, and how many it took.
    let mut logged: Vec<(u64, u32)> = vec![];
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_log = path.file_name().is_some_and(|file| file.as_encoded_bytes().starts_with(name.as_encoded_bytes()));
        if !is_log {
            continue;
        }
        for line in fs::read_to_string(&path)?.lines() {
            // Client, number, microseconds since it was due, script, and the end in seconds and microseconds.
            let fields: Result<Vec<u64>, _> = line.split(' ').take(6).map(str::parse).collect();
            let Ok(&[_, _, took, _, seconds, microseconds]) = fields.as_deref() else {
                return Err(io::Error::other(format!("pgbench logged: {line}")));
            };
            logged.push((seconds * 1_000_000 + microseconds, u32::try_from(took).unwrap_or(u32::MAX)));
        }
        fs::remove_file(path)?;
    }
    let begun = logged.iter().map(|(ended, _)| *ended).min().unwrap_or_default();
    let later = logged.into_iter().filter(|(ended, _)| *ended >= begun + 1_000_000);
    Ok(later.map(|(_, took)| took.saturating_mul(1000)).collect())
}

/// A server whose only handler answers two bytes, with as many workers as the service; dropping it ends it.
pub struct Bare {
    child: Child,
    pub address: String,
}

impl Bare {
    pub fn start() -> io::Result<Self> {
        let mut command = Command::new(env::current_exe()?);
        let mut child = command.arg(BARE).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let stdout = child.stdout.take().ok_or_else(|| io::Error::other("no output"))?;
        let mut address = String::new();
        BufReader::new(stdout).read_line(&mut address)?;
        Ok(Self { child, address: address.trim().to_owned() })
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The process of the bare handler. It ends when its standard input closes, that is when its parent has ended.
pub fn serve_bare() -> io::Result<()> {
    actix_web::rt::System::new().block_on(async {
        let workers = thread::available_parallelism().map_or(1, usize::from);
        let app = || App::new().route("/", web::get().to(async || "ok"));
        let server = HttpServer::new(app).workers(workers).bind("127.0.0.1:0")?;
        println!("{}", server.addrs()[0]);
        let (stdin_closed, closed) = oneshot::channel();
        thread::spawn(move || {
            let _ = io::stdin().read_to_end(&mut vec![]);
            let _ = stdin_closed.send(());
        });
        tokio::select! {
            ended = server.disable_signals().run() => ended,
            _ = closed => Ok(()),
        }
    })
}
