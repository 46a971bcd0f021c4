//! Connection pools.

use std::{sync::Arc, time::Duration};

use sqlx::{
    Connection,
    postgres::{PgPool, PgPoolOptions},
};

use super::{
    Database,
    database::set,
    renewal,
    settings::{LIMITS, Setting},
};

/// How long a request waits for a free connection before it is answered 503.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(3);

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
