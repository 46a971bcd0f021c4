//! The HTTP listeners of `serve`: they start, drain and stop.

use std::{
    fmt::Display,
    io,
    net::{SocketAddr, TcpListener, ToSocketAddrs},
    pin::pin,
    time::Duration,
};

use actix_web::dev::ServerHandle;
use mancala_server::{
    config::Listen,
    http::{self, Page, Service},
};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with, sockopt::set_socket_reuseaddr};
use tokio::time::sleep;

use super::{failure::Failure, service_manager, stop_signals::StopSignals};

/// The time of a stop beyond the drain and the answers: for jobs, queued appends and the embedded PostgreSQL.
const STOP_MARGIN: Duration = Duration::from_secs(30);

/// How many connections the system keeps until they are accepted.
const BACKLOG: i32 = 1024;

/// An address that is taken, and refuses connections until the server is ready. A client that is kept waiting would
/// take the server for one that hangs.
pub struct Bound(TcpListener);

impl Bound {
    /// Takes the first address of the host that can be taken.
    pub fn to(listen: &Listen) -> Result<Self, Failure> {
        let Listen { host, port } = listen;
        let mut failure = Failure::new(format!("cannot listen on {listen}: the name has no address"));
        for address in (host.as_str(), *port).to_socket_addrs().map_err(|error| cannot_listen(listen, &error))? {
            match Self::to_address(address) {
                Ok(bound) => return Ok(bound),
                Err(error) => failure = cannot_listen(listen, &error.into()),
            }
        }
        Err(failure)
    }

    fn to_address(address: SocketAddr) -> Result<Self, Errno> {
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let socket = socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        // Connections of a server that has just ended would hold the address.
        set_socket_reuseaddr(&socket, true)?;
        rustix::net::bind(&socket, &address)?;
        Ok(Self(TcpListener::from(socket)))
    }

    /// Accepts connections from here on.
    fn listen(self) -> Result<TcpListener, Failure> {
        let address = self.0.local_addr().map_err(Failure::new)?;
        rustix::net::listen(&self.0, BACKLOG).map_err(|error| cannot_listen(address, &error.into()))?;
        Ok(self.0)
    }
}

fn cannot_listen(address: impl Display, error: &io::Error) -> Failure {
    let line = format!("cannot listen on {address}: {error}");
    match error.kind() {
        // Another start would find the same.
        io::ErrorKind::AddrInUse | io::ErrorKind::PermissionDenied => Failure::misuse(line),
        _ => Failure::new(line),
    }
}

/// Serves until a signal arrives, then drains and answers the accepted requests. The metrics listener stops last.
pub async fn run(
    bound: Bound,
    metrics_bound: Option<Bound>,
    service: Service,
    drain: Duration,
    mut stops: StopSignals,
) -> Result<(), Failure> {
    let listener = bound.listen()?;
    let address = listener.local_addr().map_err(Failure::new)?;
    let (draining, hub) = (service.draining.clone(), service.hub.clone());
    let metrics_handle = match metrics_bound {
        Some(bound) => Some(serve_metrics(bound.listen()?, &service)?),
        None => None,
    };
    let shutdown_timeout = Duration::from_secs(service.shutdown_timeout_s);
    let page = match service.page {
        Page::Served => format!("page http://{address}/, "),
        Page::Off => String::new(),
    };
    let server = http::serve(listener, service).map_err(Failure::new)?;
    let handle = server.handle();
    tracing::info!(
        "ready: {page}API http://{address}/v1, documentation http://{address}/docs/, OpenAPI http://{address}/openapi.json"
    );
    service_manager::ready(&address.to_string());
    let within = drain + shutdown_timeout + STOP_MARGIN;
    let stopping = async {
        stops.next().await;
        service_manager::stopping(within);
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
