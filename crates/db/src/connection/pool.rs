//! Connection pools.

use std::{iter, sync::Arc, time::Duration};

use futures_util::future::join_all;
use sqlx::{
    Connection,
    postgres::{PgPool, PgPoolOptions},
};

use tokio::time::{sleep, timeout};

use super::{
    Database, DbError, Freshness, LastUse,
    database::set,
    renewal,
    settings::{LIMITS, Setting},
};

/// How long a request waits for a free connection before it is answered 503.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(3);

/// How long a read waits for a connection to a standby. The primary is there for it.
const STANDBY_ACQUIRE_TIMEOUT: Duration = Duration::from_millis(200);

/// The pause between two looks whether a pool has lost connections.
const KEEP_PAUSE: Duration = Duration::from_secs(1);

/// How long a pool's idle connections may be held while others are opened.
const FILL_TIMEOUT: Duration = Duration::from_millis(500);

/// A connection that was idle for longer is pinged before use: a restart or a firewall may have closed it.
const IDLE_UNCHECKED_MAX: Duration = Duration::from_secs(1);

/// A pool for everything but appends. It connects on first use, so that a server can start while its database is down.
pub fn pool(database: impl Into<Database>, connections_max: u32) -> PgPool {
    kept_pool(database, connections_max, 0).0
}

/// A pool like that of [`pool`], which opens `kept` connections at once and keeps them. Other clients may take all other connections of the
/// database. Also returns when the pool last had a connection to give.
pub fn kept_pool(database: impl Into<Database>, connections_max: u32, kept: u32) -> (PgPool, LastUse) {
    let (database, settings, last_use) = (database.into(), LIMITS.to_vec(), LastUse::new());
    let mut options =
        pool_options(&database, settings.clone(), connections_max, last_use.clone()).min_connections(kept);
    if kept > 0 {
        options = options.idle_timeout(None).max_lifetime(None);
    }
    let pool = options.connect_lazy_with(database.options(&settings));
    if kept > 0 {
        tokio::spawn(keep(database.clone(), pool.clone()));
    }
    database.register(&pool, settings);
    (pool, last_use)
}

/// Opens the connections that a pool has lost, as sqlx does only at the start. Runs until the pool is closed.
async fn keep(database: Database, pool: PgPool) {
    while !pool.is_closed() {
        sleep(KEEP_PAUSE).await;
        let missing = pool.options().get_min_connections().saturating_sub(pool.size());
        if missing == 0 {
            continue;
        }
        let tried = timeout(ACQUIRE_TIMEOUT, database.connect(&LIMITS)).await;
        match tried.unwrap_or_else(|_| Err(DbError::unreachable())) {
            Ok(connection) => {
                let _ = connection.close().await;
                fill(&pool, missing).await;
            }
            // too_many_connections
            Err(error) if error.sqlstate().as_deref() == Some("53300") => hold_back(&database, &pool, missing).await,
            Err(_) => {}
        }
    }
}

/// Opens `missing` connections of a pool. The idle connections are held meanwhile, because the pool would hand them out first.
async fn fill(pool: &PgPool, missing: u32) {
    let idle: Vec<_> = iter::from_fn(|| pool.try_acquire()).collect();
    let _ = timeout(FILL_TIMEOUT, join_all((0..missing).map(|_| pool.acquire()))).await;
    drop(idle);
}

/// Holds back the places of a pool for which the database has no connection, as long as a request waits for one. A request that gets such
/// a place would try to connect until its time is over, although other connections of the pool are soon free.
async fn hold_back(database: &Database, pool: &PgPool, missing: u32) {
    // A child takes its places from its parent, and gives them back when it is dropped.
    let child = PgPoolOptions::new().max_connections(missing).parent(pool.clone()).acquire_timeout(ACQUIRE_TIMEOUT);
    let child = child.connect_lazy_with(database.options(&LIMITS));
    join_all((0..missing).map(|_| child.acquire())).await;
}

/// A pool with these settings that does not follow the database to another host.
pub(crate) fn unregistered_pool(database: &Database, settings: Vec<Setting>, connections_max: u32) -> PgPool {
    let options = database.options(&settings);
    pool_options(database, settings, connections_max, LastUse::new()).connect_lazy_with(options)
}

/// A pool to a standby. Its connections lead to the instance that `freshness` compares with the primary, or are closed.
pub(super) fn standby_pool(database: &Database, connections_max: u32, freshness: Arc<Freshness>) -> PgPool {
    let (pooling, of_instance) = (database.pooling(), freshness.clone());
    PgPoolOptions::new()
        .max_connections(connections_max.max(1))
        .acquire_timeout(STANDBY_ACQUIRE_TIMEOUT)
        .test_before_acquire(false)
        .after_connect(move |connection, _| {
            let freshness = freshness.clone();
            Box::pin(async move {
                set(connection, pooling, &LIMITS).await?;
                freshness.check(connection).await
            })
        })
        .before_acquire(move |_, meta| {
            let is_current = of_instance.is_to_instance(meta.age) && !renewal::is_due(meta.age);
            Box::pin(async move { Ok(is_current) })
        })
        .connect_lazy_with(database.options(&LIMITS))
}

fn pool_options(database: &Database, settings: Vec<Setting>, connections_max: u32, last_use: LastUse) -> PgPoolOptions {
    let pooling = database.pooling();
    let (opened, returned) = (last_use.clone(), last_use.clone());
    let (route, settings) = (database.route().clone(), Arc::<[Setting]>::from(settings));
    PgPoolOptions::new()
        .max_connections(connections_max.max(1))
        .acquire_timeout(ACQUIRE_TIMEOUT)
        // A ping before every request would cost a third of the throughput, so only a connection that was idle is
        // pinged.
        .test_before_acquire(false)
        .after_connect(move |connection, _| {
            let (settings, opened) = (settings.clone(), opened.clone());
            Box::pin(async move {
                set(connection, pooling, &settings).await?;
                opened.note();
                Ok(())
            })
        })
        .after_release(move |_, _| {
            returned.note();
            Box::pin(async { Ok(true) })
        })
        .before_acquire(move |connection, meta| {
            let (is_current, last_use) = (route.is_current(meta.age), last_use.clone());
            Box::pin(async move {
                if !is_current || renewal::is_due(meta.age) {
                    return Ok(false);
                }
                if meta.idle_for > IDLE_UNCHECKED_MAX || renewal::is_suspect(meta.idle_for) {
                    connection.ping().await?;
                }
                last_use.note();
                Ok(true)
            })
        })
}
