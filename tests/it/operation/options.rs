//! Options and variables: wrong ones are named in one line, and the document and the help name all.

use mancala_server::http::new_key;
use nix::sys::signal::Signal;
use serde_json::json;

use crate::support::{
    app::TestApp,
    binary::{File, Running, ended, ended_with, server, url},
};

#[test]
fn a_password_on_the_command_line_is_warned_of() {
    let key = File::new(&new_key());
    let with = |arguments: &[&str], variables: &[(&str, &str)]| {
        let arguments = [arguments, &["--database-wait-s", "0", "--jwt-private-key-file", key.name()]].concat();
        let (status, log) = ended_with(&arguments, variables);
        assert_eq!(status, Some(1), "{log}");
        assert!(!log.contains("secret"), "{log}");
        log.contains("--database-url has a password")
    };
    let url = "postgres://ana:secret@127.0.0.1:1/none";
    assert!(with(&["--database-url", url], &[]));
    assert!(with(&[&format!("--database-url={url}")], &[]));
    assert!(with(&["--database-url", "postgres://ana@127.0.0.1:1/none?password=secret"], &[]));
    assert!(!with(&["--database-url", "postgres://ana@127.0.0.1:1/none"], &[]));
    assert!(!with(&[], &[("DATABASE_URL", url)]));
}

#[test]
fn wrong_options_end_with_status_2_and_one_clear_line() {
    let url = "postgres://ana:secret@127.0.0.1:1/none";
    let (status, line) = ended(&["--database-url", url]);
    assert_eq!(status, Some(2));
    assert!(line.contains("openssl genpkey -algorithm ed25519"), "{line}");
    assert!(!line.contains("secret"));
    let key = File::new(&new_key());
    for arguments in [
        &["--listen", "nowhere"][..],
        &["--metrics-listen", "9090"],
        &["--drain-s", "-1"],
        &["--drain-s", "soon"],
        &["--shutdown-timeout-s", "99999"],
        &["--public-url", "play.example"],
        &["--public-url", "https://ana:secret@play.example"],
        &["--public-url", "https://play.example?x=1"],
        &["--public-url", "https://"],
        &["--colour", "red"],
        &["--colour=secret"],
        &["--cors-origins", "play.example"],
        &["--cors-origins", "https://play.example/path"],
        &["--rate-limits", "sometimes"],
        &["--trusted-proxies", "proxy.example"],
        &["--trusted-proxies", "10.0.0.0/8,10.0.0.0/33"],
        &["--trusted-proxies", "ana:secret@proxy.example"],
        &["--cors-origins", "https://[["],
        &["--cors-origins", "https://[::1"],
        &["--cors-origins", "https://[0:0::1]"],
        &["--cors-origins", "https://a:b"],
        &["--cors-origins", "https://a:99999"],
        &["--cors-origins", "https://a:0"],
        &["--cors-origins", "https://a:08080"],
        &["--cors-origins", "https://:"],
        &["--cors-origins", "https://:8080"],
        &["--cors-origins", "https://-"],
        &["--cors-origins", "https://a..b"],
        &["--cors-origins", "https://1.2.3.999"],
        &["--cors-origins", "https://play.example:443"],
        &["--cors-origins", "http://play.example:80"],
        &["--cors-origins", "https://ana:secret@play.example"],
        &["--data-dir", url],
        &["play"],
        &["secret"],
        &["serve", "postgres:secret"],
        &["migrate", "--", "secret"],
        &["--log-format", "secret"],
        &["--help=secret"],
        &["--listen", "secret\nUsage:"],
        &["--listen", "127.0.0.1:0", "--listen", "secret"],
        &[url],
        &["--listen"],
        &["--log-format", "xml"],
        &["--database-url", "mysql://localhost/x", "--log-format", "text"],
        &["--database-url", url, "--jwt-private-key-file", "/no/such/file"],
        &["--database-url", url, "--jwt-private-key-file", "/dev/null"],
        &["--jwt-public-key-files", "/no/such/file"],
        &["--jwt-public-key-files", "/dev/null"],
        &["--jwt-public-key-files", key.name()],
    ] {
        is_misuse(&ended(arguments), arguments);
    }
}

#[test]
fn wrong_options_of_commands_are_named() {
    for (arguments, said) in [
        (&["verify", "--pace", "0"][..], "--pace <GAMES>: "),
        (&["verify", "--outage-s", "secret"], "--outage-s <SECONDS>: "),
        (&["export", "file", "--after", "1"], "--after <GAME_ID>: "),
        (&["export", "file", "--format", "secret"], "--format <FORMAT>: must be one of ndjson, text"),
        (&["export", "file", "--resume"], "--resume <FILE>: a value is missing"),
        (&["solve", "kalah", "--table-mib", "0"], "--table-mib <MIB>: "),
        (&["backup"], "<FILE> is missing"),
        (&["restore", "--replace"], "<FILE> is missing"),
        (&["import"], "<FILE>... is missing"),
    ] {
        let (status, line) = ended(arguments);
        is_misuse(&(status, line.clone()), arguments);
        assert!(line.starts_with(&format!("mancala-server: {said}")), "{arguments:?} {line}");
    }
}

#[test]
fn wrong_variables_end_with_status_2_and_one_clear_line() {
    for variable in [
        ("LISTEN", "nowhere"),
        ("METRICS_LISTEN", "9090"),
        ("LOG_FORMAT", "xml"),
        ("DRAIN_S", "soon"),
        ("CORS_ORIGINS", "play.example"),
        ("PUBLIC_URL", "play.example"),
        ("DATABASE_URL", "mysql://ana:secret@localhost/x"),
        ("DB_CONNECTIONS", "0"),
        ("DB_CONNECTIONS", "many"),
        ("JWT_PUBLIC_KEY_FILES", "/no/such/file"),
        ("RUST_LOG", "loud"),
        ("RUST_LOG", "mancala=loud"),
        ("RUST_LOG", "mancala:debug"),
        ("RUST_LOG", "info;mancala=debug"),
        ("RUST_LOG", "info mancala=debug"),
        ("RUST_LOG", "mancala-server=debug"),
        ("RUST_LOG", "=debug"),
        ("RUST_LOG", "mancala="),
        ("RUST_LOG", "mancala=debug=secret"),
        ("RUST_LOG", "[secret"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector.example"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://ana:secret@localhost:4318"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://:4318"),
        ("RUST_LOG", "secret"),
    ] {
        let (status, line) = ended_with(&[], &[variable]);
        is_misuse(&(status, line.clone()), &[variable.0]);
        assert!(line.contains(variable.0) || variable.0.starts_with("JWT"), "{line}");
    }
    let grpc = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4317"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")];
    is_misuse(&ended_with(&[], &grpc), &["grpc"]);
    for sampling in [
        &[("OTEL_TRACES_SAMPLER", "bogus")][..],
        &[("OTEL_TRACES_SAMPLER_ARG", "2"), ("OTEL_TRACES_SAMPLER", "traceidratio")],
        &[("OTEL_TRACES_SAMPLER_ARG", "half"), ("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")],
    ] {
        let (name, value) = sampling[0];
        let collector = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318");
        let (status, line) = ended_with(&[], &[&[collector], sampling].concat());
        assert!(line.contains(name) && !line.contains(value), "{line}");
        is_misuse(&(status, line), &[name]);
    }
}

#[test]
fn a_secret_in_the_place_of_a_file_is_not_repeated() {
    let key = new_key();
    let line_of_key = key.lines().nth(1).expect("a key has a line");
    let url = "postgres://ana:secret@db.example/mancala";
    let database = ("DATABASE_URL", "postgres://127.0.0.1:1/none");
    for variable in ["JWT_PRIVATE_KEY_FILE", "JWT_PUBLIC_KEY_FILES"] {
        for value in [&key, line_of_key, url, "ana:secret@db.example"] {
            let (status, line) = ended_with(&[], &[database, (variable, value)]);
            assert!(line.contains(variable) && line.contains("names a file"), "{line}");
            assert!(!line.contains(&line_of_key[..16]), "{line}");
            is_misuse(&(status, line), &[variable]);
        }
        let (_, line) = ended_with(&[], &[database, (variable, "/no/such/file")]);
        assert!(line.contains("/no/such/file"), "what looks like a path is shown: {line}");
    }
}

#[test]
fn origins_as_browsers_send_them_are_accepted() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = taken.local_addr().expect("an address").to_string();
    for origin in [
        "*",
        "https://play.example",
        "https://Play.Example:8443",
        "http://localhost:5173",
        "http://127.0.0.1:443",
        "https://[::1]",
        "http://[2001:db8::1]:3000",
        "https://my_team.play-1.example,http://xn--bcher-kva.example",
    ] {
        let (status, line) = ended(&["--listen", &address, "--cors-origins", origin]);
        assert_eq!(status, Some(2), "{origin} {line}");
        assert!(line.contains("cannot listen on"), "{line}");
    }
}

#[track_caller]
fn is_misuse((status, line): &(Option<i32>, String), arguments: &[&str]) {
    assert_eq!(*status, Some(2), "{arguments:?} {line}");
    assert!(line.starts_with("mancala-server: ") && line.trim_end().lines().count() == 1, "{arguments:?} {line}");
    assert!(!line.contains("panicked") && !line.contains("secret"), "{line}");
}

#[actix_web::test]
async fn a_variable_that_is_empty_counts_as_not_set() {
    let app = TestApp::start().await;
    let empty = [
        "METRICS_LISTEN",
        "JWT_PUBLIC_KEY_FILES",
        "PUBLIC_URL",
        "CORS_ORIGINS",
        "DRAIN_S",
        "SHUTDOWN_TIMEOUT_S",
        "JWT_ISSUER",
        "DATA_DIR",
        "RUST_LOG",
        "OTEL_EXPORTER_OTLP_ENDPOINT",
    ];
    let mut running = Running::start_with(&url(&app), &new_key(), &[], &empty.map(|name| (name, "")));
    assert_eq!(running.metrics, None);
    let (id, south, _) = app.started(&json!({})).await;
    assert_eq!(running.play(&id, &south, 1, "A").await.status, 201);
    running.signal(Signal::SIGTERM);
    assert_eq!(running.ended().0, Some(0));
}

const CONFIGURATION: &str = include_str!("../../../docs/configuration.md");

#[test]
fn the_configuration_document_is_the_generated_one() {
    let generated = mancala_server::config::reference();
    assert_eq!(CONFIGURATION, generated, "make it anew: cargo run -- configuration > docs/configuration.md");
}

#[test]
fn a_switch_has_no_values_in_the_configuration_document() {
    for switch in ["--again", "--continue", "--replace"] {
        let start = format!("| `{switch}` |");
        let line = CONFIGURATION.lines().find(|line| line.starts_with(&start)).expect("it is documented");
        assert!(!line.contains("Values:"), "{line}");
    }
}

#[test]
fn the_help_names_every_option_with_its_variable() {
    let output = server(&["--help"]).output().expect("the binary runs");
    let help = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && output.stderr.is_empty());
    let flags = help.lines().filter_map(|line| line.strip_prefix("      --")?.split(' ').next());
    let mut count = 0;
    for flag in flags {
        let variable = flag.to_uppercase().replace('-', "_");
        assert!(help.contains(&format!("[env: {variable}")), "{flag}");
        assert!(CONFIGURATION.contains(&format!("| `--{flag}` | `{variable}` |")), "{flag}");
        count += 1;
    }
    assert!(count >= 45, "{count}");
    for word in ["RUST_LOG", "PG_BIN", "OTEL_EXPORTER_OTLP_ENDPOINT", "Exit status", "SIGTERM"] {
        assert!(help.contains(word), "{word}");
    }
}

#[test]
fn the_short_help_shows_the_ten_options_that_most_operators_choose() {
    let output = server(&["-h"]).output().expect("the binary runs");
    let help = String::from_utf8_lossy(&output.stdout).into_owned();
    let flags: Vec<_> = help.lines().filter_map(|line| line.strip_prefix("      --")?.split(' ').next()).collect();
    assert_eq!(flags.len(), 10, "{help}");
    for flag in ["listen", "data-dir", "database-url", "public-url", "jwt-private-key-file", "rate-limits"] {
        assert!(flags.contains(&flag), "{flag}");
    }
    assert!(help.contains("`--help` lists all options."));
}
