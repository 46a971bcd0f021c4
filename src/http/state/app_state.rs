//! The state that handlers share: of a process, and of one worker. Knows no route and no handler.

use std::{ops::Deref, sync::Arc};

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
use crate::{
    connection_plan::ConnectionPlan,
    db::{Database, Freshness, Reads, Writers, records::usage::ImportTotal},
    domain::PlayerKind,
    http::answer::cursor::Cursors,
    jose::KeySets,
    live::Hub,
    metrics::{Connections, Metrics},
    openid::Issuers,
    outage::Outage,
    push::Push,
    rules::AnyPosition,
    webhook::Reach,
};

/// What the workers of a process share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) database: Database,
    /// A standby that answers reads, and what shows how far it has come.
    pub(crate) standby: Option<(Database, Arc<Freshness>)>,
    pub(crate) plan: ConnectionPlan,
    pub(crate) settings: Settings,
    pub(crate) writers: Arc<Writers>,
    pub(crate) tokens: Tokens,
    pub(crate) cursors: Cursors,
    /// The keys of issuers that apps trust.
    pub(crate) key_sets: Arc<KeySets>,
    pub(crate) passwords: Passwords,
    /// The limits of sign-ins by account; `None` without rate limits.
    pub(crate) sign_ins: Option<SignIns>,
    /// The issuers by which people sign in.
    pub(crate) issuers: Arc<Issuers>,
    pub(crate) recent: Arc<RecentGames>,
    /// The threads that read and replay whole games.
    pub(crate) heavy: Arc<Heavy>,
    pub(crate) hub: Arc<Hub>,
    /// Reads in progress that several streams share.
    pub(crate) readings: Readings,
    /// Seeks of games run one at a time: the others wait here, and hold no connection to the database.
    pub(crate) seeks: Semaphore,
    pub(crate) metrics: Arc<Metrics>,
    /// Whether appends fail because of the database.
    pub(crate) append_outage: Outage,
    pub(crate) readiness: Arc<Readiness>,
    pub(crate) networks: Networks,
    pub(crate) uploads: Arc<Uploads>,
    /// Names that no player may take: reserved ones, and those that the operators refuse.
    pub(crate) reserved_names: Arc<NameRules>,
}

/// The state that the handlers of one worker share.
#[derive(Debug)]
pub(crate) struct AppState {
    /// What all workers share: its fields are read as the state's own.
    pub(crate) shared: Arc<Shared>,
    pub(crate) db: PgPool,
    /// The worker's connections, as its readiness sees them.
    pub(crate) worker: Arc<Worker>,
    /// The worker's connections for reads of a closed list, which a standby may answer.
    pub(crate) reads: Reads,
    /// Pages of games, and answers of the explorer, that several requests of this worker want at the same moment.
    pub(crate) pages: SharedReads<Wanted, Arc<Page>>,
    pub(crate) explored: SharedReads<(AnyPosition, bool), Explored>,
    /// Permits for reads of requests that wait or were just woken, which may be many at once. They leave half of the connections
    /// to other requests, and keep reads from timing out in the pool's queue.
    pub(crate) read_permits: Semaphore,
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
    pub(crate) fn connections(&self) -> Connections {
        Connections { pool: self.db.size() as usize, pool_idle: self.db.num_idle(), ..Connections::default() }
    }
}
