//! The database of a process: to which host its connections go, and how they get their settings. It knows no table.
//!
//! A [`Database`] is cheap to clone, and all clones follow the same host. When another host takes over, new connections go
//! there, and those to the former host are replaced before their next use.

use std::{
    fmt,
    str::FromStr,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use sqlx::{AssertSqlSafe, ConnectOptions, PgConnection, PgPool, postgres::PgConnectOptions};

use super::{
    DbError,
    hosts::{Hosts, Target, WrongUrl},
    session_name::session_name,
    settings::{KEEPALIVES, Setting},
    sight::{Continuity, Sight},
};

/// The database of a process.
#[derive(Clone)]
pub struct Database(Arc<Shared>);

struct Shared {
    /// At least one.
    hosts: Vec<PgConnectOptions>,
    target: Target,
    route: Arc<Route>,
    /// The pools that are notified of another host; empty if there is only one host.
    pools: Mutex<Vec<(PgPool, Vec<Setting>)>>,
    /// The last sight with a trace.
    sight: Mutex<Option<Sight>>,
    observers: Mutex<Vec<Observer>>,
    /// Counts how often the database was set back.
    epoch: AtomicU64,
}

/// A function that is called when reads from before may no longer match the database.
type Observer = Box<dyn Fn(Continuity) + Send + Sync>;

/// The host to which new connections go. The pools hold the route, so the route holds no pool.
pub(super) struct Route {
    present: RwLock<Present>,
    /// Counts the changes of the host.
    generation: AtomicU64,
    pooling: OnceLock<Pooling>,
}

#[derive(Clone, Copy)]
struct Present {
    /// The index of the host.
    host: usize,
    /// When connections began to go there; `None` for the first host.
    since: Option<Instant>,
}

/// The pooler or proxy between the server and PostgreSQL, if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pooling {
    /// Nothing, or a proxy that passes everything on: settings go with the start of a connection.
    Direct,
    /// A pooler that lends a connection for a whole session, and takes no settings at its start: they are set afterwards.
    Session,
    /// A pooler that lends a connection for one transaction: settings come from the role, and nothing else outlasts a
    /// transaction.
    Transaction,
}

impl Database {
    fn new(hosts: Hosts) -> Self {
        let route = Route {
            present: RwLock::new(Present { host: 0, since: None }),
            generation: AtomicU64::new(0),
            pooling: OnceLock::new(),
        };
        let Hosts { options, target } = hosts;
        Self(Arc::new(Shared {
            hosts: options,
            target,
            route: Arc::new(route),
            pools: Mutex::default(),
            sight: Mutex::default(),
            observers: Mutex::default(),
            epoch: AtomicU64::new(0),
        }))
    }

    pub(super) fn hosts(&self) -> &[PgConnectOptions] {
        &self.0.hosts
    }

    /// Whether the URL names several hosts, of which one is used at a time.
    pub fn has_several_hosts(&self) -> bool {
        self.0.hosts.len() > 1
    }

    pub(super) fn target(&self) -> Target {
        self.0.target
    }

    pub(super) fn route(&self) -> &Arc<Route> {
        &self.0.route
    }

    /// How other programs, and statements on whole databases, connect to the present host: without the settings of the service.
    pub fn present_host(&self) -> PgConnectOptions {
        self.0.hosts[self.0.route.host()].clone()
    }

    /// The options of a new connection with these settings.
    pub(super) fn options(&self, settings: &[Setting]) -> PgConnectOptions {
        self.options_at(self.0.route.host(), settings)
    }

    fn options_at(&self, host: usize, settings: &[Setting]) -> PgConnectOptions {
        let options = self.0.hosts[host].clone().application_name(session_name());
        match self.pooling() {
            Pooling::Direct => options.options(settings.iter().copied()).options(KEEPALIVES),
            Pooling::Session | Pooling::Transaction => options.extra_float_digits(None),
        }
    }

    /// The options of the connections that ask each host for its role.
    pub(super) fn options_of_watch(&self) -> impl Iterator<Item = PgConnectOptions> {
        let keepalives = if self.pooling() == Pooling::Direct { &KEEPALIVES[..] } else { &[] };
        self.0.hosts.iter().map(|options| options.clone().options(keepalives.iter().copied()))
    }

    /// Opens a connection with these settings.
    pub(crate) async fn connect(&self, settings: &[Setting]) -> Result<PgConnection, DbError> {
        self.connect_as(session_name(), settings).await
    }

    /// Opens a connection with these settings, and a name in PostgreSQL.
    pub(crate) async fn connect_as(&self, name: &str, settings: &[Setting]) -> Result<PgConnection, DbError> {
        let mut connection = self.options(settings).application_name(name).connect().await?;
        set(&mut connection, self.pooling(), settings).await?;
        Ok(connection)
    }

    /// A number that changes with the host.
    pub(crate) fn generation(&self) -> u64 {
        self.0.route.generation.load(Ordering::Acquire)
    }

    /// A number that changes when the database was set back.
    pub(crate) fn epoch(&self) -> u64 {
        self.0.epoch.load(Ordering::Acquire)
    }

    /// Whether nothing outlasts a transaction: see [`Pooling::Transaction`].
    pub(crate) fn is_pooled_by_transaction(&self) -> bool {
        self.pooling() == Pooling::Transaction
    }

    pub(super) fn pooling(&self) -> Pooling {
        self.0.route.pooling()
    }

    /// Records the kind of pooler in front of PostgreSQL. Only the first call has an effect.
    pub(super) fn set_pooling(&self, pooling: Pooling) {
        let _ = self.0.route.pooling.set(pooling);
    }

    /// Registers a pool, which then follows every later change of the host.
    pub(super) fn register(&self, pool: &PgPool, settings: Vec<Setting>) {
        if self.0.hosts.len() > 1 {
            let mut pools = self.pools();
            pool.set_connect_options(self.options(&settings));
            pools.retain(|(pool, _)| !pool.is_closed());
            pools.push((pool.clone(), settings));
        }
    }

    /// Sends all later connections to another host, and replaces those to the former one.
    pub(super) fn turn_to(&self, host: usize) {
        let pools = self.pools();
        let route = &self.0.route;
        if route.host() == host {
            return;
        }
        *route.present.write().unwrap_or_else(PoisonError::into_inner) = Present { host, since: Some(Instant::now()) };
        route.generation.fetch_add(1, Ordering::AcqRel);
        for (pool, settings) in pools.iter() {
            pool.set_connect_options(self.options(settings));
        }
    }

    /// Calls `observer` whenever the database was set back, and whenever PostgreSQL was started anew.
    pub fn observe(&self, observer: impl Fn(Continuity) + Send + Sync + 'static) {
        self.0.observers.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(observer));
    }

    /// Compares a sight with the last one. Calls the observers if the database was set back or restarted.
    pub(crate) fn seen(&self, sight: &Sight) -> Continuity {
        let mut last = self.0.sight.lock().unwrap_or_else(PoisonError::into_inner);
        // Several connections read the sight concurrently, and their answers arrive in any order.
        if last.as_ref().is_some_and(|last| !sight.is_later_than(last)) {
            return Continuity::Same;
        }
        let continuity = last.as_ref().map_or(Continuity::Same, |last| sight.after(last));
        if sight.has_history() {
            *last = Some(sight.clone());
        }
        // The lock is held until the observers have dropped what they cached: a second connection waits for that.
        if continuity == Continuity::SetBack {
            self.0.epoch.fetch_add(1, Ordering::AcqRel);
            tracing::warn!("the database is another one, or was restored: its cached state is dropped");
        }
        if continuity != Continuity::Same {
            for observer in &*self.0.observers.lock().unwrap_or_else(PoisonError::into_inner) {
                observer(continuity);
            }
        }
        continuity
    }

    fn pools(&self) -> MutexGuard<'_, Vec<(PgPool, Vec<Setting>)>> {
        self.0.pools.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A reference that keeps no connection open.
    pub(super) fn downgrade(&self) -> WeakDatabase {
        WeakDatabase(Arc::downgrade(&self.0))
    }
}

/// A database that may be gone.
pub(super) struct WeakDatabase(std::sync::Weak<Shared>);

impl WeakDatabase {
    pub(super) fn upgrade(&self) -> Option<Database> {
        self.0.upgrade().map(Database)
    }
}

impl Route {
    pub(super) fn host(&self) -> usize {
        self.present.read().unwrap_or_else(PoisonError::into_inner).host
    }

    pub(super) fn pooling(&self) -> Pooling {
        self.pooling.get().copied().unwrap_or(Pooling::Direct)
    }

    /// Whether a connection of this age leads to the current host.
    pub(super) fn is_current(&self, age: Duration) -> bool {
        // Before any change of the host, this check is a single atomic load.
        self.generation.load(Ordering::Acquire) == 0 || {
            let present = *self.present.read().unwrap_or_else(PoisonError::into_inner);
            present.since.is_none_or(|since| age < since.elapsed())
        }
    }
}

/// Applies to a new connection the settings that the pooler did not take at its start.
pub(super) async fn set(
    connection: &mut PgConnection,
    pooling: Pooling,
    settings: &[Setting],
) -> Result<(), sqlx::Error> {
    if pooling == Pooling::Session && !settings.is_empty() {
        let statements = settings.iter().map(|(name, value)| format!("set {name} = '{value}';"));
        // Names and values are constants of this crate.
        sqlx::raw_sql(AssertSqlSafe(statements.collect::<String>())).execute(connection).await?;
    }
    Ok(())
}

/// A database with one host.
impl From<PgConnectOptions> for Database {
    fn from(options: PgConnectOptions) -> Self {
        Self::new(Hosts { options: vec![options], target: Target::Primary })
    }
}

impl From<&PgConnectOptions> for Database {
    fn from(options: &PgConnectOptions) -> Self {
        options.clone().into()
    }
}

impl From<&Self> for Database {
    fn from(database: &Self) -> Self {
        database.clone()
    }
}

impl FromStr for Database {
    type Err = WrongUrl;

    fn from_str(url: &str) -> Result<Self, WrongUrl> {
        url.parse().map(Self::new)
    }
}

/// Leaves out the options, which may hold a password.
impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database").field("hosts", &self.0.hosts.len()).finish_non_exhaustive()
    }
}
