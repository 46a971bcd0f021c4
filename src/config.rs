//! Options, by flag or by environment variable.

use std::{
    env,
    error::Error,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::PathBuf,
};

use clap::{
    Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum,
    builder::{Resettable, StyledStr},
    error::{ContextKind, ContextValue, ErrorKind},
};
use etcetera::BaseStrategy;
use ipnet::IpNet;
use uuid::Uuid;

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
            _ => Misread::Wrong(one_line(&error)),
        })
    }
}

/// What is wrong, with the variable that may be to blame beside its flag. No value is repeated: any may be a secret in the wrong
/// place.
fn one_line(error: &clap::Error) -> String {
    let said = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => Some(texts.join(", ")),
        _ => None,
    };
    let argument = said(ContextKind::InvalidArg).filter(|argument| is_flag(argument)).map(|flag| with_variable(&flag));
    let cause = match error.kind() {
        ErrorKind::ValueValidation => error.source().map(ToString::to_string),
        ErrorKind::InvalidValue => match said(ContextKind::ValidValue).filter(|words| !words.is_empty()) {
            Some(words) => Some(format!("it is one of {words}")),
            None => Some("it needs a value".to_owned()),
        },
        ErrorKind::UnknownArgument => Some("there is no such option: see --help".to_owned()),
        ErrorKind::ArgumentConflict => Some("it is given more than once".to_owned()),
        _ => None,
    };
    match (argument, cause) {
        (Some(argument), Some(cause)) => format!("{argument}: {cause}"),
        (Some(argument), None) => format!("{argument} is not used like that: see --help"),
        (None, _) => "an argument is none of the options: see --help".to_owned(),
    }
}

/// Whether this is the name of an option, with or without a word for its value, and nothing else.
fn is_flag(argument: &str) -> bool {
    let name = argument.split([' ', '=']).next().unwrap_or_default();
    let is_known = Cli::command().get_arguments().any(|known| known.get_long() == name.strip_prefix("--"));
    let is_short = name.len() <= FLAG_BYTES_MAX && name == argument;
    name.starts_with("--")
        && (is_known || is_short)
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
}

/// What is longer is no slip of the pen.
const FLAG_BYTES_MAX: usize = 24;

/// The flag, and its variable if it has one.
fn with_variable(flag: &str) -> String {
    let name = flag.split([' ', '=']).next().and_then(|name| name.strip_prefix("--"));
    let command = Cli::command();
    let known = command.get_arguments().find(|argument| argument.get_long().is_some() && argument.get_long() == name);
    match known.and_then(|argument| argument.get_env()) {
        Some(variable) => format!("{flag} or {}", variable.display()),
        None => flag.to_owned(),
    }
}

/// What to do.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Start the service (the default). Migrations run first
    Serve,
    /// Bring the database up to date, and end
    Migrate,
    /// Print the OpenAPI document, and end
    Openapi,
    /// Play every stored move again, compare everything that is stored, and end: with 1 if anything is wrong. Changes nothing
    Verify,
    /// Write all games to a file, the oldest first, and end
    Export(Export),
    /// Import the games of files, and end: with 1 if any was refused. Text records, OGN, or a game each line as JSON
    Import(Import),
    /// Fill the opening explorer anew with all public games that have a result, and end. The server may run meanwhile, and goes on if
    /// this is ended before it is done
    Reindex,
    /// Say what a position is worth when both sides play as well as can be, and each of its moves; and end. Needs no database. A small
    /// board of Kalah or Congkak takes seconds, Kalah with six pits of four seeds minutes, larger ones more than anybody has; so does Oware
    /// with more than a few seeds, where positions come again
    Solve(Solve),
}

/// What to solve.
#[derive(Clone, Debug, Args)]
pub struct Solve {
    /// The game
    pub variant: String,
    /// One of its presets
    #[arg(long, default_value = "standard")]
    pub preset: String,
    /// Where the rules differ from the preset, such as `pits=4;seeds=3`
    #[arg(long, default_value = "")]
    pub options: String,
    /// The position, in text notation; unless given, the opening
    #[arg(long)]
    pub position: Option<String>,
    /// Memory for what was seen, in MiB
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u16).range(1..=8192), value_name = "MIB")]
    pub table_mib: u16,
}

/// What to export.
#[derive(Clone, Debug, Args)]
pub struct Export {
    /// Where to write to; an existing file is replaced, unless the export goes on (--after): then it is added to
    pub file: PathBuf,
    /// In which form. Text records have no times, and leave out what was taken back
    #[arg(long, value_enum, default_value_t = GameForm::Ndjson)]
    pub format: GameForm,
    /// Only the games after this one: what an export that was ended named last
    #[arg(long, value_name = "GAME_ID")]
    pub after: Option<Uuid>,
}

/// A form of many games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GameForm {
    /// A game each line, as JSON
    Ndjson,
    /// Text records, one after the other
    Text,
}

/// What to import.
#[derive(Clone, Debug, Args)]
pub struct Import {
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Who may read the games
    #[arg(long, value_enum, default_value_t = ImportVisibility::Public)]
    pub visibility: ImportVisibility,
}

/// Who may read imported games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ImportVisibility {
    /// Everybody; they are listed
    Public,
    /// Whoever has their ids
    Unlisted,
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

    /// How many days a game waits for somebody to join; then it ends
    #[arg(long, env, global = true, default_value_t = 14, value_parser = clap::value_parser!(u16).range(1..=365), value_name = "DAYS")]
    pub open_game_days: u16,

    /// How many statements store moves at once; each stores up to 64 moves together. One was fastest on two cores, with a fast
    /// disk and with a slow one
    #[arg(long, env, global = true, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=WRITERS_MAX), value_name = "NUMBER")]
    pub writers: u32,

    /// Whether calls are limited, by player or by address; each process counts for itself
    #[arg(long, env, global = true, default_value = "on", value_name = "WHETHER")]
    pub rate_limits: Switch,

    /// Whether webhooks may be sent to private addresses, as those of this machine and its networks, and without TLS: where all players
    /// are trusted, and for tests
    #[arg(long, env, global = true, default_value = "off", value_name = "WHETHER")]
    pub webhook_allow_private: Switch,

    /// On how many threads the computer thinks about its moves, each at the lowest priority and with 16 MiB; 0 leaves that to other
    /// servers of the same database
    #[arg(long, env, global = true, default_value_t = 1, value_parser = clap::value_parser!(u16).range(0..=THINKING_THREADS_MAX), value_name = "COUNT")]
    pub computer_threads: u16,

    /// On how many threads games are analysed, each at the lowest priority and with 64 MiB while it works; 0 leaves that to other
    /// servers of the same database
    #[arg(long, env, global = true, default_value_t = 1, value_parser = clap::value_parser!(u16).range(0..=THINKING_THREADS_MAX), value_name = "COUNT")]
    pub analysis_threads: u16,

    /// Networks of reverse proxies, such as `10.0.0.0/8`, separated by commas: from there, `Forwarded` or `X-Forwarded-For`
    /// says who calls. Unless given, nobody is believed
    #[arg(long, env, global = true, default_value = "", hide_default_value = true, value_parser = networks, value_name = "NETWORKS")]
    pub trusted_proxies: Networks,

    /// How to write the log; unless set, text on a terminal and JSON otherwise
    #[arg(long, env, global = true, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,
}

/// Each holds a connection, of which the database has some hundred for all servers.
const WRITERS_MAX: i64 = 32;

/// More than any machine has to spare for this.
const THINKING_THREADS_MAX: i64 = 64;

/// A stop that takes longer than this is not what anybody meant.
const WAIT_S_MAX: u64 = 3600;

/// Where the database is.
#[derive(Args)]
pub struct Database {
    /// The PostgreSQL to use, such as `postgres://user:password@host/database`. Without it the service runs one of its own
    #[arg(long, env, global = true, hide_env_values = true, value_name = "URL")]
    pub database_url: Option<String>,

    /// Where the embedded PostgreSQL and its key live; unless set, under the user's data folder
    #[arg(long, env, global = true, value_parser = folder, value_name = "FOLDER")]
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
    if text == "*" {
        return Ok(text.to_owned());
    }
    let text = text.to_lowercase();
    let wrong = || "an origin is like https://play.example or http://localhost:5173, without a path; or *".to_owned();
    let (scheme, rest) = text.split_once("://").ok_or_else(wrong)?;
    let own_port = match scheme {
        "https" => 443,
        "http" => 80,
        _ => return Err(wrong()),
    };
    // Within brackets, colons are the address's.
    let (host, port) = match rest.rsplit_once(':').filter(|(_, port)| !port.ends_with(']')) {
        Some((host, port)) => (host, Some(port)),
        None => (rest, None),
    };
    if !is_host(host) {
        return Err(wrong());
    }
    let Some(port) = port else { return Ok(text) };
    match port.parse::<u16>() {
        Ok(number) if number == own_port => {
            Err(format!("browsers leave out the port {own_port} of {scheme}: do so here"))
        }
        // As browsers write it: without signs or zeros before it.
        Ok(number) if number > 0 && number.to_string() == port => Ok(text),
        _ => Err(wrong()),
    }
}

/// Whether this is a name, an IPv4 address, or an IPv6 address in brackets as browsers write it.
fn is_host(host: &str) -> bool {
    if let Some(address) = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        return address.parse().is_ok_and(|parsed: Ipv6Addr| parsed.to_string() == address);
    }
    let is_label = |label: &str| {
        let is_word = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        is_word && !label.is_empty() && !label.starts_with('-') && !label.ends_with('-')
    };
    // What ends in a number is an address (WHATWG URL).
    let is_number = host.rsplit('.').next().is_some_and(|last| last.bytes().all(|byte| byte.is_ascii_digit()));
    host.len() <= HOST_BYTES_MAX && host.split('.').all(is_label) && (!is_number || host.parse::<Ipv4Addr>().is_ok())
}

/// The longest name of the DNS.
const HOST_BYTES_MAX: usize = 253;

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

/// A folder's path. A URL, with its password, is none, and would otherwise be made.
fn folder(text: &str) -> Result<PathBuf, String> {
    if text.contains("://") || text.contains(|c: char| c.is_control()) {
        return Err("it names a folder".to_owned());
    }
    Ok(PathBuf::from(text))
}

/// Networks in CIDR notation, separated by commas; an address alone is a network of one.
fn networks(text: &str) -> Result<Networks, String> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let network = |part: &str| part.parse().or_else(|_| part.parse().map(|address: IpAddr| IpNet::from(address)));
    let networks: Option<Networks> = parts.map(|part| network(part).ok()).collect();
    networks.ok_or_else(|| "one of them is no network; one is like 10.0.0.0/8 or fd00::/8".to_owned())
}

impl Database {
    /// The folder of the embedded PostgreSQL: the one given, or `mancala-server` under the user's data folder.
    pub fn folder(&self) -> Option<PathBuf> {
        let given = self.data_dir.clone();
        given.or_else(|| Some(etcetera::choose_base_strategy().ok()?.data_dir().join("mancala-server")))
    }
}
