//! The options that all commands share.

use std::{fmt, path::PathBuf, time::Duration};

use clap::{Args, Parser, ValueEnum};
use etcetera::BaseStrategy;
use mancala_process::access_log::{Format, Level};

use super::{
    mail::Mail,
    subcommands::Command,
    values::{Contact, Listen, Networks, Ports, contact, folder, listen, networks, origin, public_url, webhook_ports},
    variables::after_help,
};
use crate::build_info::VERSION_AND_COMMIT;

/// A game-service backend for Kalah, Oware, Congkak, Bao, Omweso, Toguz Kumalak and Bestemshe: a REST API that stores every move in PostgreSQL.
///
/// Without options it listens on 127.0.0.1:8080. It starts and stops its own PostgreSQL, with the data in the user's data folder.
/// SIGTERM and SIGINT stop it.
#[derive(Debug, Parser)]
#[command(name = "mancala-server", version = VERSION_AND_COMMIT, max_term_width = 100, after_help = "`--help` lists all options.", after_long_help = after_help())]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub serve: Serve,
}

/// Options of the service.
#[derive(Debug, Args)]
pub struct Serve {
    /// The address of the API, or a name of this machine such as `localhost:8080`; port 0 picks a free port, which the log names
    #[arg(long, env, global = true, default_value = "127.0.0.1:8080", value_parser = listen, value_name = "ADDRESS:PORT")]
    pub listen: Listen,

    #[command(flatten)]
    pub database: Database,

    /// A PEM file with the Ed25519 private key that signs access tokens. The embedded PostgreSQL gets its own key in the data
    /// folder. With `DATABASE_URL` the option is required, and all servers of a database need the same key. Only
    /// the server's user may open it (`chmod 600`). Make one with: `openssl genpkey -algorithm ed25519 -out jwt.pem`
    #[arg(long, env, global = true, value_name = "FILE")]
    pub jwt_private_key_file: Option<PathBuf>,

    /// PEM files with more Ed25519 public keys whose access tokens are accepted, separated by commas: they keep clients signed
    /// in when the signing key changes. Get a public key with: `openssl pkey -in jwt.pem -pubout -out jwt-public.pem`
    #[arg(long, env, global = true, value_delimiter = ',', value_name = "FILES")]
    pub jwt_public_key_files: Vec<PathBuf>,

    /// The issuer of the access tokens: their `iss`
    #[arg(long, env, global = true, default_value = "mancala-server", value_name = "NAME")]
    pub jwt_issuer: String,

    /// The audience of the access tokens: their `aud`
    #[arg(long, env, global = true, default_value = "mancala-server", value_name = "NAME")]
    pub jwt_audience: String,

    /// A JSON file with the issuers of OpenID Connect with which people may sign in, such as Google and Apple: docs/operations/sign-in.md.
    /// The file holds secrets, so only the server's user may open it (`chmod 600`). Unless set, no issuer is offered
    #[arg(long, env, global = true, value_name = "FILE")]
    pub sign_in_file: Option<PathBuf>,

    /// Origins whose pages may call the API from a browser, such as `https://play.example`, separated by commas; `*` for all
    #[arg(long, env, global = true, default_value = "*", value_delimiter = ',', value_parser = origin, value_name = "ORIGINS")]
    pub cors_origins: Vec<String>,

    /// Days after its last call until a guest without games is deleted; 0 for never
    #[arg(long, env, global = true, default_value_t = 90, value_name = "DAYS")]
    pub guest_retention_days: u16,

    /// Days after which a guest's game against the computer ends if the guest is to move and does not; 0 for never
    #[arg(long, env, global = true, default_value_t = 7, value_name = "DAYS")]
    pub guest_game_days: u16,

    /// Days from the end of a game until its log is folded into a compact form, a twentieth of the space; 0 for never. Once a log is
    /// archived, binaries before this release cannot read the database; `mancala-server unarchive` undoes it. Nothing is archived in the
    /// first day after migration 0034 or after `unarchive`
    #[arg(long, env, global = true, default_value_t = 7, value_name = "DAYS")]
    pub archive_after_days: u16,

    /// The most games against the computer that the guests and new accounts of one network may have at once in total. Each player has a
    /// limit as well. A network is an IPv4 address or a /48 of IPv6. Needs rate limits
    #[arg(long, env, global = true, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=NETWORK_GAMES_MAX), value_name = "NUMBER")]
    pub guest_network_games: u32,

    /// The URL by which clients reach the service, such as `https://api.example/mancala`. `/openapi.json` names it as the server, and the
    /// addresses in the pages of games begin with it. Unless set, the document says `/`, the origin from which it was read, and pages take
    /// the host of the request, by plain HTTP
    #[arg(long, env, global = true, value_parser = public_url, value_name = "URL")]
    pub public_url: Option<String>,

    #[command(flatten)]
    pub mail: Mail,

    /// The address of `/metrics` in Prometheus' text format, over plain HTTP and without authentication. Unless set, metrics are
    /// not served
    #[arg(long, env, global = true, value_parser = listen, value_name = "ADDRESS:PORT")]
    pub metrics_listen: Option<Listen>,

    /// Seconds during which a stopping server still accepts requests while `/readyz` is already 503. Set it to a little more
    /// than a load balancer takes to notice; 0 without one
    #[arg(long, env, global = true, default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=WAIT_S_MAX), value_name = "SECONDS")]
    pub drain_s: u64,

    /// Seconds during which a stopping server answers the accepted requests, before it cuts them off
    #[arg(long, env, global = true, default_value_t = 20, value_parser = clap::value_parser!(u64).range(0..=WAIT_S_MAX), value_name = "SECONDS")]
    pub shutdown_timeout_s: u64,

    /// Days during which an open game waits for a second player; then it is aborted
    #[arg(long, env, global = true, default_value_t = 14, value_parser = clap::value_parser!(u16).range(1..=365), value_name = "DAYS")]
    pub open_game_days: u16,

    /// Statements that store moves concurrently; each stores up to 64 moves together. One was fastest on two cores, both on a
    /// fast and on a slow disk
    #[arg(long, env, global = true, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=WRITERS_MAX), value_name = "NUMBER")]
    pub writers: u32,

    /// The most connections to the database that the process opens. Unless set, the number that the enabled parts need: 39 with the default
    /// options, and up to 46 on more than 7 cores. With fewer, jobs share connections and reads wait. The server does not start with fewer
    /// than moves and jobs need, which is 8 with the default options
    #[arg(long, env, global = true, value_parser = clap::value_parser!(u32).range(1..=CONNECTIONS_MAX), value_name = "NUMBER")]
    pub db_connections: Option<u32>,

    /// Rate limits by player and by address, and of the sign-ins to each account. Each process counts on its own. The switch includes the
    /// limits that players of one network share
    #[arg(long, env, global = true, default_value = "on", value_name = "SWITCH")]
    pub rate_limits: Switch,

    /// The web page at `/`, on which people play. Without it the server has the API and its documentation only
    #[arg(long, env, global = true, default_value = "on", value_name = "SWITCH")]
    pub page: Switch,

    /// Imported games that an account may have stored; 0 for none
    #[arg(long, env, global = true, default_value_t = 5_000, value_parser = clap::value_parser!(u32).range(0..=IMPORTED_MAX), value_name = "NUMBER")]
    pub import_games_max: u32,

    /// Plies that the imported games of an account may have in total. A ply takes about 250 bytes, and in public games about 500
    #[arg(long, env, global = true, default_value_t = 250_000, value_parser = clap::value_parser!(u32).range(0..=IMPORTED_MAX), value_name = "NUMBER")]
    pub import_plies_max: u32,

    /// Imported games that a guest may have stored; 0 for none
    #[arg(long, env, global = true, default_value_t = 100, value_parser = clap::value_parser!(u32).range(0..=IMPORTED_MAX), value_name = "NUMBER")]
    pub import_guest_games_max: u32,

    /// Plies that the imported games of a guest may have in total
    #[arg(long, env, global = true, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(0..=IMPORTED_MAX), value_name = "NUMBER")]
    pub import_guest_plies_max: u32,

    /// Allow webhooks to private addresses, such as those of this machine and its networks, and webhooks without TLS. Only for tests, or
    /// where all players are trusted
    #[arg(long, env, global = true, default_value = "off", value_name = "SWITCH")]
    pub webhook_allow_private: Switch,

    /// The ports that webhooks may use, separated by commas. With `--webhook-allow-private on`, all ports are allowed
    #[arg(long, env, global = true, default_value = "443", value_parser = webhook_ports, value_name = "PORTS")]
    pub webhook_ports: Ports,

    /// The address by which push services reach the operator, such as `mailto:ops@play.example` or `https://play.example/contact`. With it,
    /// the server sends push notifications to browsers. The rules for addresses of webhooks apply to push services as well. Set it for all
    /// servers of a database, or for none
    #[arg(long, env, global = true, value_parser = contact, value_name = "URL")]
    pub push_contact: Option<Contact>,

    /// A PEM file with the P-256 private key by which push services recognise the server. The embedded PostgreSQL gets its own key in the
    /// data folder. With `DATABASE_URL` and `PUSH_CONTACT` the option is required, and all servers of a database need the same key. Another
    /// key makes all subscriptions of browsers void. Make one with: `openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out
    /// vapid.pem`
    #[arg(long, env, global = true, value_name = "FILE")]
    pub push_vapid_key_file: Option<PathBuf>,

    /// The JSON file of a Google service account. With it, the server sends push notifications to apps by Firebase Cloud Messaging:
    /// docs/operations/push.md. It holds a secret, so only the server's user may open it (`chmod 600`). Set it for all servers of a
    /// database, or for none
    #[arg(long, env, global = true, value_name = "FILE")]
    pub push_fcm_file: Option<PathBuf>,

    /// A JSON file with the key, the team and the topic of an app at Apple. With it, the server sends push notifications to the app by
    /// APNs: docs/operations/push.md. Only the server's user may open the file and the key that it names (`chmod 600`). Set it for all
    /// servers of a database, or for none
    #[arg(long, env, global = true, value_name = "FILE")]
    pub push_apns_file: Option<PathBuf>,

    /// Names that no player may take, separated by commas; `--reserved-names=` for none. Spellings that read alike are refused as well. The
    /// names of the computer and of erased players are always reserved
    #[arg(
        long,
        env,
        global = true,
        default_value = "admin,administrator,moderator,support,system,mancala",
        value_delimiter = ',',
        value_name = "NAMES"
    )]
    pub reserved_names: Vec<String>,

    /// Threads on which the computer chooses its moves, each with the lowest priority and 16 MiB. Unless set, a quarter of the
    /// processor's cores, and at least one. With 0, other servers of the database choose the moves
    #[arg(long, env, global = true, value_parser = clap::value_parser!(u16).range(0..=ENGINE_THREADS_MAX), value_name = "COUNT")]
    pub computer_threads: Option<u16>,

    /// Threads that analyse games, each with the lowest priority and 64 MiB while it works; 0 leaves the analyses to other
    /// servers of the database
    #[arg(long, env, global = true, default_value_t = 1, value_parser = clap::value_parser!(u16).range(0..=ENGINE_THREADS_MAX), value_name = "COUNT")]
    pub analysis_threads: u16,

    /// Networks of reverse proxies, such as `10.0.0.0/8`, separated by commas. From these, `Forwarded` or `X-Forwarded-For`
    /// names the client's address. Unless set, both headers are ignored
    #[arg(long, env, global = true, default_value = "", hide_default_value = true, value_parser = networks, value_name = "NETWORKS")]
    pub trusted_proxies: Networks,

    /// The format of the log on standard error. Unless set, `text` on a terminal and `json` otherwise
    #[arg(long, env, global = true, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,

    /// The answered requests that the access log on standard output records: one line each, with client, player, route, status and times. A
    /// line has no query string, token, name or body
    #[arg(long, env, global = true, default_value = "off", value_name = "LEVEL")]
    pub access_log: AccessLogLevel,

    /// The format of the access log
    #[arg(long, env, global = true, default_value = "json", value_name = "FORMAT")]
    pub access_log_format: AccessLogFormat,
}

/// Each writer holds a connection, and all servers share about a hundred connections of the database.
const WRITERS_MAX: i64 = 32;

/// More connections than a process needs.
const CONNECTIONS_MAX: i64 = 1000;

/// More games than the guests of one network play at once.
const NETWORK_GAMES_MAX: i64 = 1_000_000;

/// More threads than any machine can spare for the engine.
const ENGINE_THREADS_MAX: i64 = 64;

/// The most threads by default. Each takes a connection to the database.
const COMPUTER_THREADS_DEFAULT_MAX: u16 = 8;

/// More than one player imports in a lifetime, and less than the database's integers hold.
const IMPORTED_MAX: i64 = 1_000_000_000;

/// A longer wait is a mistake.
const WAIT_S_MAX: u64 = 3600;

/// The database to use.
#[derive(Args)]
pub struct Database {
    /// The PostgreSQL to use, such as `postgres://user:password@host/database`. Unless set, the service runs the embedded one. With
    /// several hosts, such as `postgres://user@h1,h2/database`, the one that takes writes is used, also after a failover;
    /// `target_session_attrs` may be `read-write`, `primary` or `any`
    #[arg(long, env, global = true, hide_env_values = true, value_name = "URL")]
    pub database_url: Option<String>,

    /// A standby of the database at `DATABASE_URL`, such as `postgres://user:password@standby/database`. The standby answers lists,
    /// profiles, histories, exports and the explorer while it has replayed all changes that were acknowledged before a request. Otherwise
    /// the primary answers. Unless set, the primary answers everything
    #[arg(long, env, global = true, hide_env_values = true, value_name = "URL")]
    pub read_database_url: Option<String>,

    /// Seconds that the start waits for the database to answer and take writes, and that migrations wait for the locks of tables
    #[arg(long, env, global = true, default_value_t = 60, value_parser = clap::value_parser!(u64).range(0..=WAIT_S_MAX), value_name = "SECONDS")]
    pub database_wait_s: u64,

    /// The folder of the embedded PostgreSQL and its signing key. Unless set, `mancala-server` in the user's data folder, such as
    /// `~/.local/share`
    #[arg(long, env, global = true, value_parser = folder, value_name = "FOLDER")]
    pub data_dir: Option<PathBuf>,

    /// Whether the folder is given on the command line, which shows that the embedded PostgreSQL is meant.
    #[arg(skip)]
    pub has_data_dir_flag: bool,
}

impl Serve {
    /// The threads on which the computer chooses its moves, on a machine with this number of cores.
    pub fn computer_threads(&self, cores: usize) -> u16 {
        let default = u16::try_from(cores / 4).unwrap_or(u16::MAX).clamp(1, COMPUTER_THREADS_DEFAULT_MAX);
        self.computer_threads.unwrap_or(default)
    }
}

impl Database {
    /// How long the start waits for the database.
    pub const fn wait(&self) -> Duration {
        Duration::from_secs(self.database_wait_s)
    }

    /// The folder of the embedded PostgreSQL: the given one, or `mancala-server` in the user's data folder.
    pub fn folder(&self) -> Option<PathBuf> {
        let given = self.data_dir.clone();
        given.or_else(|| Some(etcetera::choose_base_strategy().ok()?.data_dir().join("mancala-server")))
    }
}

/// Hides the URLs, which may hold passwords.
impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [url, read_url] = [&self.database_url, &self.read_database_url].map(|url| url.as_ref().map(|_| "…"));
        let mut shown = f.debug_struct("Database");
        shown
            .field("database_url", &url)
            .field("read_database_url", &read_url)
            .field("database_wait_s", &self.database_wait_s);
        shown.field("data_dir", &self.data_dir).field("has_data_dir_flag", &self.has_data_dir_flag).finish()
    }
}

/// A switch for a part of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    On,
    Off,
}

/// The format of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Lines for a reader at a terminal
    Text,
    /// JSON, an object per line
    Json,
}

/// The requests that the access log records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AccessLogLevel {
    /// No request
    Off,
    /// Requests with a status of 400 or more, or whose client has disconnected
    Errors,
    /// All requests
    All,
}

/// The format of the access log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AccessLogFormat {
    /// JSON, an object per line
    Json,
    /// The combined form of Apache and nginx, with milliseconds, request id and trace id at its end
    Combined,
}

impl From<AccessLogLevel> for Level {
    fn from(word: AccessLogLevel) -> Self {
        match word {
            AccessLogLevel::Off => Self::Off,
            AccessLogLevel::Errors => Self::Errors,
            AccessLogLevel::All => Self::All,
        }
    }
}

impl From<AccessLogFormat> for Format {
    fn from(word: AccessLogFormat) -> Self {
        match word {
            AccessLogFormat::Json => Self::Json,
            AccessLogFormat::Combined => Self::Combined,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_computer_has_a_quarter_of_the_cores_unless_told_otherwise() {
        let threads = |arguments: &[&str], cores| Cli::parse_from(arguments).serve.computer_threads(cores);
        let defaults: Vec<_> = [1, 2, 4, 7, 8, 16, 64].map(|cores| threads(&["mancala-server"], cores)).into();
        assert_eq!(defaults, [1, 1, 1, 1, 2, 4, 8]);
        assert_eq!(threads(&["mancala-server", "--computer-threads", "0"], 16), 0);
    }
}
