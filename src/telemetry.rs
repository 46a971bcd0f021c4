//! Logs: text for a person at a terminal, JSON for everything else.

use std::io::{self, IsTerminal};

use tracing_subscriber::{EnvFilter, fmt, layer::SubscriberExt, util::SubscriberInitExt};

use crate::config::LogFormat;

/// What is logged unless `RUST_LOG` says otherwise. Left out is what libraries say of every start, and of every client that
/// sends what is no HTTP.
const FILTER_DEFAULT: &str = "info,actix_server=warn,actix_http=off,sqlx::postgres::notice=warn";

/// Starts logging to standard error. `None`: as the terminal suggests.
pub fn init(format: Option<LogFormat>) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(FILTER_DEFAULT));
    let is_terminal = io::stderr().is_terminal();
    let text = format.map_or(is_terminal, |format| format == LogFormat::Text);
    let registry = tracing_subscriber::registry().with(filter);
    if text {
        registry.with(fmt::layer().with_writer(io::stderr).with_ansi(is_terminal)).init();
    } else {
        registry.with(fmt::layer().json().flatten_event(true).with_writer(io::stderr)).init();
    }
}
