//! A request's span, for logs and traces, and its measurements, for metrics. Neither contains secret headers or values that a
//! client could make without bound.

use std::time::Instant;

use actix_web::{
    HttpMessage, HttpRequest,
    body::MessageBody,
    dev::{ServiceRequest, ServiceResponse},
    http::{
        Method, StatusCode,
        header::{HeaderMap, HeaderName},
    },
    middleware::Next,
    web::Data,
};
use mancala_domain::GameId;
use mancala_process::metrics::Took;
use opentelemetry::{
    propagation::{Extractor, TextMapPropagator},
    trace::TraceContextExt,
};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing::{Level, Span, field::Empty};
use tracing_actix_web::{RequestId, RootSpanBuilder};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use uuid::Uuid;

use crate::{
    answer::{code::Code, problem::Problem},
    paths,
    state::AppState,
};

/// The route of requests that match no route.
const UNMATCHED: &str = "unmatched";

/// The most bytes of a path or a `User-Agent` in a span: longer than all our paths.
const TEXT_BYTES_MAX: usize = 256;

/// The header that names a request's trace (W3C Trace Context).
const TRACEPARENT: &str = "traceparent";

/// The pattern of a request's path.
#[derive(Clone, Copy)]
struct Route(&'static str);

/// The trace that a request belongs to, if traces are exported.
#[derive(Clone, Copy)]
struct TraceOf(u128);

/// Findings of this layer about a request, for other layers.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    pub method: &'static str,
    /// The pattern of its path.
    pub route: &'static str,
    pub trace_id: Option<u128>,
}

/// Returns the findings of this layer about a request. Only code inside of the layer may call it.
pub fn seen(request: &HttpRequest) -> Seen {
    let extensions = request.extensions();
    Seen {
        method: method_word(request.method()),
        route: extensions.get::<Route>().map_or(UNMATCHED, |route| route.0),
        trace_id: extensions.get::<TraceOf>().map(|trace| trace.0),
    }
}

/// Marks the answer to a request that waited for a change. Its duration does not measure the service's speed.
#[derive(Clone, Copy, Debug)]
pub struct Waited;

/// Marks the answer to a request that led to a game which its path does not name.
#[derive(Clone, Copy, Debug)]
pub struct LedTo(pub GameId);

/// Opens the span of each request, with OpenTelemetry's names, and ends it with the status.
pub struct RequestSpan;

impl RootSpanBuilder for RequestSpan {
    fn on_request_start(request: &ServiceRequest) -> Span {
        // The path that routes match, in which percent-encoded letters are decoded.
        let route = paths::find(request.match_info().as_str()).map_or(UNMATCHED, |path| &path.pattern);
        let (method, path) = (method_word(request.method()), beginning(request.path()));
        let user_agent = request.headers().get("user-agent").and_then(|value| value.to_str().ok());
        let mut buffer = Uuid::encode_buffer();
        let request_id = request.extensions().get::<RequestId>().copied();
        let request_id = request_id.as_ref().map(|id| &*id.as_hyphenated().encode_lower(&mut buffer));
        let is_traced = is_traced();
        let span = tracing::info_span!(
            "request",
            otel.name = is_traced.then(|| format!("{method} {route}")),
            otel.kind = is_traced.then_some("server"),
            otel.status_code = Empty,
            http.request.method = method,
            http.route = route,
            http.response.status_code = Empty,
            url.path = path,
            user_agent.original = user_agent.map(beginning),
            request.id = request_id,
            trace_id = Empty,
        );
        request.extensions_mut().insert(Route(route));
        if is_traced && let Some(trace) = continue_trace(&span, request.headers()) {
            request.extensions_mut().insert(trace);
        }
        span
    }

    fn on_request_end<B: MessageBody>(span: Span, outcome: &Result<ServiceResponse<B>, actix_web::Error>) {
        // The log needs no status here, because nothing is logged after the span's end.
        if !is_traced() {
            return;
        }
        let status = status(outcome);
        span.record("http.response.status_code", status.as_u16());
        if status.is_server_error() {
            span.record("otel.status_code", "ERROR");
        }
    }
}

/// Whether the fields that only the span's end sets have a reader: traces are exported, or the log is at debug level.
fn is_traced() -> bool {
    tracing::enabled!(Level::DEBUG)
}

/// Gives requests no span. Requests for the metrics would otherwise fill the traces.
pub struct NoSpan;

impl RootSpanBuilder for NoSpan {
    fn on_request_start(_: &ServiceRequest) -> Span {
        Span::none()
    }

    fn on_request_end<B: MessageBody>(_: Span, _: &Result<ServiceResponse<B>, actix_web::Error>) {}
}

/// Counts every answer, of handlers and of layers.
pub async fn count<B: MessageBody>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<B>, actix_web::Error> {
    let begun = Instant::now();
    let method = method_word(request.method());
    let route = request.extensions().get::<Route>().map_or(UNMATCHED, |route| route.0);
    let state = request.app_data::<Data<AppState>>().expect("every app is built with its state").clone();
    let outcome = next.call(request).await;
    if let Some(code) = code(&outcome) {
        state.metrics.request_refused(code.as_str());
    }
    let waited = outcome.as_ref().is_ok_and(|response| response.response().extensions().get::<Waited>().is_some());
    let took = if waited { Took::Waiting(begun.elapsed()) } else { Took::Working(begun.elapsed()) };
    state.metrics.request_answered(method, route, status(&outcome).as_u16(), took);
    outcome
}

/// The code of a request that failed.
pub fn code<B>(outcome: &Result<ServiceResponse<B>, actix_web::Error>) -> Option<Code> {
    match outcome {
        Ok(response) => response.response().extensions().get::<Code>().copied(),
        Err(error) => error.as_error::<Problem>().map(Problem::code),
    }
}

/// The status of a request's outcome.
pub fn status<B>(outcome: &Result<ServiceResponse<B>, actix_web::Error>) -> StatusCode {
    match outcome {
        Ok(response) => response.status(),
        Err(error) => error.as_response_error().status_code(),
    }
}

/// The method for metrics. Clients can send any word, so unknown methods share one.
const fn method_word(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "_OTHER",
    }
}

/// The part of a client's text that is logged.
pub fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(TEXT_BYTES_MAX)]
}

/// Makes the span part of the caller's trace. Without a readable one, the span begins a trace of its own. If traces are
/// exported, the log names the trace too; otherwise this does nothing.
fn continue_trace(span: &Span, headers: &HeaderMap) -> Option<TraceOf> {
    // Several headers count as none (W3C Trace Context, section 3.2).
    if headers.get_all(TRACEPARENT).take(2).count() == 1 {
        let parent = TraceContextPropagator::new().extract(&Headers(headers));
        if parent.span().span_context().is_valid() {
            // This fails only if the span is not exported, and then it needs no parent.
            let _ = span.set_parent(parent);
        }
    }
    let context = span.context();
    let trace = context.span().span_context().trace_id();
    if trace == opentelemetry::TraceId::INVALID {
        return None;
    }
    span.record("trace_id", tracing::field::display(trace));
    Some(TraceOf(u128::from_be_bytes(trace.to_bytes())))
}

struct Headers<'a>(&'a HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(HeaderName::as_str).collect()
    }
}
