//! Servers as operators start them, each a process of its own, and their memory.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use crate::settings::has_rate_limits;

/// How long a server may take to be ready, with its migrations.
const START_MAX: Duration = Duration::from_mins(1);

/// The interval at which its log and its end are polled.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// How long a server may take to shut down.
const STOP_MAX: Duration = Duration::from_secs(20);

/// A server; dropping it ends it.
pub struct Server {
    child: Child,
    /// The address of the API.
    pub address: String,
}

impl Server {
    /// Starts a server on a database, and returns when it is ready. Its log is a file: the bench would have to read a pipe.
    pub fn start(url: &str, key: &Path, log: &Path) -> io::Result<Self> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mancala-server"));
        command.args(["--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0", "--log-format", "json"]);
        // The endpoint of the part `webhooks` is on this machine.
        command.args(["--webhook-allow-private", "on"]);
        // A player here makes as many moves as 1,000 real ones.
        let limits = if has_rate_limits() { "on" } else { "off" };
        command.args(["--rate-limits", limits, "--database-url", url, "--jwt-private-key-file"]).arg(key);
        let written = OpenOptions::new().create(true).append(true).open(log)?;
        let child = command.stdin(Stdio::null()).stderr(written).spawn()?;
        let mut server = Self { child, address: String::new() };
        server.address = server.wait_for_address(log)?;
        Ok(server)
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The resident memory of the process in MiB.
    pub fn resident(&self) -> io::Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let kibibytes =
            status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse().ok());
        kibibytes.map(|kibibytes: f64| kibibytes / 1024.0).ok_or_else(|| io::Error::other("no VmRSS"))
    }

    fn wait_for_address(&mut self, log: &Path) -> io::Result<String> {
        let begun = Instant::now();
        while begun.elapsed() < START_MAX {
            let text = io::read_to_string(File::open(log)?)?;
            let address = text.split_once("API http://").and_then(|(_, rest)| Some(rest.split_once('/')?.0.to_owned()));
            if let Some(address) = address {
                return Ok(address);
            }
            if let Some(status) = self.child.try_wait()? {
                return Err(io::Error::other(format!("the server ended with {status}: {text}")));
            }
            thread::sleep(POLL_INTERVAL);
        }
        Err(io::Error::other("the server did not become ready"))
    }
}

impl Drop for Server {
    /// Shuts the server down as an operator would, and kills it after a timeout.
    fn drop(&mut self) {
        let pid = i32::try_from(self.child.id()).map(Pid::from_raw);
        let _ = pid.map(|pid| kill(pid, Signal::SIGTERM));
        let begun = Instant::now();
        while begun.elapsed() < STOP_MAX {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(POLL_INTERVAL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
