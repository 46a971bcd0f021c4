//! Gauges that are read from their owners when the metrics are read.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use prometheus_client::{
    metrics::{family::Family, gauge::Gauge},
    registry::Registry,
};

/// Connections to the database.
#[derive(Clone, Copy, Debug, Default)]
pub struct Connections {
    /// Open connections of the pools.
    pub pool: usize,
    /// Idle connections of the pools.
    pub pool_idle: usize,
    /// Connections of the writers with a statement in flight.
    pub writers_in_use: usize,
    /// Appends in the writers' queue.
    pub appends_queued: usize,
}

/// Requests that wait for a game to change.
#[derive(Clone, Copy, Debug, Default)]
pub struct Waiters {
    pub all: usize,
    /// Open streams of events, which `all` includes.
    pub streams: usize,
}

/// The size of the cache of games.
#[derive(Clone, Copy, Debug, Default)]
pub struct CacheSize {
    pub games: usize,
    pub bytes: u64,
}

/// The value that an owner reports; `None` once the owner is gone.
type Source<T> = Box<dyn Fn() -> Option<T> + Send + Sync>;

/// Something bounded, of which a process may have several parts.
struct Resource {
    name: &'static str,
    /// How much is in use, and the bound.
    source: Source<(usize, usize)>,
}

/// The gauges, and the owners that they are read from.
#[derive(Default)]
pub struct Watched {
    connections: Mutex<Vec<Source<Connections>>>,
    pool: Gauge,
    pool_idle: Gauge,
    pool_in_use: Gauge,
    writers_in_use: Gauge,
    appends_queued: Gauge,
    waiters: Mutex<Option<Source<Waiters>>>,
    waiting: Gauge,
    streams: Gauge,
    cache: Mutex<Option<Source<CacheSize>>>,
    cached_games: Gauge,
    cached_bytes: Gauge,
    resources: Mutex<Vec<Resource>>,
    in_use: Family<[(&'static str, &'static str); 1], Gauge>,
    max: Family<[(&'static str, &'static str); 1], Gauge>,
    missing_rights: Family<[(&'static str, String); 1], Gauge>,
}

impl Watched {
    pub(super) fn register(&self, registry: &mut Registry) {
        for (name, help, gauge) in [
            (
                "db_pool_connections",
                "Open connections of the pools to the database; the writers have their own",
                &self.pool,
            ),
            ("db_pool_connections_idle", "Idle connections of the pools", &self.pool_idle),
            ("db_pool_connections_in_use", "Connections of the pools in use", &self.pool_in_use),
            (
                "db_writer_connections_in_use",
                "Connections of the writers with a statement in flight",
                &self.writers_in_use,
            ),
            ("appends_queued", "Appends in the writers' queue", &self.appends_queued),
            ("waiters", "Requests waiting for a game to change, including streams", &self.waiting),
            ("streams", "Open streams of events", &self.streams),
            ("cached_games", "Games in the cache", &self.cached_games),
            ("cached_games_bytes", "Approximate memory of the games in the cache", &self.cached_bytes),
        ] {
            registry.register(name, help, gauge.clone());
        }
        registry.register(
            "resource_in_use",
            "How much is in use of each bounded resource: places in queues, connections, bytes",
            self.in_use.clone(),
        );
        registry.register(
            "resource_max",
            "The bound of each resource: at the bound, requests are refused or wait",
            self.max.clone(),
        );
        registry.register(
            "missing_rights",
            "1 for each right on a table that the database user lacks, such as `insert on event`",
            self.missing_rights.clone(),
        );
    }

    /// Shows these rights as missing, and no others.
    pub fn set_missing_rights(&self, rights: &[String]) {
        self.missing_rights.clear();
        for right in rights {
            self.missing_rights.get_or_create(&[("right", right.clone())]).set(1);
        }
    }

    /// Reads the waiters from `source` each time the metrics are read.
    pub fn waiters(&self, source: impl Fn() -> Option<Waiters> + Send + Sync + 'static) {
        *lock(&self.waiters) = Some(Box::new(source));
    }

    /// Reads the size of the cache from `source` each time the metrics are read.
    pub fn cache(&self, source: impl Fn() -> Option<CacheSize> + Send + Sync + 'static) {
        *lock(&self.cache) = Some(Box::new(source));
    }

    /// Adds the connections of `source` each time the metrics are read, until it returns `None`.
    pub fn connections(&self, source: impl Fn() -> Option<Connections> + Send + Sync + 'static) {
        lock(&self.connections).push(Box::new(source));
    }

    /// Reads how much of a bounded resource is in use each time the metrics are read, until `source` returns `None`. Parts of the
    /// same name are added.
    pub fn resource(&self, name: &'static str, max: usize, source: impl Fn() -> Option<usize> + Send + Sync + 'static) {
        self.changing_resource(name, move || source().map(|in_use| (in_use, max)));
    }

    /// Reads a resource whose bound changes: `source` returns how much is in use, and the bound.
    pub fn changing_resource(
        &self,
        name: &'static str,
        source: impl Fn() -> Option<(usize, usize)> + Send + Sync + 'static,
    ) {
        lock(&self.resources).push(Resource { name, source: Box::new(source) });
    }

    /// Sets all gauges to the current values of their owners.
    pub(super) fn read(&self) {
        self.read_connections();
        let waiters = lock(&self.waiters).as_ref().and_then(|source| source()).unwrap_or_default();
        set(&self.waiting, waiters.all);
        set(&self.streams, waiters.streams);
        let size = lock(&self.cache).as_ref().and_then(|source| source()).unwrap_or_default();
        set(&self.cached_games, size.games);
        self.cached_bytes.set(i64::try_from(size.bytes).unwrap_or(i64::MAX));
        self.read_resources();
    }

    fn read_connections(&self) {
        let mut all = Connections::default();
        lock(&self.connections).retain(|source| match source() {
            Some(part) => {
                all.pool += part.pool;
                all.pool_idle += part.pool_idle;
                all.writers_in_use += part.writers_in_use;
                all.appends_queued += part.appends_queued;
                true
            }
            None => false,
        });
        set(&self.pool, all.pool);
        set(&self.pool_idle, all.pool_idle);
        set(&self.pool_in_use, all.pool.saturating_sub(all.pool_idle));
        set(&self.writers_in_use, all.writers_in_use);
        set(&self.appends_queued, all.appends_queued);
    }

    fn read_resources(&self) {
        let mut sums: BTreeMap<&'static str, (usize, usize)> = BTreeMap::new();
        lock(&self.resources).retain(|resource| match (resource.source)() {
            Some((in_use, max)) => {
                let sum = sums.entry(resource.name).or_default();
                *sum = (sum.0 + in_use, sum.1 + max);
                true
            }
            None => false,
        });
        for (name, (in_use, max)) in sums {
            set(&self.in_use.get_or_create(&[("resource", name)]), in_use);
            set(&self.max.get_or_create(&[("resource", name)]), max);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn set(gauge: &Gauge, count: usize) {
    gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
}

#[cfg(test)]
mod tests {
    use super::{super::Metrics, *};

    #[test]
    fn connections_are_read_from_their_owner_as_long_as_it_lives() {
        let metrics = Metrics::new(0);
        let owner = std::sync::Arc::new(());
        let weak = std::sync::Arc::downgrade(&owner);
        metrics
            .watched()
            .connections(|| Some(Connections { pool: 3, pool_idle: 1, writers_in_use: 2, appends_queued: 7 }));
        metrics.watched().connections(move || {
            weak.upgrade().map(|_| Connections { pool: 5, pool_idle: 5, ..Connections::default() })
        });
        let has = |line: &str| metrics.text().lines().any(|known| known == line);
        assert!(has("mancala_db_pool_connections 8") && has("mancala_db_pool_connections_in_use 2"));
        drop(owner);
        assert!(has("mancala_db_pool_connections 3") && has("mancala_db_writer_connections_in_use 2"));
        assert!(has("mancala_appends_queued 7"));
    }
}
