//! Traces reach a collector by OTLP, from the caller's `traceparent` to the statements of the database.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use mancala_server::http::new_key;
use nix::sys::signal::Signal;
use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    trace::v1::{Span, span::SpanKind},
};
use prost::Message;
use serde_json::json;

use crate::support::{
    app::TestApp,
    binary::{Running, url},
    calls::send,
    clock::until_seen,
};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

/// A minimal collector that receives spans over HTTP. It ends with the test's process.
struct Collector {
    endpoint: String,
    spans: Arc<Mutex<Vec<(String, Span)>>>,
}

impl Collector {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let endpoint = format!("http://{}", listener.local_addr().expect("an address"));
        let spans = Arc::new(Mutex::new(vec![]));
        let collector = Self { endpoint, spans: spans.clone() };
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let spans = spans.clone();
                thread::spawn(move || {
                    while let Some(body) = receive(&stream) {
                        let request = ExportTraceServiceRequest::decode(&*body).expect("OTLP");
                        let mut spans = spans.lock().expect("no holder panics");
                        for resource in request.resource_spans {
                            let attributes = resource.resource.map(|resource| resource.attributes).unwrap_or_default();
                            let name = attributes.iter().find(|attribute| attribute.key == "service.name");
                            let service = format!("{:?}", name.map(|name| &name.value));
                            let received = resource.scope_spans.into_iter().flat_map(|scope| scope.spans);
                            spans.extend(received.map(|span| (service.clone(), span)));
                        }
                    }
                });
            }
        });
        collector
    }

    /// Waits for a span that meets a condition.
    async fn span(&self, is_it: impl Fn(&Span) -> bool) -> (String, Span) {
        let look = async || self.spans.lock().expect("no holder panics").clone();
        let is_there = |spans: &Vec<(String, Span)>| spans.iter().any(|(_, span)| is_it(span));
        let spans = until_seen("the span arrives", look, is_there).await;
        spans.into_iter().find(|(_, span)| is_it(span)).expect("it is among them")
    }

    fn variables<'a>(&'a self, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
        let ours = [("OTEL_EXPORTER_OTLP_ENDPOINT", self.endpoint.as_str()), ("OTEL_BSP_SCHEDULE_DELAY", "20")];
        [&ours, more].concat()
    }
}

/// The body of one request, answered with an empty one.
fn receive(mut stream: &TcpStream) -> Option<Vec<u8>> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").ok()?;
    Some(body)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

fn attribute(span: &Span, name: &str) -> Option<String> {
    let found = span.attributes.iter().find(|attribute| attribute.key == name)?;
    let value = found.value.as_ref()?.value.as_ref()?;
    Some(match value {
        opentelemetry_proto::tonic::common::v1::any_value::Value::StringValue(text) => text.clone(),
        other => format!("{other:?}"),
    })
}

#[actix_web::test]
async fn a_trace_is_continued_from_its_caller_to_the_statements() {
    let app = TestApp::start().await;
    let (id, south, _) = app.started(&json!({})).await;
    let collector = Collector::start();
    // What is logged has nothing to do with what is exported.
    let mut running =
        Running::start_with(&url(&app), &new_key(), &[], &collector.variables(&[("RUST_LOG", "warn,mancala=info")]));
    let traceparent = format!("00-{TRACE}-{CALLER}-01");
    let played = send(running.playing(&id, &south, 1, "A").header("traceparent", &traceparent)).await;
    assert_eq!(played.status, 201, "{played:?}");

    let is_of_trace = |span: &Span| hex(&span.trace_id) == TRACE;
    let (service, request) = collector.span(|span| is_of_trace(span) && span.kind() == SpanKind::Server).await;
    assert!(service.contains("mancala-server"), "{service}");
    assert_eq!(request.name, "POST /v1/games/{id}/moves");
    assert_eq!(hex(&request.parent_span_id), CALLER);
    assert_eq!(attribute(&request, "http.route").as_deref(), Some("/v1/games/{id}/moves"));
    assert!(attribute(&request, "http.response.status_code").is_some_and(|status| status.contains("201")));
    assert_eq!(attribute(&request, "request.id").as_deref(), played.headers["x-request-id"].to_str().ok());

    for (summary, operation) in [("select game event player", "select"), ("update game insert event", "update")] {
        let (_, statement) = collector.span(|span| is_of_trace(span) && span.name == summary).await;
        assert_eq!(statement.parent_span_id, request.span_id);
        assert_eq!(statement.kind(), SpanKind::Client);
        assert_eq!(attribute(&statement, "db.system.name").as_deref(), Some("postgresql"));
        assert_eq!(attribute(&statement, "db.operation.name").as_deref(), Some(operation));
        assert_eq!(attribute(&statement, "db.query.summary").as_deref(), Some(summary));
        // No values.
        let text = format!("{statement:?}");
        assert!(!text.contains(&id) && !text.contains(&south.id), "{text}");
    }
    running.signal(Signal::SIGTERM);
    let (status, log) = running.ended();
    assert_eq!(status, Some(0), "{log}");
    assert!(!log.contains("traces are lost"), "{log}");
}

#[actix_web::test]
async fn a_trace_that_cannot_be_read_is_ignored() {
    let app = TestApp::start().await;
    let collector = Collector::start();
    let variables = collector.variables(&[("OTEL_SERVICE_NAME", "north")]);
    let running = Running::start_with(&url(&app), &new_key(), &[], &variables);
    let long = format!("00-{TRACE}-{CALLER}-01{}", "x".repeat(3000));
    for traceparent in [
        "",
        "hello",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        &format!("00-{TRACE}-0000000000000000-01"),
        &format!("ff-{TRACE}-{CALLER}-01"),
        &format!("00-{}-{CALLER}-01", TRACE.to_uppercase()),
        &format!("00-{TRACE}-{CALLER}"),
        &long,
    ] {
        let answer = send(running.get("/v1/games?limit=1").header("traceparent", traceparent)).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let id = answer.headers["x-request-id"].to_str().expect("text").to_owned();
        let (service, span) = collector.span(|span| attribute(span, "request.id").as_deref() == Some(&id)).await;
        assert!(service.contains("north"), "{service}");
        assert!(span.parent_span_id.is_empty() && hex(&span.trace_id) != TRACE, "{traceparent}: {span:?}");
        // Its statements are its children all the same.
        collector.span(|child| child.trace_id == span.trace_id && child.parent_span_id == span.span_id).await;
    }
    let twice = running.get("/livez").header("traceparent", format!("00-{TRACE}-{CALLER}-01"));
    let answer = send(twice.header("traceparent", format!("00-{TRACE}-{CALLER}-01"))).await;
    let id = answer.headers["x-request-id"].to_str().expect("text").to_owned();
    let (_, span) = collector.span(|span| attribute(span, "request.id").as_deref() == Some(&id)).await;
    assert!(span.parent_span_id.is_empty(), "{span:?}");
}

#[actix_web::test]
async fn an_absent_or_silent_collector_does_not_disturb_requests() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    // A collector that accepts connections and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let silent = format!("http://{}", silent.local_addr().expect("an address"));
    for (endpoint, guest, ply, mv) in [("http://127.0.0.1:1", &south, 1, "A"), (&*silent, &north, 2, "b")] {
        let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint), ("OTEL_BSP_SCHEDULE_DELAY", "20")];
        let mut running = Running::start_with(&url(&app), &new_key(), &[], &variables);
        assert_eq!(running.play(&id, guest, ply, mv).await.status, 201);
        for _ in 0..50 {
            assert_eq!(send(running.get("/v1/games")).await.status, 200);
        }
        let begun = Instant::now();
        running.signal(Signal::SIGTERM);
        let (status, log) = running.ended();
        assert_eq!(status, Some(0), "{log}");
        assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
        assert!(log.matches("traces are lost").count() <= 1, "{log}");
        assert!(!log.contains("panicked"), "{log}");
    }
}
