//! Logs and traces.
//!
//! The log is text on a terminal and JSON otherwise. Traces are the same spans, sent to a collector by OTLP if OpenTelemetry's
//! standard variables name one.

mod span_fields;

use std::{env, io, io::IsTerminal, time::Duration};

use mancala_process::{clock, outage::Outage};
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig};
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    trace::{SdkTracerProvider, SpanData},
};
use thiserror::Error;
use tracing::{Level, Metadata, level_filters::LevelFilter};
use tracing_subscriber::{
    EnvFilter, Layer, Registry,
    filter::dynamic_filter_fn,
    fmt::{self, format::Writer, time::FormatTime},
    layer::{Filter, SubscriberExt},
    util::SubscriberInitExt,
};

use crate::config::LogFormat;
use span_fields::SpanFields;

/// The log filter unless `RUST_LOG` is set. It omits the messages of libraries about each start, and about each client that does
/// not send HTTP.
const FILTER_DEFAULT: &str = "info,actix_server=warn,actix_http=off,sqlx::postgres::notice=warn";

/// Stands before every filter: the pools would say of each connection that it is lost. `RUST_LOG` may name the targets again.
const FILTER_ALWAYS: &str = "sqlx_core::pool=error,sqlx::pool=error";

/// The service's name in traces, unless `OTEL_SERVICE_NAME` or `OTEL_RESOURCE_ATTRIBUTES` is set.
const SERVICE_NAME: &str = "mancala-server";

/// The prefix of the crates whose spans are exported: those of the service, including its statements. Spans of libraries would be
/// noise, and each span of the exporter would cause another one.
const TRACED: &str = "mancala_";

/// How long the process waits at its end for the last spans to be sent.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(3);

/// Keeps traces running. When it is dropped, the last spans are sent.
#[derive(Debug)]
pub struct Telemetry {
    traces: Option<SdkTracerProvider>,
}

/// An invalid setting of logs or traces.
#[derive(Debug, Error)]
pub enum TelemetryError {
    #[error("RUST_LOG must be a log filter such as `info` or `info,mancala=debug`: {0}")]
    Filter(String),
    #[error("{variable}: the only supported protocol is `http/protobuf`")]
    Protocol { variable: &'static str },
    #[error(
        "{variable} must look like http://localhost:4318: traces are sent by plain HTTP, and a password belongs into \
         OTEL_EXPORTER_OTLP_HEADERS"
    )]
    Endpoint { variable: &'static str },
    #[error("{variable} must be a {expected}")]
    Sampling { variable: &'static str, expected: &'static str },
    #[error("traces cannot be exported: {0}")]
    Exporter(String),
}

/// Starts the log on standard error, and traces if the environment names a collector. The format `None` means text on a terminal
/// and JSON otherwise.
pub fn init(format: Option<LogFormat>) -> Result<Telemetry, TelemetryError> {
    let filter = filter()?;
    let traces = traces()?;
    let is_terminal = io::stderr().is_terminal();
    let text = format.map_or(is_terminal, |format| format == LogFormat::Text);
    let log: Box<dyn Layer<Registry> + Send + Sync> = if text {
        Box::new(fmt::layer().with_timer(DatabaseClock).with_writer(io::stderr).with_ansi(is_terminal))
    } else {
        let json = fmt::layer().json().flatten_event(true).with_span_list(false).fmt_fields(SpanFields);
        Box::new(json.with_timer(DatabaseClock).with_writer(io::stderr))
    };
    match &traces {
        // Each layer has a filter of its own, so that the log and the traces do not depend on each other.
        Some(traces) => {
            let spans = tracing_opentelemetry::layer()
                .with_tracer(traces.tracer(SERVICE_NAME))
                .with_location(false)
                .with_threads(false)
                .with_tracked_inactivity(false)
                .with_filter(traced());
            tracing_subscriber::registry().with(log.with_filter(filter)).with(spans).init();
        }
        None => tracing_subscriber::registry().with(log).with(filter).init(),
    }
    Ok(Telemetry { traces })
}

/// The service's own clock, which the access log has too.
struct DatabaseClock;

impl FormatTime for DatabaseClock {
    fn format_time(&self, writer: &mut Writer<'_>) -> std::fmt::Result {
        writer.write_str(&clock::text(clock::now()))
    }
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        if let Some(traces) = &self.traces {
            // Failures to send were logged.
            let _ = traces.shutdown_with_timeout(FLUSH_TIMEOUT);
        }
    }
}

/// The filter of exported spans. It is dynamic on purpose, so that it is evaluated for each record. A static per-layer
/// filter caches its decision. The cached one is wrong after a library logs with the crate `log`, and lines are lost.
fn traced<S>() -> impl Filter<S> {
    let is_ours = |metadata: &Metadata<'_>| metadata.target().starts_with(TRACED) && *metadata.level() <= Level::DEBUG;
    dynamic_filter_fn(move |metadata, _| is_ours(metadata)).with_max_level_hint(LevelFilter::DEBUG)
}

/// A variable that is set and not empty.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.trim().is_empty())
}

fn filter() -> Result<EnvFilter, TelemetryError> {
    // The variable is checked here, because `variable` treats a value that is no text as absent.
    if env::var_os("RUST_LOG").is_some_and(|value| value.to_str().is_none()) {
        return Err(TelemetryError::Filter("it is not UTF-8".to_owned()));
    }
    let directives = variable("RUST_LOG").unwrap_or_else(|| FILTER_DEFAULT.to_owned());
    let wrong = directives.split(',').map(str::trim).any(|directive| !is_directive(directive));
    if wrong && !directives.contains('[') {
        // The word is not repeated: it may be a secret in the wrong place.
        let expected = "one part is neither a level (error, warn, info, debug, trace, off) nor `module=level`";
        return Err(TelemetryError::Filter(expected.to_owned()));
    }
    EnvFilter::try_new(format!("{FILTER_ALWAYS},{directives}"))
        .map_err(|error| TelemetryError::Filter(error.to_string()))
}

/// Whether this is a level, or a module and its level. `EnvFilter` takes every other text for a module, so a misspelt level
/// or separator would silence the log. Spans and fields, in brackets, are left to it.
fn is_directive(text: &str) -> bool {
    let is_level = |level: &str| !level.is_empty() && level.parse::<LevelFilter>().is_ok();
    let is_name =
        |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match text.split_once('=') {
        Some((module, level)) => module.split("::").all(is_name) && is_level(level),
        None => text.is_empty() || is_level(text),
    }
}

/// The provider of traces, if an endpoint is named and no variable disables it.
fn traces() -> Result<Option<SdkTracerProvider>, TelemetryError> {
    let endpoints = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
    let endpoint = endpoints.into_iter().find_map(|name| Some((name, variable(name)?)));
    let is_off = variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"))
        || variable("OTEL_TRACES_EXPORTER").is_some_and(|value| value.eq_ignore_ascii_case("none"));
    let (Some((name, url)), false) = (endpoint, is_off) else { return Ok(None) };
    // Failures of the collector are logged with its address, so the address must hold no password.
    if !is_endpoint(&url) {
        return Err(TelemetryError::Endpoint { variable: name });
    }
    for name in ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"] {
        if variable(name).is_some_and(|protocol| protocol != "http/protobuf") {
            return Err(TelemetryError::Protocol { variable: name });
        }
    }
    check_sampling()?;
    // The library reads the other variables itself: headers, timeouts, batches and sampling.
    let exporter = SpanExporter::builder().with_http().with_protocol(Protocol::HttpBinary).build();
    let exporter = exporter.map_err(|error| TelemetryError::Exporter(error.to_string()))?;
    let exporter = LoggingExporter { exporter, outage: Outage::new(TRACES_FAIL, TRACES_WORK) };
    let mut resource = Resource::builder();
    let named = variable("OTEL_RESOURCE_ATTRIBUTES").is_some_and(|value| value.contains("service.name="));
    if variable("OTEL_SERVICE_NAME").is_none() && !named {
        resource = resource.with_service_name(SERVICE_NAME);
    }
    // A thread sends the spans from a bounded queue. Spans that do not fit are dropped, so that no request waits.
    Ok(Some(SdkTracerProvider::builder().with_resource(resource.build()).with_batch_exporter(exporter).build()))
}

/// Whether this is a URL of plain HTTP with a host. The library reports other errors.
fn is_endpoint(url: &str) -> bool {
    let rest = url.trim().strip_prefix("http://").unwrap_or_default();
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    !host.is_empty() && !host.starts_with(':') && !url.contains('@')
}

/// Refuses an unknown sampler, for which the library would sample everything.
fn check_sampling() -> Result<(), TelemetryError> {
    let wrong = |variable, expected| Err(TelemetryError::Sampling { variable, expected });
    let Some(sampler) = variable("OTEL_TRACES_SAMPLER") else { return Ok(()) };
    if !SAMPLERS.contains(&sampler.as_str()) {
        return wrong("OTEL_TRACES_SAMPLER", "sampler of OpenTelemetry, such as `parentbased_traceidratio`");
    }
    let ratio = variable("OTEL_TRACES_SAMPLER_ARG").map_or(Ok(1.0), |ratio| ratio.parse::<f64>());
    if sampler.ends_with("traceidratio") && !ratio.is_ok_and(|ratio| (0.0..=1.0).contains(&ratio)) {
        return wrong("OTEL_TRACES_SAMPLER_ARG", "ratio from 0 to 1");
    }
    Ok(())
}

/// The samplers of the library.
const SAMPLERS: [&str; 6] = [
    "always_on",
    "always_off",
    "traceidratio",
    "parentbased_always_on",
    "parentbased_always_off",
    "parentbased_traceidratio",
];

/// The log's lines about a collector that is away.
const TRACES_FAIL: &str = "traces are lost: the collector does not accept them";
const TRACES_WORK: &str = "traces are exported again";

/// An exporter that logs when its collector becomes unreachable and when it is back, not for each batch.
#[derive(Debug)]
struct LoggingExporter {
    exporter: SpanExporter,
    outage: Outage,
}

impl opentelemetry_sdk::trace::SpanExporter for LoggingExporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let outcome = self.exporter.export(batch).await;
        self.outage.note(&outcome);
        outcome
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}
