//! The server: its workers, and the layers around all routes. Knows no single route.

use std::{
    io,
    net::TcpListener,
    sync::{Arc, OnceLock, atomic::Ordering},
};

use actix_web::{
    App,
    dev::Server,
    middleware::{Condition, from_fn},
    web::{Data, ServiceConfig},
};
use mancala_http::{
    layers::{
        access,
        client_address::{self, TrustedProxies},
        compress,
        connections::{self, Room},
        cors, envelope, head,
        limits::{self, Limits},
        observe, pieces, response_headers,
        unread::{self, Unread},
    },
    paths,
    request::{accept, auth, origin::PublicUrl, reader::Page},
};
use mancala_process::{access_log::AccessLog, metrics::Metrics};
use tracing_actix_web::TracingLogger;

use super::{docs::Documentation, routes, service::Service, shared, watching::watch};

/// Runs the server on a listener until it is stopped or dropped. The caller handles signals, and calls this on
/// actix-web's runtime.
pub fn serve(listener: TcpListener, service: Service) -> io::Result<Server> {
    let (plan, files) = (service.plan, service.files);
    let (keep_alive, shutdown_timeout_s) = (service.keep_alive, service.shutdown_timeout_s);
    let cors_origins = service.cors_origins.clone();
    let data = LayerData::of(&service);
    let connections_max = (files.connections / plan.workers as usize).max(1);
    let room = Room::of_worker(connections_max, plan.workers, &service.trusted_proxies, data.limits.is_some());
    service.hub.limit(files.waiters);
    data.watch(&service.metrics, &room);
    let process = Arc::new(shared::start(service)?);
    watch(&process);
    // Runs on each worker's own thread. A connection is used on the thread that made it, so no answer crosses threads.
    let app = move || {
        let state = shared::worker_state(&process);
        // A request passes these layers from the last to the first, and its answer from the first to the last. A layer
        // that refuses a request answers from its place, so layers that add to answers stand below those that refuse.
        App::new()
            .app_data(Data::from(state))
            .configure(|config| data.configure(config))
            .wrap(from_fn(accept::negotiate))
            .wrap(from_fn(auth::refuse_bad_tokens))
            // Counts by caller, and counts requests with bad tokens too.
            .wrap(from_fn(limits::limit))
            .wrap(from_fn(auth::identify))
            .wrap(from_fn(head::simplify))
            // Gives an answer its final form before it is compressed and before CORS adds headers.
            .wrap(from_fn(envelope::envelope))
            .wrap(from_fn(compress::compress))
            .wrap(from_fn(unread::bound))
            // Answers preflights itself, so they need no token and are not counted.
            .wrap(cors::cors(&cors_origins))
            // Gives refusals by the four layers above their final form.
            .wrap(from_fn(envelope::envelope))
            .wrap(from_fn(response_headers::complete))
            .wrap(from_fn(observe::count))
            .wrap(Condition::new(data.access_log.is_some(), from_fn(access::note)))
            .wrap(TracingLogger::<observe::RequestSpan>::new())
            .wrap(from_fn(client_address::identify))
            .wrap(from_fn(connections::follow))
    };
    let server = Server::build()
        .workers(plan.workers as usize)
        .max_concurrent_connections(room.connections_max)
        .shutdown_timeout(shutdown_timeout_s)
        .disable_signals();
    pieces::serve(server, listener, keep_alive, room, app)
}

/// Data that the layers and the routes of all workers share.
#[derive(Clone)]
struct LayerData {
    /// `None` if limits are off: the layer lets every request pass.
    limits: Option<Data<Limits>>,
    trusted_proxies: Data<TrustedProxies>,
    unread: Data<Unread>,
    access_log: Option<Data<AccessLog>>,
    documentation: Data<Documentation>,
    public_url: Data<PublicUrl>,
    page: Page,
}

impl LayerData {
    fn of(service: &Service) -> Self {
        Self {
            limits: service.rate_limits.clock().map(|clock| Data::new(Limits::new(clock))),
            trusted_proxies: Data::new(TrustedProxies(service.trusted_proxies.clone())),
            unread: Data::new(Unread::default()),
            access_log: service.access_log.clone().map(Data::from),
            documentation: Data::new(documentation(service.public_url.clone())),
            public_url: Data::new(PublicUrl(service.public_url.clone())),
            page: service.page,
        }
    }

    /// Measures the connections of clients and the answers that they have not read.
    fn watch(&self, metrics: &Metrics, room: &Room) {
        let open = Arc::downgrade(&room.open);
        let connections_max = room.connections_max * room.workers as usize;
        metrics.watched().resource("client_connections", connections_max, move || {
            open.upgrade().map(|open| open.load(Ordering::Relaxed))
        });
        let unread = Arc::downgrade(&self.unread.clone().into_inner());
        metrics
            .watched()
            .resource("unread_answer_bytes", Unread::BYTES_MAX, move || unread.upgrade().map(|unread| unread.bytes()));
    }

    fn configure(&self, config: &mut ServiceConfig) {
        config.app_data(self.trusted_proxies.clone()).app_data(self.unread.clone()).app_data(self.public_url.clone());
        if let Some(limits) = &self.limits {
            config.app_data(limits.clone());
        }
        if let Some(log) = &self.access_log {
            config.app_data(log.clone());
        }
        routes::configure(config, &self.documentation, self.page);
    }
}

/// The documentation of the routes. Without a URL of its own, every server of a process has the same.
fn documentation(public_url: Option<String>) -> Documentation {
    static WITHOUT_URL: OnceLock<Documentation> = OnceLock::new();
    let of = |url| {
        let document = routes::document();
        // Requests are compared with the paths of the document.
        paths::set(&document);
        Documentation::of(document, url)
    };
    match public_url {
        None => WITHOUT_URL.get_or_init(|| of(None)).clone(),
        url => of(url),
    }
}
