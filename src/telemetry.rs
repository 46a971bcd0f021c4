//! Logs: text for a person at a terminal, JSON for everything else. Traces: the same spans, sent to a collector by OTLP, if
//! one is configured by OpenTelemetry's standard variables.

use std::{
    env, io,
    io::IsTerminal,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

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
    fmt,
    layer::{Filter, SubscriberExt},
    util::SubscriberInitExt,
};

use crate::config::LogFormat;

/// What is logged unless `RUST_LOG` says otherwise. Left out is what libraries say of every start, and of every client that
/// sends what is no HTTP.
const FILTER_DEFAULT: &str = "info,actix_server=warn,actix_http=off,sqlx::postgres::notice=warn";

/// What traces are called unless `OTEL_SERVICE_NAME` or `OTEL_RESOURCE_ATTRIBUTES` says otherwise.
const SERVICE_NAME: &str = "mancala-server";

/// Whose spans are exported: ours, those of statements included. Libraries' are none that anybody asked for, and the
/// exporter's own would beget others.
const TRACED: &str = "mancala_";

/// How long the end of the process waits for the last spans to be sent.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(3);

/// Logs and traces, until it is dropped: then the last spans are sent.
#[derive(Debug)]
pub struct Telemetry {
    traces: Option<SdkTracerProvider>,
}

/// Why logs or traces cannot be as the environment says.
#[derive(Debug, Error)]
pub enum TelemetryError {
    #[error("RUST_LOG is no filter for the log, such as `info` or `warn,mancala_server=debug`: {0}")]
    Filter(String),
    #[error("{variable}: traces are sent by `http/protobuf` only")]
    Protocol { variable: &'static str },
    #[error(
        "{variable} is not like http://localhost:4318: traces are sent by plain HTTP, to a collector beside the server, and \
         a password for it goes into OTEL_EXPORTER_OTLP_HEADERS"
    )]
    Endpoint { variable: &'static str },
    #[error("{variable} is no {expected}")]
    Sampling { variable: &'static str, expected: &'static str },
    #[error("traces cannot be exported: {0}")]
    Exporter(String),
}

/// Starts logging to standard error, and exporting traces if the environment asks for it. `None`: as the terminal suggests.
pub fn init(format: Option<LogFormat>) -> Result<Telemetry, TelemetryError> {
    let filter = filter()?;
    let traces = traces()?;
    let is_terminal = io::stderr().is_terminal();
    let text = format.map_or(is_terminal, |format| format == LogFormat::Text);
    let log: Box<dyn Layer<Registry> + Send + Sync> = if text {
        Box::new(fmt::layer().with_writer(io::stderr).with_ansi(is_terminal))
    } else {
        Box::new(fmt::layer().json().flatten_event(true).with_writer(io::stderr))
    };
    match &traces {
        // Each with a filter of its own, so that what is logged does not depend on what is exported, nor the other way round.
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

impl Drop for Telemetry {
    fn drop(&mut self) {
        if let Some(traces) = &self.traces {
            // What could not be sent was logged.
            let _ = traces.shutdown_with_timeout(FLUSH_TIMEOUT);
        }
    }
}

/// Lets through what is exported. It is asked every time, on purpose: a filter of one layer that is only asked once takes
/// what was last said of another record, as soon as a library logs by the crate `log`, and lines would be missing.
fn traced<S>() -> impl Filter<S> {
    let is_ours = |metadata: &Metadata<'_>| metadata.target().starts_with(TRACED) && *metadata.level() <= Level::DEBUG;
    dynamic_filter_fn(move |metadata, _| is_ours(metadata)).with_max_level_hint(LevelFilter::DEBUG)
}

/// A variable that is set and not empty.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.trim().is_empty())
}

fn filter() -> Result<EnvFilter, TelemetryError> {
    let directives = variable("RUST_LOG").unwrap_or_else(|| FILTER_DEFAULT.to_owned());
    // A word that is no level would be read as the name of a module, and a slip of the pen would silence the log.
    let stray = directives.split(',').map(str::trim).find(|directive| {
        let is_word = directive.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        is_word && directive.parse::<LevelFilter>().is_err()
    });
    match stray {
        // It may be a secret in the wrong place.
        Some(_) => {
            Err(TelemetryError::Filter("a word of it is no level; for a module write `module=debug`".to_owned()))
        }
        None => EnvFilter::try_new(&directives).map_err(|error| TelemetryError::Filter(error.to_string())),
    }
}

/// What exports traces, if an endpoint is named and nothing says not to.
fn traces() -> Result<Option<SdkTracerProvider>, TelemetryError> {
    let endpoints = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
    let endpoint = endpoints.into_iter().find_map(|name| Some((name, variable(name)?)));
    let is_off = variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"))
        || variable("OTEL_TRACES_EXPORTER").is_some_and(|value| value.eq_ignore_ascii_case("none"));
    let (Some((name, url)), false) = (endpoint, is_off) else { return Ok(None) };
    // What is wrong with a collector is logged with its address, which so must hold no password.
    if !is_endpoint(&url) {
        return Err(TelemetryError::Endpoint { variable: name });
    }
    for name in ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"] {
        if variable(name).is_some_and(|protocol| protocol != "http/protobuf") {
            return Err(TelemetryError::Protocol { variable: name });
        }
    }
    check_sampling()?;
    // The rest of the variables (headers, time-outs, batches) the library reads itself, and sampling too.
    let exporter = SpanExporter::builder().with_http().with_protocol(Protocol::HttpBinary).build();
    let exporter = exporter.map_err(|error| TelemetryError::Exporter(error.to_string()))?;
    let exporter = Outspoken { exporter, is_failing: AtomicBool::new(false) };
    let mut resource = Resource::builder();
    let named = variable("OTEL_RESOURCE_ATTRIBUTES").is_some_and(|value| value.contains("service.name="));
    if variable("OTEL_SERVICE_NAME").is_none() && !named {
        resource = resource.with_service_name(SERVICE_NAME);
    }
    // Spans wait in a bounded queue for a thread that sends them; what does not fit is dropped, and no request waits.
    Ok(Some(SdkTracerProvider::builder().with_resource(resource.build()).with_batch_exporter(exporter).build()))
}

/// Whether this is a URL of plain HTTP with a host. What else is wrong with one the library says.
fn is_endpoint(url: &str) -> bool {
    let rest = url.trim().strip_prefix("http://").unwrap_or_default();
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    !host.is_empty() && !host.starts_with(':') && !url.contains('@')
}

/// The library takes a sampler that it does not know for none, and samples everything.
fn check_sampling() -> Result<(), TelemetryError> {
    let wrong = |variable, expected| Err(TelemetryError::Sampling { variable, expected });
    let Some(sampler) = variable("OTEL_TRACES_SAMPLER") else { return Ok(()) };
    if !SAMPLERS.contains(&sampler.as_str()) {
        return wrong("OTEL_TRACES_SAMPLER", "sampler of OpenTelemetry's, such as `parentbased_traceidratio`");
    }
    let ratio = variable("OTEL_TRACES_SAMPLER_ARG").map_or(Ok(1.0), |ratio| ratio.parse::<f64>());
    if sampler.ends_with("traceidratio") && !ratio.is_ok_and(|ratio| (0.0..=1.0).contains(&ratio)) {
        return wrong("OTEL_TRACES_SAMPLER_ARG", "ratio from 0 to 1");
    }
    Ok(())
}

/// The samplers that the library has.
const SAMPLERS: [&str; 6] = [
    "always_on",
    "always_off",
    "traceidratio",
    "parentbased_always_on",
    "parentbased_always_off",
    "parentbased_traceidratio",
];

/// An exporter that says once when its collector is away, and once when it is back, not with every batch.
#[derive(Debug)]
struct Outspoken {
    exporter: SpanExporter,
    is_failing: AtomicBool,
}

impl opentelemetry_sdk::trace::SpanExporter for Outspoken {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let outcome = self.exporter.export(batch).await;
        let was_failing = self.is_failing.swap(outcome.is_err(), Ordering::Relaxed);
        match &outcome {
            Err(error) if !was_failing => tracing::warn!("traces are lost: the collector does not take them: {error}"),
            Ok(()) if was_failing => tracing::info!("traces are exported again"),
            _ => {}
        }
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
