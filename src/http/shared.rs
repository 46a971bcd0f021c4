//! What the workers of a process share, and the state that each of them gets. Knows no layer and no route.

use std::{io, sync::Arc};

use sqlx::PgPool;
use tokio::sync::Semaphore;

use super::{
    answer::{code::Code, cursor::Cursors},
    service::{RateLimits, Service},
    state::{
        AppState, ImportQuotas,
        heavy::Heavy,
        mailing::Mailing,
        name_rules::NameRules,
        networks::Networks,
        passwords::Passwords,
        readiness::{Readiness, Worker},
        readings::Readings,
        recent::RecentGames,
        shared_reads::SharedReads,
        sign_ins::SignIns,
        tokens::Tokens,
        uploads::Uploads,
    },
};
use crate::{
    connection_plan::ConnectionPlan,
    db::{self, Database, Freshness, Lookups, Reads, Standby, StandbyEvent, Writers},
    jose::KeySets,
    live::Hub,
    metrics::{Connections, Metrics, Reader},
    openid::Issuers,
    outage::Outage,
    push::Push,
    rules::Variant,
    webhook::{Reach, Sender, system_names},
};

/// The log's lines about an outage of appends.
const APPENDS_FAIL: &str = "moves cannot be stored: the database is away or takes no writes";
const APPENDS_WORK: &str = "moves are stored again";

/// The log's lines about a standby that may not answer.
const STANDBY_FAILS: &str = "the standby answers no reads, so the primary answers them";
const STANDBY_WORKS: &str = "the standby answers reads again";

/// What the workers of a process share.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) database: Database,
    pub(super) standby: Option<(Database, Arc<Freshness>)>,
    pub(super) plan: ConnectionPlan,
    pub(super) writers: Arc<Writers>,
    pub(super) tokens: Arc<Tokens>,
    pub(super) key_sets: Arc<KeySets>,
    pub(super) passwords: Arc<Passwords>,
    pub(super) sign_ins: Option<Arc<SignIns>>,
    pub(super) issuers: Arc<Issuers>,
    pub(super) recent: Arc<RecentGames>,
    pub(super) heavy: Arc<Heavy>,
    pub(super) hub: Arc<Hub>,
    pub(super) readings: Arc<Readings>,
    pub(super) seeks: Arc<Semaphore>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) append_outage: Arc<Outage>,
    pub(super) readiness: Arc<Readiness>,
    pub(super) open_for: time::Duration,
    pub(super) networks: Networks,
    pub(super) network_games_max: u32,
    pub(super) webhook_reach: Reach,
    pub(super) mailing: Mailing,
    pub(super) push: Push,
    pub(super) import_quotas: ImportQuotas,
    pub(super) uploads: Arc<Uploads>,
    pub(super) reserved_names: Arc<NameRules>,
}

impl Shared {
    pub(super) fn start(service: Service) -> io::Result<Self> {
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
        let variants = Variant::ALL.into_iter().map(Variant::word);
        service.metrics.know_words(Code::ALL.iter().map(|code| code.as_str()), variants);
        for issuer in service.issuers.iter() {
            service.metrics.know_issuer(&issuer.settings().id);
        }
        Ok(Self {
            heavy: Arc::new(Heavy::start(heavy_reads)?),
            database: service.database,
            standby,
            plan: service.plan,
            writers: service.writers,
            tokens: Arc::new(service.tokens),
            key_sets: Arc::new(KeySets::new(Sender::new(service.webhook_reach, system_names()))),
            passwords: Arc::new(Passwords::start()?),
            sign_ins: (service.rate_limits != RateLimits::Off).then(|| Arc::new(SignIns::new())),
            issuers: service.issuers,
            recent: Arc::new(RecentGames::new()),
            hub: service.hub,
            readings: Arc::default(),
            seeks: Arc::new(Semaphore::new(1)),
            metrics: service.metrics,
            append_outage: Arc::new(Outage::behind_database(APPENDS_FAIL, APPENDS_WORK)),
            readiness,
            open_for: service.open_for,
            networks: Networks::new(network_key),
            network_games_max: service.network_games_max,
            webhook_reach: service.webhook_reach,
            mailing: service.mailing,
            push: service.push,
            reserved_names: Arc::new(NameRules::new(service.reserved_names)),
            import_quotas: service.import_quotas,
            uploads: Arc::default(),
        })
    }

    /// The state of one more worker, with connections of its own. Call it on the worker's thread.
    pub(super) fn worker_state(&self) -> Arc<AppState> {
        let read_permits = usize::try_from(self.plan.reads_each / 2).unwrap_or(1).max(1);
        let ConnectionPlan { reads_each, .. } = self.plan;
        // However few there are, one is opened at once.
        let (db, db_last_use) = db::kept_pool(self.database.clone(), reads_each, self.plan.kept(reads_each).max(1));
        let lookups = Lookups::start(self.database.clone());
        let worker = self.readiness.follow(Worker { db: db.clone(), db_last_use, lookups });
        let state = Arc::new(AppState {
            reads: reads(db.clone(), self.standby.as_ref(), self.plan.reads_each),
            db,
            worker,
            writers: self.writers.clone(),
            cursors: Cursors::new(self.tokens.cursor_key()),
            tokens: self.tokens.clone(),
            key_sets: self.key_sets.clone(),
            passwords: self.passwords.clone(),
            sign_ins: self.sign_ins.clone(),
            issuers: self.issuers.clone(),
            recent: self.recent.clone(),
            heavy: self.heavy.clone(),
            hub: self.hub.clone(),
            readings: self.readings.clone(),
            pages: SharedReads::default(),
            explored: SharedReads::default(),
            read_permits: Semaphore::new(read_permits),
            seeks: self.seeks.clone(),
            metrics: self.metrics.clone(),
            append_outage: self.append_outage.clone(),
            readiness: self.readiness.clone(),
            open_for: self.open_for,
            networks: self.networks,
            network_games_max: self.network_games_max,
            webhook_reach: self.webhook_reach,
            mailing: self.mailing,
            push: self.push.clone(),
            import_quotas: self.import_quotas,
            uploads: self.uploads.clone(),
            reserved_names: self.reserved_names.clone(),
        });
        let watched = Arc::downgrade(&state);
        self.metrics.watched().connections(move || watched.upgrade().map(|state| state.connections()));
        let (pool, lookups) = (Arc::downgrade(&state), Arc::downgrade(&state));
        // The bound is what could be opened.
        self.metrics.watched().changing_resource("db_pool_connections", move || {
            let Connections { pool, pool_idle, .. } = pool.upgrade()?.connections();
            Some((pool.saturating_sub(pool_idle), pool))
        });
        self.metrics.watched().resource("lookup_queue", Lookups::QUEUE_MAX, move || {
            lookups.upgrade().map(|state| state.worker.lookups.queued())
        });
        state
    }
}

/// The pools for reads of one thread.
fn reads(primary: PgPool, standby: Option<&(Database, Arc<Freshness>)>, connections: u32) -> Reads {
    let standby = standby.map(|(database, freshness)| Standby::new(database, connections, freshness.clone()));
    Reads::new(primary, standby)
}
