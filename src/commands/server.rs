//! The HTTP listeners of `serve`: they start, drain and stop.

use std::{
    net::{SocketAddr, TcpListener},
    pin::pin,
    time::Duration,
};

use actix_web::dev::ServerHandle;
use mancala_server::http::{self, Service};
use tokio::time::sleep;

use super::{failure::Failure, stop_signals::StopSignals};

pub fn listen(address: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).map_err(|error| Failure::new(format!("cannot listen on {address}: {error}")))
}

/// Serves until a signal arrives, then drains and answers the accepted requests. The metrics listener stops last.
pub async fn run(
    listener: TcpListener,
    metrics_listener: Option<TcpListener>,
    service: Service,
    drain: Duration,
    mut stops: StopSignals,
) -> Result<(), Failure> {
    let address = listener.local_addr().map_err(Failure::new)?;
    let (draining, hub) = (service.draining.clone(), service.hub.clone());
    let metrics_handle = match metrics_listener {
        Some(listener) => Some(serve_metrics(listener, &service)?),
        None => None,
    };
    let server = http::serve(listener, service).map_err(Failure::new)?;
    let handle = server.handle();
    tracing::info!(
        "ready: API http://{address}/v1, documentation http://{address}/docs/, OpenAPI http://{address}/openapi.json"
    );
    let stopping = async {
        stops.next().await;
        draining.cancel();
        hub.release_all();
        if !drain.is_zero() {
            tracing::info!("draining: not ready, still serving for {} s", drain.as_secs());
            stops.unless_signalled(sleep(drain)).await;
        }
        tracing::info!("stopping: answering the accepted requests");
        stops.unless_signalled(handle.stop(true)).await
    };
    let mut server = pin!(server);
    let mut stopping = pin!(stopping);
    // Polls the server until it has ended. After a further signal the process ends without waiting for it.
    let outcome = tokio::select! {
        outcome = &mut server => outcome.map_err(Failure::new),
        ended = &mut stopping => match ended {
            Some(()) => server.await.map_err(Failure::new),
            None => Err(Failure::new("stopped at once by a further signal: requests may have been cut off")),
        },
    };
    if let Some(handle) = metrics_handle {
        handle.stop(false).await;
    }
    tracing::info!("stopped");
    outcome
}

/// Serves the metrics on their own listener, in the background.
fn serve_metrics(listener: TcpListener, service: &Service) -> Result<ServerHandle, Failure> {
    let address = listener.local_addr().map_err(Failure::new)?;
    let server = http::serve_metrics(listener, service.metrics.clone()).map_err(Failure::new)?;
    tracing::info!("metrics http://{address}/metrics");
    let handle = server.handle();
    actix_web::rt::spawn(server);
    Ok(handle)
}
