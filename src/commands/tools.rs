//! The programs that dump and restore: how they connect, and how they run concurrently with the rest of a command.

use std::{process::Command, thread};

use mancala_server::{
    config::Database,
    db::databases,
    embedded::{EmbeddedError, Tools},
};
use sqlx::postgres::PgConnectOptions;
use tokio::sync::oneshot;

use super::failure::Failure;

/// Parameters of a URL that both sqlx and PostgreSQL's programs know, by the names of the former. The parameters that say where
/// the database is are not among them.
const PARAMETERS: [(&str, &str); 10] = [
    ("sslmode", "sslmode"),
    ("ssl-mode", "sslmode"),
    ("sslrootcert", "sslrootcert"),
    ("ssl-root-cert", "sslrootcert"),
    ("ssl-ca", "sslrootcert"),
    ("sslcert", "sslcert"),
    ("ssl-cert", "sslcert"),
    ("sslkey", "sslkey"),
    ("ssl-key", "sslkey"),
    ("connect_timeout", "connect_timeout"),
];

/// The programs for the server of a database.
pub async fn find(database: &PgConnectOptions) -> Result<Tools, Failure> {
    let major = databases::major(database).await.map_err(Failure::new)?;
    Tools::find(major).map_err(Failure::new)
}

/// Lets a program connect to the database of a command, or to another one of the same server. The server is the host in
/// `database`, also if the URL names several. The password is passed by the environment: other users can read
/// arguments.
pub fn connect(command: &mut Command, options: &Database, database: &PgConnectOptions, other: Option<&str>) {
    let parameters = options.database_url.as_deref().map_or_else(Parameters::default, Parameters::of);
    let target = target(database, other.unwrap_or_else(|| databases::name(database)), &parameters.shared);
    command.args(["--no-password", "--dbname", &target]);
    if let Some(password) = parameters.password {
        command.env("PGPASSWORD", password);
    }
}

/// Where PostgreSQL's programs find the database `name` on the host in `database`: pairs of keys and values.
fn target(database: &PgConnectOptions, name: &str, shared: &[(&str, String)]) -> String {
    let socket = database.get_socket().map(|socket| socket.display().to_string());
    let host = socket.unwrap_or_else(|| database.get_host().to_owned());
    let (port, user) = (database.get_port().to_string(), database.get_username());
    let place = [("host", &*host), ("port", &port), ("user", user), ("dbname", name)];
    let shared = shared.iter().map(|(key, value)| (*key, value.as_str()));
    place.into_iter().chain(shared).map(|(key, value)| format!("{key}={}", quoted(value))).collect::<Vec<_>>().join(" ")
}

/// A value as PostgreSQL's programs read it.
fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\\', r"\\").replace('\'', r"\'"))
}

/// Runs a program on a thread of its own. The signal that stops the command ends the wait, and the end of the process
/// ends the program.
pub async fn run(tools: Tools, mut command: Command) -> Result<(), Failure> {
    let (report, reported) = oneshot::channel();
    let run = move || {
        let outcome: Result<(), EmbeddedError> = tools.run(&mut command);
        drop(report.send(outcome));
    };
    thread::Builder::new().name("tool".to_owned()).spawn(run).map_err(Failure::new)?;
    reported.await.map_err(Failure::new)?.map_err(Failure::new)
}

/// The parameters of a URL for a connection, other than the place of the database.
#[derive(Debug, Default)]
struct Parameters {
    /// By the names that PostgreSQL's programs know.
    shared: Vec<(&'static str, String)>,
    password: Option<String>,
}

impl Parameters {
    fn of(url: &str) -> Self {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let authority = rest.split('/').next().unwrap_or_default();
        let credentials = authority.rsplit_once('@').and_then(|(credentials, _)| credentials.split_once(':'));
        let mut read = Self { shared: vec![], password: credentials.map(|(_, password)| decoded(password)) };
        for (key, value) in query.split('&').filter_map(|parameter| parameter.split_once('=')) {
            if key == "password" {
                read.password = Some(decoded(value));
            } else if let Some((_, known)) = PARAMETERS.iter().find(|(ours, _)| *ours == key) {
                read.shared.push((known, decoded(value)));
            }
        }
        read
    }
}

/// Replaces each `%` and two hexadecimal digits by the byte that they mean.
fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (vec![], text.as_bytes());
    while let Some((&first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|hex| str::from_utf8(hex).ok()).filter(|_| first == b'%');
        if let Some(byte) = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            bytes.push(byte);
            rest = &after[2..];
        } else {
            bytes.push(first);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(url: &str, present: &str) -> (Vec<String>, Option<String>) {
        let options = Database {
            database_url: Some(url.to_owned()),
            read_database_url: None,
            database_wait_s: 60,
            data_dir: None,
            has_data_dir_flag: false,
        };
        let mut command = Command::new("pg_dump");
        connect(&mut command, &options, &present.parse().expect("a URL"), None);
        let arguments = command.get_args().map(|argument| argument.to_string_lossy().into_owned()).collect();
        let mut variables = command.get_envs().filter(|(name, _)| *name == "PGPASSWORD");
        (arguments, variables.next().and_then(|(_, value)| Some(value?.to_string_lossy().into_owned())))
    }

    #[test]
    fn a_program_goes_to_the_present_host_of_several() {
        let url = "postgres://ana:p%40ss:w@h1:5433,h2:5434/games?sslmode=require&target_session_attrs=read-write&x=1";
        let (arguments, password) = arguments(url, "postgres://ana:p%40ss:w@h2:5434/games");
        let target = "host='h2' port='5434' user='ana' dbname='games' sslmode='require'";
        assert_eq!(arguments, ["--no-password", "--dbname", target]);
        assert_eq!(password.as_deref(), Some("p@ss:w"));
    }

    #[test]
    fn a_socket_and_odd_names_reach_the_programs() {
        let url = "postgres://localhost/x?host=/run/a&user=bo&password=s%25&ssl-ca=/c%20a.pem&port=7";
        let Parameters { shared, password } = Parameters::of(url);
        let present = url.parse().expect("a URL");
        let target = target(&present, r"it's \ here", &shared);
        assert_eq!(target, r"host='/run/a' port='7' user='bo' dbname='it\'s \\ here' sslrootcert='/c a.pem'");
        assert_eq!(password.as_deref(), Some("s%"));
    }
}
