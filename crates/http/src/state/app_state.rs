//! The state that handlers share: of a process, and of one worker. Knows no route and no handler.

use std::{ops::Deref, sync::Arc};

use mancala_db::{Database, Freshness, Reads, Writers, records::usage::ImportTotal};
use mancala_domain::PlayerKind;
use mancala_outbound::{jose::KeySets, openid::Issuers, push::Push, webhook::Reach};
use mancala_process::{
    connection_plan::ConnectionPlan,
    metrics::{Connections, Metrics},
    outage::Outage,
};
use mancala_rules::AnyPosition;
use mancala_wire::live::Hub;
use sqlx::PgPool;
use tokio::sync::Semaphore;

use super::{
    heavy::Heavy,
    mailing::Mailing,
    name_rules::NameRules,
    networks::Networks,
    passwords::Passwords,
    readiness::{Readiness, Worker},
    readings::Readings,
    recent::RecentGames,
    shared_answers::{Explored, Page, Wanted},
    shared_reads::SharedReads,
    sign_ins::SignIns,
    tokens::Tokens,
    uploads::Uploads,
};
use crate::answer::cursor::Cursors;

/// State that the workers of a process share.
#[derive(Debug)]
pub struct Shared {
    pub database: Database,
    /// A standby that answers reads, with the measure of how far it has replayed the log.
    pub standby: Option<(Database, Arc<Freshness>)>,
    pub plan: ConnectionPlan,
    pub settings: Settings,
    pub writers: Arc<Writers>,
    pub tokens: Tokens,
    pub cursors: Cursors,
    /// The keys of issuers that apps trust.
    pub key_sets: Arc<KeySets>,
    pub passwords: Passwords,
    /// The limits of sign-ins by account; `None` without rate limits.
    pub sign_ins: Option<SignIns>,
    /// The issuers by which people sign in.
    pub issuers: Arc<Issuers>,
    pub recent: Arc<RecentGames>,
    /// The threads that read and replay whole games.
    pub heavy: Arc<Heavy>,
    pub hub: Arc<Hub>,
    /// Reads in progress that several streams share.
    pub readings: Readings,
    /// Seeks of games run one at a time: the others wait here, and hold no connection to the database.
    pub seeks: Semaphore,
    pub metrics: Arc<Metrics>,
    /// Whether appends fail because of the database.
    pub append_outage: Outage,
    pub readiness: Arc<Readiness>,
    pub networks: Networks,
    pub uploads: Arc<Uploads>,
    /// Names that no player may take: reserved ones, and those that the operators refuse.
    pub reserved_names: Arc<NameRules>,
}

/// The state that the handlers of one worker share.
#[derive(Debug)]
pub struct AppState {
    /// The state that all workers share. Its fields can be read as fields of this state.
    pub shared: Arc<Shared>,
    pub db: PgPool,
    /// The worker's connections, as its readiness sees them.
    pub worker: Arc<Worker>,
    /// The worker's connections for reads of a closed list, which a standby may answer.
    pub reads: Reads,
    /// Pages of games, and answers of the explorer, that several requests of this worker wait for at the same moment.
    pub pages: SharedReads<Wanted, Arc<Page>>,
    pub explored: SharedReads<(AnyPosition, bool), Explored>,
    /// Permits for reads of requests that wait or were just woken, which may be many at once. They leave half of the connections
    /// to other requests, and keep reads from timing out in the pool's queue.
    pub read_permits: Semaphore,
}

impl Deref for AppState {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.shared
    }
}

/// The settings that handlers read.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How long an open game waits for a second player.
    pub open_for: time::Duration,
    /// How many games against the computer all guests and new accounts of one network may have at once, if rate limits are on.
    pub network_games_max: u32,
    /// The addresses at which players may register webhooks.
    pub webhook_reach: Reach,
    /// Whether the mails that are queued are sent: addresses are verified then, and passwords reset by them.
    pub mailing: Mailing,
    /// Which push notifications are sent.
    pub push: Push,
    /// How much of imports each player may have stored.
    pub import_quotas: ImportQuotas,
}

/// How many imported games, and plies of them, each player may have stored.
#[derive(Clone, Copy, Debug)]
pub struct ImportQuotas {
    pub account: ImportTotal,
    pub guest: ImportTotal,
}

impl ImportQuotas {
    /// The quota of a player. A guest that becomes an account has that of accounts.
    pub fn of(&self, kind: PlayerKind) -> ImportTotal {
        if kind == PlayerKind::Account { self.account } else { self.guest }
    }
}

impl AppState {
    /// This worker's connections, for the metrics.
    pub fn connections(&self) -> Connections {
        Connections { pool: self.db.size() as usize, pool_idle: self.db.num_idle(), ..Connections::default() }
    }
}
