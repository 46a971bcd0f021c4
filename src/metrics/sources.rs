//! Gauges that are read from their owner when the metrics are read.

/// Returns the waiters; `None` once the service is gone.
pub(super) type WaiterSource = Box<dyn Fn() -> Option<Waiters> + Send + Sync>;

/// Returns the size of the cache; `None` once the service is gone.
pub(super) type CacheSource = Box<dyn Fn() -> Option<CacheSize> + Send + Sync>;

/// Returns the connections of a part of the process; `None` once that part is gone.
pub(super) type ConnectionSource = Box<dyn Fn() -> Option<Connections> + Send + Sync>;

/// Returns how much of something bounded is in use; `None` once its owner is gone.
pub(super) type ResourceSource = Box<dyn Fn() -> Option<usize> + Send + Sync>;

/// Something bounded, of which a process may have several parts.
pub(super) struct Resource {
    pub name: &'static str,
    pub max: usize,
    pub source: ResourceSource,
}

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
