//! Options, by flag or by environment variable.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use etcetera::BaseStrategy;

/// A game-service backend for Kalah, Oware and Congkak: a REST API whose every move is stored in PostgreSQL.
#[derive(Debug, Parser)]
#[command(name = "mancala-server", version, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub serve: Serve,
}

/// What to do.
#[derive(Debug, Subcommand)]
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

    /// How to write the log; unless set, text on a terminal and JSON otherwise
    #[arg(long, env, global = true, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,
}

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

impl Database {
    /// The folder of the embedded PostgreSQL: the one given, or `mancala-server` under the user's data folder.
    pub fn folder(&self) -> Option<PathBuf> {
        let given = self.data_dir.clone();
        given.or_else(|| Some(etcetera::choose_base_strategy().ok()?.data_dir().join("mancala-server")))
    }
}
