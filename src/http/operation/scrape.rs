//! The metrics, on a listener and a thread of their own. So users of the API cannot read them, and they are answered while the
//! API is overloaded.

use std::{io, net::TcpListener, sync::Arc};

use actix_web::{
    App, HttpRequest, HttpResponse, HttpServer,
    dev::Server,
    http::{Method, header},
    middleware::from_fn,
    web::{self, Data},
};
use mancala_http::{
    answer::problem::Problem,
    layers::{connections::REQUEST_TIMEOUT, envelope, head, observe::NoSpan},
};
use mancala_process::metrics::Metrics;
use tracing_actix_web::TracingLogger;

/// Enough for a few Prometheus servers and a person with curl.
const CONNECTIONS_MAX: usize = 32;

/// Prometheus' text format.
const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

const PATH: &str = "/metrics";

/// Serves the metrics on a listener until the server is stopped or dropped.
pub fn serve_metrics(listener: TcpListener, metrics: Arc<Metrics>) -> io::Result<Server> {
    metrics.upkeep().serve();
    let metrics = Data::from(metrics);
    let server = HttpServer::new(move || {
        App::new()
            .app_data(metrics.clone())
            .default_service(web::to(answer))
            .wrap(from_fn(head::simplify))
            .wrap(from_fn(envelope::envelope))
            .wrap(TracingLogger::<NoSpan>::new())
    });
    let server = server
        .workers(1)
        .max_connections(CONNECTIONS_MAX)
        .client_request_timeout(REQUEST_TIMEOUT)
        .disable_signals()
        .listen(listener)?;
    Ok(server.run())
}

async fn answer(request: HttpRequest, metrics: Data<Metrics>) -> Result<HttpResponse, Problem> {
    if request.path() != PATH {
        return Err(Problem::not_found("there is nothing here but /metrics"));
    }
    if request.method() != Method::GET {
        return Err(Problem::method_not_allowed("GET, HEAD".to_owned()));
    }
    Ok(HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, CONTENT_TYPE))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .body(metrics.text()))
}
