//! Starts what the workers of a process share, and makes the state of each of them. Knows no layer and no route.

use std::{io, sync::Arc};

use mancala_db as db;
use mancala_db::{Database, Freshness, Lookups, Reads, Standby, StandbyEvent};
use mancala_http::{
    answer::{code::Code, cursor::Cursors},
    state::{
        AppState, Shared,
        heavy::Heavy,
        name_rules::NameRules,
        networks::Networks,
        passwords::Passwords,
        readiness::{Readiness, Worker},
        readings::Readings,
        recent::RecentGames,
        shared_reads::SharedReads,
        sign_ins::SignIns,
    },
};
use mancala_outbound::{
    jose::KeySets,
    webhook::{Sender, system_names},
};
use mancala_process::{
    connection_plan::ConnectionPlan,
    metrics::{Connections, Reader},
    outage::Outage,
};
use mancala_rules::Variant;
use sqlx::PgPool;
use tokio::sync::Semaphore;

use super::service::{RateLimits, Service};
use crate::build_info;

/// The log's lines about an outage of appends.
const APPENDS_FAIL: &str = "moves cannot be stored: the database is away or takes no writes";
const APPENDS_WORK: &str = "moves are stored again";

/// The log's lines about a standby that may not answer.
const STANDBY_FAILS: &str = "the standby answers no reads, so the primary answers them";
const STANDBY_WORKS: &str = "the standby answers reads again";

/// Starts what the workers of a process share.
pub(super) fn start(service: Service) -> io::Result<Shared> {
    let readiness = Readiness::start(
        service.writers.clone(),
        service.hub.clone(),
        service.plan,
        service.metrics.clone(),
        service.draining.clone(),
    );
    // Behind a proxy that is not known as one, all guests seem to share a network: without rate limits they share nothing.
    let network_key = (service.rate_limits != RateLimits::Off).then(|| service.tokens.network_key());
    let standby = service.standby.map(|standby| {
        let outage = Outage::new(STANDBY_FAILS, STANDBY_WORKS);
        let metrics = service.metrics.clone();
        let observe = move |event: StandbyEvent<'_>| match event {
            StandbyEvent::OutOfUse(cause) => outage.failed(cause),
            StandbyEvent::Answered => {
                outage.works();
                metrics.standby_read(Reader::Standby);
            }
            StandbyEvent::FellBack => metrics.standby_read(Reader::Primary),
        };
        let freshness = Freshness::start(service.database.clone(), standby.clone(), observe);
        (standby, Arc::new(freshness))
    });
    let ConnectionPlan { heavy, .. } = service.plan;
    let heavy_reads = || {
        let (pool, _) = db::kept_pool(service.database.clone(), heavy, service.plan.kept(heavy));
        reads(pool, standby.as_ref(), heavy)
    };
    service.metrics.set_build(build_info::VERSION, build_info::COMMIT);
    let variants = Variant::ALL.into_iter().map(Variant::word);
    service.metrics.know_words(Code::ALL.iter().map(|code| code.as_str()), variants);
    for issuer in service.issuers.iter() {
        service.metrics.know_issuer(&issuer.settings().id);
    }
    Ok(Shared {
        heavy: Arc::new(Heavy::start(heavy_reads)?),
        key_sets: Arc::new(KeySets::new(Sender::new(service.settings.webhook_reach, system_names()))),
        cursors: Cursors::new(service.tokens.cursor_key()),
        database: service.database,
        standby,
        plan: service.plan,
        settings: service.settings,
        writers: service.writers,
        tokens: service.tokens,
        passwords: Passwords::start()?,
        sign_ins: (service.rate_limits != RateLimits::Off).then(SignIns::default),
        issuers: service.issuers,
        recent: Arc::new(RecentGames::default()),
        hub: service.hub,
        readings: Readings::default(),
        seeks: Semaphore::new(1),
        metrics: service.metrics,
        append_outage: Outage::behind_database(APPENDS_FAIL, APPENDS_WORK),
        readiness,
        networks: Networks::new(network_key),
        reserved_names: Arc::new(NameRules::new(service.reserved_names)),
        uploads: Arc::default(),
    })
}

/// The state of one more worker, with connections of its own. Call it on the worker's thread.
pub(super) fn worker_state(shared: &Arc<Shared>) -> Arc<AppState> {
    let read_permits = usize::try_from(shared.plan.reads_each / 2).unwrap_or(1).max(1);
    let ConnectionPlan { reads_each, .. } = shared.plan;
    // However few there are, one is opened at once.
    let (db, db_last_use) = db::kept_pool(shared.database.clone(), reads_each, shared.plan.kept(reads_each).max(1));
    let lookups = Lookups::start(shared.database.clone());
    let worker = shared.readiness.follow(Worker { db: db.clone(), db_last_use, lookups });
    let state = Arc::new(AppState {
        shared: shared.clone(),
        reads: reads(db.clone(), shared.standby.as_ref(), shared.plan.reads_each),
        db,
        worker,
        pages: SharedReads::default(),
        explored: SharedReads::default(),
        read_permits: Semaphore::new(read_permits),
    });
    let watched = Arc::downgrade(&state);
    shared.metrics.watched().connections(move || watched.upgrade().map(|state| state.connections()));
    let (pool, lookups) = (Arc::downgrade(&state), Arc::downgrade(&state));
    // The limit is the number of connections that are open now.
    shared.metrics.watched().changing_resource("db_pool_connections", move || {
        let Connections { pool, pool_idle, .. } = pool.upgrade()?.connections();
        Some((pool.saturating_sub(pool_idle), pool))
    });
    shared.metrics.watched().resource("lookup_queue", Lookups::QUEUE_MAX, move || {
        lookups.upgrade().map(|state| state.worker.lookups.queued())
    });
    state
}

/// The pools for reads of one thread.
fn reads(primary: PgPool, standby: Option<&(Database, Arc<Freshness>)>, connections: u32) -> Reads {
    let standby = standby.map(|(database, freshness)| Standby::new(database, connections, freshness.clone()));
    Reads::new(primary, standby)
}
