//! The variables without a flag, and the end of the help text, which lists them.

use std::fmt::Write;

/// A variable without a flag.
pub(super) struct Variable {
    pub name: &'static str,
    /// The value if the variable is not set, as Markdown; may be empty.
    pub default: &'static str,
    pub meaning: &'static str,
}

/// All of them.
pub(super) const VARIABLES: [Variable; 4] = [
    Variable {
        name: "RUST_LOG",
        default: "`info`, less for some libraries",
        meaning: "The log filter: a level (error, warn, info, debug, trace), and levels of modules by the prefix of their name. \
                  `info,mancala=debug` covers all crates of the service: mancala_server, mancala_db (the spans of SQL statements) \
                  and mancala_embedded_postgres",
    },
    Variable {
        name: "PG_BIN",
        default: "an installed PostgreSQL, otherwise a downloaded one",
        meaning: "The folder of PostgreSQL's programs for the embedded PostgreSQL",
    },
    Variable {
        name: "OTEL_EXPORTER_OTLP_ENDPOINT",
        default: "",
        meaning: "The collector that receives traces by OTLP (`http/protobuf`) over plain HTTP, such as http://localhost:4318. \
                  Unless set, traces are not made",
    },
    Variable {
        name: "OTEL_SERVICE_NAME",
        default: "`mancala-server`",
        meaning: "The name of the service in traces. OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER and other variables of \
                  OpenTelemetry work as its specification says",
    },
];

/// The rule for all options.
pub(super) const EMPTY: &str = "Each option of the service is a flag and a variable; the flag takes precedence. An empty variable counts as not set.";

/// How the service stops.
pub(super) const STOPPING: &str = "\
At the first SIGTERM or SIGINT, /readyz turns 503 and the server continues for the time of --drain-s. Then it accepts no more \
connections, and answers the accepted requests within the time of --shutdown-timeout-s. Each further signal ends the wait in progress.";

/// The exit statuses.
pub(super) const EXIT_STATUS: &str = "\
0 after a clean stop or a finished command, 2 for a cause that a restart does not remove (wrong options, a misspelt variable, a taken port, a database \
in another encoding than UTF8), 3 for a finished command that found damaged games or refused some, \
4 for a command that a signal stopped, 1 for any other failure; all but 0 with one line on standard error.";

/// The width of the help text.
const WIDTH: usize = 100;

/// The end of the text of `--help`.
pub(super) fn after_help() -> String {
    const ALWAYS: &str = "writing to a string does not fail";
    let mut text = wrapped(EMPTY, 0);
    text.push_str("\n\nEnvironment only:\n");
    for Variable { name, meaning, .. } in &VARIABLES {
        writeln!(text, "  {name}\n{}", wrapped(meaning, 10)).expect(ALWAYS);
    }
    write!(text, "\nStopping:\n{}\n\nExit status:\n{}", wrapped(STOPPING, 2), wrapped(EXIT_STATUS, 2)).expect(ALWAYS);
    text
}

/// Breaks a text into lines that start with `indent` spaces.
fn wrapped(text: &str, indent: usize) -> String {
    let mut lines: Vec<String> = vec![];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(format!("{:indent$}{word}", "")),
        }
    }
    lines.join("\n")
}
