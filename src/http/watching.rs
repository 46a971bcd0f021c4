//! Connects the metrics with the state that workers share, and the hub and the caches with the changes.

use std::sync::Arc;

use mancala_db::{
    Database, Writers,
    connection::{
        notifications,
        sight::{Continuity, Sight},
    },
    players::name_filter::StoredFilter,
};
use mancala_http::state::{Shared, clock_watch::ClockWatch, heavy::Heavy, recent::RecentGames, uploads::Uploads};
use mancala_process::{
    metrics::{Connections, Metrics, Waiters},
    repeats,
};
use mancala_wire::live::{self, Hub};

/// Connects the metrics with the state that workers share, and the hub with all changes.
pub(super) fn watch(shared: &Shared) {
    let Shared { hub, writers, metrics, database, recent, .. } = shared;
    watch_database(hub, recent, database);
    watch_waiters(shared);
    watch_writers(writers, metrics);
    watch_recent(recent, metrics);
    watch_resources(shared);
    actix_web::rt::spawn(repeats::report());
}

/// Drops cached reads of a database that was set back. After a restart of PostgreSQL cached games are read again as well, because its files
/// may have been restored while it was down.
fn watch_database(hub: &Arc<Hub>, recent: &Arc<RecentGames>, database: &Database) {
    let (hub, recent) = (Arc::downgrade(hub), Arc::downgrade(recent));
    database.observe(move |continuity| {
        if let Some(recent) = recent.upgrade() {
            recent.clear();
        }
        if let Some(hub) = hub.upgrade().filter(|_| continuity == Continuity::SetBack) {
            hub.set_back();
        }
    });
}

/// Counts waiting requests, and wakes them when this process or another one has changed their game. Follows the revocations of
/// credentials.
fn watch_waiters(Shared { hub, writers, metrics, database, plan, reserved_names, .. }: &Shared) {
    let waiting = Arc::downgrade(hub);
    let (counted, notified) = (waiting.clone(), waiting.clone());
    metrics.watched().waiters(move || {
        let hub = counted.upgrade()?;
        Some(Waiters { all: hub.waiters(), streams: hub.audience().streams() })
    });
    writers.observe(move |change| {
        if let Some(hub) = notified.upgrade() {
            hub.stored(change);
        }
    });
    // The clock comes first, because no token is accepted without its connection.
    let clock = ClockWatch::new(metrics.clone());
    let on_sight = move |sight: &Sight| clock.set(sight);
    let names = reserved_names.clone();
    let on_names = move |filter: &StoredFilter| {
        // A long list takes some time to read, and this thread reads revocations.
        let (names, list) = (names.clone(), filter.list.clone());
        drop(actix_web::rt::task::spawn_blocking(move || names.set_filter(&list)));
    };
    actix_web::rt::spawn(live::follow_revocations(waiting.clone(), database.clone(), on_sight, on_names));
    let sender = notifications::sender(database);
    actix_web::rt::spawn(live::announce(waiting.clone(), sender.clone()));
    actix_web::rt::spawn(live::follow(waiting, sender, plan.has_listener.then(|| database.clone())));
}

/// Counts the writers' groups, their busy connections and their queue.
fn watch_writers(writers: &Arc<Writers>, metrics: &Arc<Metrics>) {
    let groups = metrics.clone();
    writers.observe_groups(move |appends| groups.group_written(appends));
    // The metrics outlive the server, and must not keep its connections open.
    let watched = Arc::downgrade(writers);
    metrics.watched().connections(move || {
        let writers = watched.upgrade()?;
        let (writers_in_use, appends_queued) = (writers.busy(), writers.queued());
        Some(Connections { writers_in_use, appends_queued, ..Connections::default() })
    });
}

/// Measures the cache of recent games.
fn watch_recent(recent: &Arc<RecentGames>, metrics: &Metrics) {
    let watched = Arc::downgrade(recent);
    metrics.watched().cache(move || watched.upgrade().map(|recent| recent.size()));
}

/// Measures bounded resources. Resources whose owners are gone are no longer measured.
fn watch_resources(shared: &Shared) {
    let Shared { metrics, hub, writers, heavy, uploads, .. } = shared;
    let watched = Arc::downgrade(hub);
    metrics.watched().resource("waiters", live::WAITERS_MAX, move || watched.upgrade().map(|hub| hub.waiters()));
    let watched = Arc::downgrade(writers);
    let queue_max = writers.queue_max();
    metrics.watched().resource("append_queue", queue_max, move || watched.upgrade().map(|writers| writers.queued()));
    let watched = Arc::downgrade(heavy);
    metrics
        .watched()
        .resource("heavy_work", Heavy::AT_ONCE_MAX, move || watched.upgrade().map(|heavy| heavy.running()));
    let watched = Arc::downgrade(uploads);
    metrics
        .watched()
        .resource("upload_bytes", Uploads::BYTES_MAX, move || watched.upgrade().map(|uploads| uploads.bytes()));
}
