//! The server's binary as a child process, with its options, signals and log.

use std::{
    env,
    fs::{self, OpenOptions},
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    os::unix::fs::OpenOptionsExt,
    path::PathBuf,
    process::{Child, ChildStdout, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    thread::{self, JoinHandle},
};

use mancala_server::{
    domain::PlayerId,
    http::{Tokens, new_key},
};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use reqwest::{Client, RequestBuilder};
use serde_json::json;

use crate::support::{
    answer::Answer,
    app::{AUDIENCE, ISSUER, TestApp},
    calls::{self, Guest, send},
    clock::{now, until},
};

/// The binary without the variables of the test's own environment.
pub fn server(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mancala-server"));
    command.env_clear().env("PATH", env::var_os("PATH").unwrap_or_default()).args(arguments);
    command
}

/// Exit status and standard error of a run that ends by itself.
pub fn ended(arguments: &[&str]) -> (Option<i32>, String) {
    ended_with(arguments, &[])
}

/// The same, with some variables.
pub fn ended_with(arguments: &[&str], variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let output = server(arguments).envs(variables.iter().copied()).output().expect("the binary runs");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The URL of a test's database.
pub fn url(app: &TestApp) -> String {
    let options = &app.options;
    let host = options.get_host();
    let database = options.get_database().expect("a name");
    format!("postgres://{}@localhost:{}/{database}?host={host}", options.get_username(), options.get_port())
}

/// A file of a test, deleted with it.
pub struct File(pub PathBuf);

impl File {
    pub fn new(content: &str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(1);
        let name = format!("{}-{}.pem", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        // A private key that others may read is refused.
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path).expect("a file");
        file.write_all(content.as_bytes()).expect("a file is written");
        Self(path)
    }

    pub fn name(&self) -> &str {
        self.0.to_str().expect("the path is text")
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// The binary serving on the database of a test.
pub struct Running {
    child: Child,
    pub base: String,
    /// Where the metrics are, if they are served.
    pub metrics: Option<String>,
    log: Option<JoinHandle<String>>,
    output: Option<ChildStdout>,
    tokens: Tokens,
    _key: File,
}

impl Running {
    pub fn start(app: &TestApp) -> Self {
        Self::start_with(&url(app), &new_key(), &["--rate-limits", "off"], &[])
    }

    /// With a database's URL, a private key, and more options and variables.
    pub fn start_with(url: &str, key: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::start_command(server(&[]), url, key, arguments, variables)
    }

    /// A server that may open so many files.
    pub fn start_with_files(url: &str, files: u32, arguments: &[&str]) -> Self {
        let mut command = Command::new("sh");
        command.env_clear().env("PATH", env::var_os("PATH").unwrap_or_default());
        command.args(["-c", &format!("ulimit -n {files}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_mancala-server")]);
        Self::start_command(command, url, &new_key(), arguments, &[])
    }

    fn start_command(
        mut command: Command,
        url: &str,
        key: &str,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Self {
        let key_file = File::new(key);
        if !arguments.contains(&"--listen") {
            command.args(["--listen", "127.0.0.1:0"]);
        }
        command.args(["--log-format", "json", "--database-url", url]);
        command.args(["--jwt-private-key-file", key_file.name()]).args(arguments).envs(variables.iter().copied());
        let mut child = command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the binary runs");
        let mut log = BufReader::new(child.stderr.take().expect("standard error is piped")).lines();
        let (mut seen, mut metrics) = (String::new(), None);
        let base = loop {
            let Some(Ok(line)) = log.next() else { panic!("the server did not start: {seen}") };
            seen.push_str(&line);
            seen.push('\n');
            if let Some((_, rest)) = line.split_once("\"metrics ") {
                metrics = rest.split('"').next().map(str::to_owned);
            }
            if let Some((_, rest)) = line.split_once("API ") {
                break rest.split("/v1").next().expect("an address").to_owned();
            }
        };
        // The pipe is read to its end: a full pipe would block the server.
        let log = thread::spawn(move || log.map_while(Result::ok).fold(seen, |seen, line| seen + &line + "\n"));
        let output = child.stdout.take();
        let tokens = Tokens::from_pem(key, ISSUER, AUDIENCE).expect("a key");
        Self { child, base, metrics, log: Some(log), output, tokens, _key: key_file }
    }

    pub fn get(&self, path: &str) -> RequestBuilder {
        Client::new().get(format!("{}{path}", self.base))
    }

    pub fn post(&self, path: &str) -> RequestBuilder {
        Client::new().post(format!("{}{path}", self.base))
    }

    /// A token for a guest, signed with this server's key.
    pub fn token(&self, guest: &Guest) -> String {
        self.tokens.issue(calls::guest(PlayerId(guest.id.parse().expect("an id"))), now())
    }

    /// A move of a guest.
    pub fn playing(&self, id: &str, guest: &Guest, ply: u32, mv: &str) -> RequestBuilder {
        let request = self.post(&format!("/v1/games/{id}/moves")).bearer_auth(self.token(guest));
        request.json(&json!({"ply": ply, "move": mv}))
    }

    pub async fn play(&self, id: &str, guest: &Guest, ply: u32, mv: &str) -> Answer {
        send(self.playing(id, guest, ply, mv)).await
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id().try_into().expect("a process id")), signal).expect("it runs");
    }

    /// Memory that the process has in use.
    pub fn resident_kib(&self) -> usize {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
        resident.trim().trim_end_matches(" kB").parse().expect("a number")
    }

    pub fn address(&self) -> &str {
        self.base.trim_start_matches("http://")
    }

    /// Waits for its end: exit status and all of its log.
    pub fn ended(&mut self) -> (Option<i32>, String) {
        let status = self.child.wait().expect("it is a child of ours");
        let log = self.log.take().expect("it ends once");
        (status.code(), log.join().expect("the log is text"))
    }
}

impl Running {
    /// Stops the server: what it wrote to standard output.
    pub fn stopped_output(&mut self) -> String {
        self.signal(Signal::SIGTERM);
        let (mut output, mut text) = (self.output.take().expect("it is open"), String::new());
        output.read_to_string(&mut text).expect("standard output is text");
        assert_eq!(self.ended().0, Some(0));
        text
    }

    /// Closes the reading end of standard output.
    pub fn close_output(&mut self) {
        self.output = None;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until no new connection is accepted.
pub async fn until_connections_refused(running: &Running) {
    until("connections are refused", || TcpStream::connect(running.address()).is_err()).await;
}
