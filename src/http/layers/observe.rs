//! What is seen of a request from outside: its span, for logs and traces, and its numbers, for metrics. Neither holds anything
//! that a client could fill without bound, nor a header that is a secret.

use std::time::Instant;

use actix_web::{
    HttpMessage,
    body::MessageBody,
    dev::{ServiceRequest, ServiceResponse},
    http::{
        Method, StatusCode,
        header::{HeaderMap, HeaderName},
    },
    middleware::Next,
    web::Data,
};
use opentelemetry::{
    propagation::{Extractor, TextMapPropagator},
    trace::TraceContextExt,
};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing::{Level, Span, field::Empty};
use tracing_actix_web::{RequestId, RootSpanBuilder};
use tracing_opentelemetry::OpenTelemetrySpanExt;

use crate::{
    http::{
        answer::problem::{Code, Problem},
        paths,
        state::AppState,
    },
    metrics::Took,
};

/// The route of what no route knows.
const UNMATCHED: &str = "unmatched";

/// How much of a path, or of what a client says it is, goes into a span: more than any of ours is long.
const TEXT_BYTES_MAX: usize = 256;

/// Where a caller names the trace that a request belongs to (W3C Trace Context).
const TRACEPARENT: &str = "traceparent";

/// The pattern of a request's path.
#[derive(Clone, Copy)]
struct Route(&'static str);

/// With the answer to a request that waited for news: it tells nothing of how fast the service is.
#[derive(Clone, Copy, Debug)]
pub struct Waited;

/// Opens the span of each request, named as OpenTelemetry names things, and ends it with the status.
pub struct RequestSpan;

impl RootSpanBuilder for RequestSpan {
    fn on_request_start(request: &ServiceRequest) -> Span {
        // The path as routes see it: a letter that is percent-encoded is the same letter.
        let route = paths::find(request.match_info().as_str()).map_or(UNMATCHED, |path| &path.pattern);
        let (method, path) = (method_word(request.method()), beginning(request.path()));
        let user_agent = request.headers().get("user-agent").and_then(|value| value.to_str().ok());
        let request_id = request.extensions().get::<RequestId>().map(ToString::to_string);
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
        if is_traced {
            continue_trace(&span, request.headers());
        }
        span
    }

    fn on_request_end<B: MessageBody>(span: Span, outcome: &Result<ServiceResponse<B>, actix_web::Error>) {
        // The log has no use for it: nothing is logged after the end.
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

/// Whether traces are exported, or the log is as detailed: whether anybody reads of a span what only its end tells.
fn is_traced() -> bool {
    tracing::enabled!(Level::DEBUG)
}

/// Requests that leave no span: those for the metrics would fill the traces with themselves.
pub struct Unseen;

impl RootSpanBuilder for Unseen {
    fn on_request_start(_: &ServiceRequest) -> Span {
        Span::none()
    }

    fn on_request_end<B: MessageBody>(_: Span, _: &Result<ServiceResponse<B>, actix_web::Error>) {}
}

/// Counts every answer, whoever gave it.
pub async fn count<B: MessageBody>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<B>, actix_web::Error> {
    let begun = Instant::now();
    let method = method_word(request.method());
    let route = request.extensions().get::<Route>().map_or(UNMATCHED, |route| route.0);
    let state = request.app_data::<Data<AppState>>().expect("every app is built with its state").clone();
    let outcome = next.call(request).await;
    let code = match &outcome {
        Ok(response) => response.response().extensions().get::<Code>().copied(),
        Err(error) => error.as_error::<Problem>().map(Problem::code),
    };
    if let Some(code) = code {
        state.metrics.request_refused(code.as_str());
    }
    let waited = outcome.as_ref().is_ok_and(|response| response.response().extensions().get::<Waited>().is_some());
    let took = if waited { Took::Waiting(begun.elapsed()) } else { Took::Working(begun.elapsed()) };
    state.metrics.request_answered(method, route, status(&outcome).as_u16(), took);
    outcome
}

fn status<B>(outcome: &Result<ServiceResponse<B>, actix_web::Error>) -> StatusCode {
    match outcome {
        Ok(response) => response.status(),
        Err(error) => error.as_response_error().status_code(),
    }
}

/// A method may be any word; those that nobody serves are one.
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

fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(TEXT_BYTES_MAX)]
}

/// Makes the span part of the trace that the caller names; without one, or with one that cannot be read, it begins its own.
/// If traces are exported, the log names the trace too; if not, all of this does nothing.
fn continue_trace(span: &Span, headers: &HeaderMap) {
    // More than one is no better than none that can be read (W3C Trace Context, section 3.2).
    if headers.get_all(TRACEPARENT).take(2).count() == 1 {
        let parent = TraceContextPropagator::new().extract(&Headers(headers));
        if parent.span().span_context().is_valid() {
            // It fails only if there is no such span for traces, which is then as it should be.
            let _ = span.set_parent(parent);
        }
    }
    let context = span.context();
    let trace = context.span().span_context().trace_id();
    if trace != opentelemetry::TraceId::INVALID {
        span.record("trace_id", tracing::field::display(trace));
    }
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
