//! Options, by flag or by environment variable.

use std::{
    env,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
};

use clap::{
    Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum,
    builder::{Resettable, StyledStr},
    error::ErrorKind,
};
use etcetera::BaseStrategy;
use ipnet::IpNet;

/// A game-service backend for Kalah, Oware and Congkak: a REST API whose every move is stored in PostgreSQL.
///
/// Without any option it serves on 127.0.0.1:8080 with a PostgreSQL of its own, which it starts, keeps in the user's
/// data folder, and stops. SIGTERM and SIGINT stop it.
#[derive(Debug, Parser)]
#[command(name = "mancala-server", version, max_term_width = 100, after_long_help = BEYOND_OPTIONS)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub serve: Serve,
}

/// What `--help` says beyond the options.
const BEYOND_OPTIONS: &str = "\
Every option can be given by its variable too; one that is empty counts as not set.

Environment only:
  RUST_LOG
          What to log: a level (error, warn, info, debug, trace), and levels of modules, as in
          `info,mancala_server=debug`. Unless set, info, and less of some libraries
  PG_BIN
          The folder of PostgreSQL's programs, if the embedded one shall use others than it finds
  OTEL_EXPORTER_OTLP_ENDPOINT
          Where a collector takes traces by OTLP over plain HTTP, as http://localhost:4318.
          Unless set, none are made. OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER and others do what
          OpenTelemetry says

Stopping: at the first SIGTERM or SIGINT, /readyz turns 503. When the time of --drain-s is over,
no connection is accepted any more, and what was accepted is answered, within the time of
--shutdown-timeout-s at most. Each further signal ends the wait that is going on.

Exit status: 0 after a clean stop, 2 for wrong options, 1 for any other failure, with one line on
standard error.";

/// A command line or an environment that is no set of options; or a wish for help, which is none either.
#[derive(Debug)]
pub enum Misread {
    /// What was asked for, to be shown.
    Shown(StyledStr),
    /// What is wrong, in one line.
    Wrong(String),
}

impl Cli {
    /// The options as given. A variable that is set but empty counts as not set.
    pub fn read() -> Result<Self, Misread> {
        let command = Self::command().mut_args(|argument| {
            let value = argument.get_env().and_then(env::var_os);
            if value.is_some_and(|value| value.is_empty()) {
                return argument.env(Resettable::Reset);
            }
            argument
        });
        let matches = command.try_get_matches().and_then(|matches| Self::from_arg_matches(&matches));
        matches.map_err(|error| match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Misread::Shown(error.render()),
            _ => Misread::Wrong(one_line(&error.render().to_string())),
        })
    }
}

/// What clap says of a mistake, without the usage, and with the variable that may be to blame beside its flag.
fn one_line(text: &str) -> String {
    let said = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let said = said.take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information"));
    let mut line = said.collect::<Vec<_>>().join(" ");
    if let Some(rest) = line.strip_prefix("error: ") {
        line = String::from(rest);
    }
    // A URL in the wrong place may hold a password.
    if let Some((before, quoted)) = line.split_once('\'')
        && let Some((value, after)) = quoted.split_once("' for '")
        && value.contains('@')
    {
        line = format!("{before}'…' for '{after}");
    }
    let command = Cli::command();
    let blamed = command.get_arguments().find_map(|argument| {
        let flag = format!("'--{} ", argument.get_long()?);
        let end = line.find(&flag)? + flag.len();
        Some((argument, end + line[end..].find('\'')? + 1))
    });
    let Some((argument, end)) = blamed else {
        // So may one that belongs to no option at all.
        return if line.contains("://") { "an argument is none of the options: see --help".to_owned() } else { line };
    };
    if let Some(variable) = argument.get_env() {
        line.insert_str(end, &format!(" or {}", variable.display()));
    }
    line
}

/// What to do.
#[derive(Clone, Copy, Debug, Subcommand)]
pub enum Command {
    /// Start the service (the default). Migrations run first
    Serve,
    /// Bring the database up to date, and end
    Migrate,
    /// Print the OpenAPI document, and end
    Openapi,
}

/// Options of the service.
#[derive(Debug, Args)]
pub struct Serve {
    /// Where to listen; port 0 picks a free one
    #[arg(long, env, global = true, default_value = "127.0.0.1:8080", value_name = "ADDRESS:PORT")]
    pub listen: SocketAddr,

    #[command(flatten)]
    pub database: Database,

    /// A PEM file with the Ed25519 private key that signs access tokens. With the embedded PostgreSQL one is made and
    /// kept in the data folder; with a database of your own it is needed, so that every server signs alike:
    /// openssl genpkey -algorithm ed25519 -out jwt.pem
    #[arg(long, env, global = true, value_name = "FILE")]
    pub jwt_private_key_file: Option<PathBuf>,

    /// PEM files with more Ed25519 public keys whose access tokens are accepted, separated by commas: for changing the
    /// signing key without signing anybody out. Get one from its private key with:
    /// openssl pkey -in jwt.pem -pubout -out jwt-public.pem
    #[arg(long, env, global = true, value_delimiter = ',', value_name = "FILES")]
    pub jwt_public_key_files: Vec<PathBuf>,

    /// Who issues the access tokens: their `iss`
    #[arg(long, env, global = true, default_value = "mancala-server", value_name = "NAME")]
    pub jwt_issuer: String,

    /// Whom the access tokens are for: their `aud`
    #[arg(long, env, global = true, default_value = "mancala-server", value_name = "NAME")]
    pub jwt_audience: String,

    /// Origins whose pages may call from a browser, such as `https://play.example`, separated by commas; `*` for all
    #[arg(long, env, global = true, default_value = "*", value_delimiter = ',', value_parser = origin, value_name = "ORIGINS")]
    pub cors_origins: Vec<String>,

    /// Days after which guests are forgotten who have no game and were not seen since; 0 for never
    #[arg(long, env, global = true, default_value_t = 90, value_name = "DAYS")]
    pub guest_retention_days: u16,
    /// Where clients reach the service, such as `https://api.example/mancala`: named as the server in `/openapi.json`. Unless
    /// set, the document says `/`, which means wherever it was read
    #[arg(long, env, global = true, value_parser = public_url, value_name = "URL")]
    pub public_url: Option<String>,

    /// Where to serve metrics, at `/metrics` in Prometheus' text format, over plain HTTP and to everybody who can reach
    /// it. Unless set, nowhere
    #[arg(long, env, global = true, value_name = "ADDRESS:PORT")]
    pub metrics_listen: Option<SocketAddr>,

    /// How many seconds the server still accepts requests after it was told to stop, while `/readyz` is already 503: a little
    /// longer than a load balancer takes to notice. 0 where there is none
    #[arg(long, env, global = true, default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=WAIT_S_MAX), value_name = "SECONDS")]
    pub drain_s: u64,

    /// How many seconds a stopping server waits for the answers to what it has accepted, before it cuts them off
    #[arg(long, env, global = true, default_value_t = 20, value_parser = clap::value_parser!(u64).range(0..=WAIT_S_MAX), value_name = "SECONDS")]
    pub shutdown_timeout_s: u64,

    /// Whether calls are limited, by player or by address; each process counts for itself
    #[arg(long, env, global = true, default_value = "on", value_name = "WHETHER")]
    pub rate_limits: Switch,

    /// Networks of reverse proxies, such as `10.0.0.0/8`, separated by commas: from there, `Forwarded` or `X-Forwarded-For`
    /// says who calls. Unless given, nobody is believed
    #[arg(long, env, global = true, default_value = "", hide_default_value = true, value_parser = networks, value_name = "NETWORKS")]
    pub trusted_proxies: Networks,

    /// How to write the log; unless set, text on a terminal and JSON otherwise
    #[arg(long, env, global = true, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,
}

/// A stop that takes longer than this is not what anybody meant.
const WAIT_S_MAX: u64 = 3600;

/// Where the database is.
#[derive(Args)]
pub struct Database {
    /// The PostgreSQL to use, such as `postgres://user:password@host/database`. Without it the service runs one of its own
    #[arg(long, env, global = true, hide_env_values = true, value_name = "URL")]
    pub database_url: Option<String>,

    /// Where the embedded PostgreSQL and its key live; unless set, under the user's data folder
    #[arg(long, env, global = true, value_name = "FOLDER")]
    pub data_dir: Option<PathBuf>,
}

/// A database's URL may hold its password.
impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let url = self.database_url.as_ref().map(|_| "…");
        f.debug_struct("Database").field("database_url", &url).field("data_dir", &self.data_dir).finish()
    }
}

/// Networks; none is a list as well.
pub type Networks = Vec<IpNet>;

/// Whether something is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    On,
    Off,
}

/// How to write the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Lines for a person.
    Text,
    /// One JSON object a line.
    Json,
}

/// An origin as browsers send it: scheme, host, and the port if it is not the scheme's own; or `*`.
fn origin(text: &str) -> Result<String, String> {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let is_origin = host.is_some_and(|host| {
        let mut bytes = host.bytes();
        !host.is_empty() && bytes.all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte))
    });
    if text == "*" || is_origin {
        Ok(text.to_lowercase())
    } else {
        Err("an origin is like https://play.example or http://localhost:5173, without a path; or *".to_owned())
    }
}

/// An address as people and programs open it: scheme, host, maybe a port and a path.
fn public_url(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let is_url = rest.is_some_and(|rest| {
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let is_of = |text: &str, more: &[u8]| {
            text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte) || more.contains(&byte))
        };
        host.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '[')
            && is_of(host, b":[]")
            && is_of(path, b"/_~%")
    });
    if is_url {
        Ok(text.trim_end_matches('/').to_owned())
    } else {
        Err("a URL is like https://api.example or http://localhost:8080/mancala, without query or user".to_owned())
    }
}

/// Networks in CIDR notation, separated by commas; an address alone is a network of one.
fn networks(text: &str) -> Result<Networks, String> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let network = |part: &str| part.parse().or_else(|_| part.parse().map(|address: IpAddr| address.into()));
    let wrong = |part: &str| format!("`{part}` is no network; one is like 10.0.0.0/8 or fd00::/8");
    parts.map(|part| network(part).map_err(|_| wrong(part))).collect()
}

impl Database {
    /// The folder of the embedded PostgreSQL: the one given, or `mancala-server` under the user's data folder.
    pub fn folder(&self) -> Option<PathBuf> {
        let given = self.data_dir.clone();
        given.or_else(|| Some(etcetera::choose_base_strategy().ok()?.data_dir().join("mancala-server")))
    }
}
