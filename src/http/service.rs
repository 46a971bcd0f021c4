//! The parameters of the server.

use std::{sync::Arc, time::Duration};

use ipnet::IpNet;
use mancala_http::{
    layers::limits::LimitClock,
    state::{Settings, tokens::Tokens},
};
use tokio_util::sync::CancellationToken;

use mancala_db::{Database, Writers};
use mancala_domain::ReservedNames;
use mancala_http::request::reader::Page;
use mancala_outbound::openid::Issuers;
use mancala_process::{access_log::AccessLog, connection_plan::ConnectionPlan, file_plan::FilePlan, metrics::Metrics};
use mancala_wire::live::Hub;

/// The parameters of a service.
pub struct Service {
    pub database: Database,
    /// A standby that answers reads.
    pub standby: Option<Database>,
    /// The caller ends them after the server has ended.
    pub writers: Arc<Writers>,
    pub tokens: Tokens,
    /// Origins whose pages may call from a browser, or [`super::ANY_ORIGIN`].
    pub cors_origins: Vec<String>,
    pub rate_limits: RateLimits,
    /// Whether a page for people is served beside the API.
    pub page: Page,
    /// Networks of reverse proxies whose forwarding headers are trusted.
    pub trusted_proxies: Vec<IpNet>,
    /// How long a connection may idle between two requests; usually [`super::KEEP_ALIVE`].
    pub keep_alive: Duration,
    /// The connections to the database, and the threads that answer requests.
    pub plan: ConnectionPlan,
    /// The connections of clients.
    pub files: FilePlan,
    /// Wakes requests that wait for a game. The caller releases them before it stops the server.
    pub hub: Arc<Hub>,
    /// The URL at which clients reach the service, for the OpenAPI document and the pages of games.
    pub public_url: Option<String>,
    /// How long a stopping service waits for the requests that it has accepted.
    pub shutdown_timeout_s: u64,
    /// The settings that handlers read.
    pub settings: Settings,
    /// The issuers by which people sign in.
    pub issuers: Arc<Issuers>,
    /// Names that no player may take.
    pub reserved_names: Arc<ReservedNames>,
    pub metrics: Arc<Metrics>,
    /// Where answered requests are noted. The caller flushes it after the server has ended.
    pub access_log: Option<Arc<AccessLog>>,
    /// Cancelled when the service is about to stop. It then reports that it is not ready and releases waiting requests, and
    /// still answers.
    pub draining: CancellationToken,
}

/// Omits the database's options, which may hold its password.
impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Service").field("tokens", &self.tokens).field("plan", &self.plan).finish_non_exhaustive()
    }
}

/// Whether calls are rate-limited, by player or by address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateLimits {
    On,
    /// On, and no quota is refilled: for tests, which may run on a slow machine.
    NeverRefilled,
    Off,
}

impl RateLimits {
    /// The clock of the limits, if there are limits.
    pub(super) fn clock(self) -> Option<LimitClock> {
        match self {
            Self::On => Some(LimitClock::running()),
            Self::NeverRefilled => Some(LimitClock::stopped()),
            Self::Off => None,
        }
    }
}
