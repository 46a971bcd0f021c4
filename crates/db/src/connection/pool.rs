//! Connection pools.

use std::{sync::Arc, time::Duration};

use sqlx::{
    Connection,
    postgres::{PgPool, PgPoolOptions},
};

use super::{
    Database, Freshness,
    database::set,
    renewal,
    settings::{LIMITS, Setting},
};

/// How long a request waits for a free connection before it is answered 503.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(3);

/// How long a read waits for a connection to a standby. The primary is there for it.
const STANDBY_ACQUIRE_TIMEOUT: Duration = Duration::from_millis(200);

/// A connection that was idle for longer is pinged before use: a restart or a firewall may have closed it.
const IDLE_UNCHECKED_MAX: Duration = Duration::from_secs(1);

/// A pool for everything but appends. It connects on first use, so that a server can start while its database is down.
pub fn pool(database: impl Into<Database>, connections_max: u32) -> PgPool {
    registered_pool(&database.into(), connections_max, 0)
}

/// The same, with one connection that is opened at once and kept: other clients may take all others of the database.
pub fn pool_for_moves(database: impl Into<Database>, connections_max: u32) -> PgPool {
    registered_pool(&database.into(), connections_max, 1)
}

fn registered_pool(database: &Database, connections_max: u32, connections_min: u32) -> PgPool {
    let settings = LIMITS.to_vec();
    let options = pool_options(database, settings.clone(), connections_max).min_connections(connections_min);
    let pool = options.connect_lazy_with(database.options(&settings));
    database.register(&pool, settings);
    pool
}

/// A pool with these settings that hears of no other host.
pub(crate) fn unregistered_pool(database: &Database, settings: Vec<Setting>, connections_max: u32) -> PgPool {
    let options = database.options(&settings);
    pool_options(database, settings, connections_max).connect_lazy_with(options)
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

fn pool_options(database: &Database, settings: Vec<Setting>, connections_max: u32) -> PgPoolOptions {
    let pooling = database.pooling();
    let (route, settings) = (database.route().clone(), Arc::<[Setting]>::from(settings));
    PgPoolOptions::new()
        .max_connections(connections_max.max(1))
        .acquire_timeout(ACQUIRE_TIMEOUT)
        // A ping before every request would cost a third of the throughput, so only a connection that was idle is
        // pinged.
        .test_before_acquire(false)
        .after_connect(move |connection, _| {
            let settings = settings.clone();
            Box::pin(async move { set(connection, pooling, &settings).await })
        })
        .before_acquire(move |connection, meta| {
            let is_current = route.is_current(meta.age);
            Box::pin(async move {
                if !is_current || renewal::is_due(meta.age) {
                    return Ok(false);
                }
                if meta.idle_for > IDLE_UNCHECKED_MAX {
                    connection.ping().await?;
                }
                Ok(true)
            })
        })
}
