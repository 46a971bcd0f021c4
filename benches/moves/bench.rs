//! What all parts share: one database, the bars so far, and rounds with their costs.

use std::{
    fs::{self, Permissions},
    io,
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    time::{Duration, Instant},
};

use ed25519_dalek::{
    SigningKey,
    pkcs8::{EncodePrivateKey, spki::der::pem::LineEnding},
};
use mancala_embedded_postgres::{DATABASE, Durability, Embedded, PORT, Settings as Cluster, USER};
use sqlx::{Connection, PgConnection, postgres::PgConnectOptions};

use crate::{
    check,
    cost::{Costs, Pids},
    load::{Load, Played, Record},
    report::{Bars, Figure, heading, median},
    server::Server,
    settings::Settings,
};

/// How often a commit is timed.
const COMMITS: usize = 51;

/// Games created during a round are printed if they are more than one in this many moves.
const CREATED_SHARE: usize = 200;

pub struct Bench {
    pub settings: Settings,
    pub folder: PathBuf,
    pub embedded: Embedded,
    pub database: PgConnection,
    pub bars: Bars,
    url: String,
    key: PathBuf,
}

/// How sqlx connects to the embedded PostgreSQL.
pub fn connect_options(embedded: &Embedded) -> PgConnectOptions {
    let options = PgConnectOptions::new_without_pgpass().host(&embedded.socket_folder().to_string_lossy()).port(PORT);
    options.username(USER).database(DATABASE)
}

/// What was played in a round, and the cost of one move.
pub struct Round {
    pub played: Played,
    pub per_move: Costs,
}

impl Bench {
    /// Starts PostgreSQL and a server on it for the first time.
    pub async fn start(settings: Settings, folder: PathBuf) -> io::Result<Self> {
        heading("start");
        let begun = Instant::now();
        let (embedded, url) = start_embedded(&folder)?;
        let key = folder.join("jwt.pem");
        let signing = SigningKey::from_bytes(&rand::random());
        fs::write(&key, signing.to_pkcs8_pem(LineEnding::LF).map_err(io::Error::other)?)?;
        fs::set_permissions(&key, Permissions::from_mode(0o600))?;
        let server = Server::start(&url, &key, &folder.join("server.log"))?;
        println!("start to ready, cold (with initdb and migrations): {:.2} s", begun.elapsed().as_secs_f64());
        drop(server);
        let database = PgConnection::connect_with(&connect_options(&embedded)).await.map_err(io::Error::other)?;
        let mut bench = Self { settings, folder, embedded, database, bars: Bars::default(), url, key };
        println!("a commit of one row: {} ms", Figure(bench.commit_ms().await?));
        Ok(bench)
    }

    /// Stops PostgreSQL, and times a start of PostgreSQL and a server on the same database.
    pub async fn measure_warm_start(self) -> io::Result<()> {
        let Self { embedded, database, folder, key, .. } = self;
        database.close().await.map_err(io::Error::other)?;
        embedded.stop();
        let begun = Instant::now();
        let (_embedded, url) = start_embedded(&folder)?;
        let _server = Server::start(&url, &key, &folder.join("server.log"))?;
        heading("start, warm");
        println!("start to ready, warm: {:.2} s", begun.elapsed().as_secs_f64());
        Ok(())
    }

    /// Starts a further server on the database.
    pub fn server(&self) -> io::Result<Server> {
        let log = self.folder.join("server.log");
        match fs::remove_file(&log) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        Server::start(&self.url, &self.key, &log)
    }

    pub fn pids(&self, servers: &[u32]) -> io::Result<Pids> {
        let postmaster = self.embedded.pid().ok_or_else(|| io::Error::other("PostgreSQL is gone"))?;
        Ok(Pids { servers: servers.to_vec(), postmaster })
    }

    /// Creates enough games for a round, and plays it.
    pub async fn round(&mut self, load: &mut Load, pids: &Pids, time: Duration) -> io::Result<Round> {
        load.prepare(time).await?;
        let before = Costs::until_now(pids, &mut self.database).await?;
        let played = load.play(time).await?;
        let spent = Costs::until_now(pids, &mut self.database).await?.since(before);
        if played.created * CREATED_SHARE > played.moves {
            println!("({} games were created while {} moves were measured)", played.created, played.moves);
        }
        Ok(Round { per_move: spent.per_operation(played.moves), played })
    }

    /// Compares the acknowledged moves with the stored ones.
    pub async fn check(&self, records: Vec<Record>) -> io::Result<()> {
        let games = records.len();
        let moves = check::replay(connect_options(&self.embedded), records).await?;
        println!("replayed afterwards: {games} games, {moves} moves; every log gives its row");
        Ok(())
    }

    pub async fn execute(&mut self, sql: &str) -> io::Result<()> {
        let statements = sqlx::raw_sql(sqlx::AssertSqlSafe(sql.to_owned()));
        statements.execute(&mut self.database).await.map_err(io::Error::other)?;
        Ok(())
    }

    /// The milliseconds of a commit alone, which the disk bounds.
    async fn commit_ms(&mut self) -> io::Result<f64> {
        self.execute("create table bench_commit (n int); insert into bench_commit values (0)").await?;
        let mut took = vec![];
        for _ in 0..COMMITS {
            let begun = Instant::now();
            self.execute("update bench_commit set n = n + 1").await?;
            took.push(begun.elapsed().as_secs_f64() * 1000.0);
        }
        Ok(median(&took))
    }
}

fn start_embedded(folder: &std::path::Path) -> io::Result<(Embedded, String)> {
    let settings = Cluster { folder: folder.join("postgres"), durability: Durability::Durable };
    let embedded = Embedded::start(&settings).map_err(io::Error::other)?;
    let (user, database, host) = (embedded.user(), embedded.database(), embedded.socket_folder().display());
    let url = format!("postgres://{user}@localhost:{PORT}/{database}?host={host}");
    Ok((embedded, url))
}
