//! Follows the changes that other processes store: by notifications, and by polls while requests wait.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
    time::Duration,
};

use futures_util::future::join;
use mancala_db::{Database, DbError, connection::notifications::Listener, games};
use mancala_process::outage::Outage;
use sqlx::PgPool;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use super::{changes::Notification, hub::Hub};

/// The pause between two polls while notifications arrive. Such a poll finds changes whose notification was lost.
const PAUSE: Duration = Duration::from_secs(5);

/// The pause between two polls without notifications, or after one that asked for a poll: the delay of changes by other processes.
const PAUSE_UNNOTIFIED: Duration = Duration::from_secs(1);

/// The least pause between two wake-ups of all waiters for players: each of them reads all games of its player.
const PLAYERS_PAUSE: Duration = Duration::from_secs(30);

/// How many games one query reads: a few milliseconds of work.
const BATCH_MAX: usize = 1000;

/// The timeout of an answer: longer than those of the pool and of PostgreSQL, so that it ends only connections that are dead.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Notifies the hub of changes by other processes until the hub is gone. It does so at each notification, and after
/// polling the versions of the games with waiters. Without a database to listen to, it only polls. While the database
/// is unreachable, no waiter is woken.
pub async fn follow(hub: Weak<Hub>, pool: PgPool, database: Option<Database>) {
    let outage =
        Outage::behind_database("changes by other servers are not seen", "changes by other servers are seen again");
    let (mut listener, mut has_missed) = (None, true);
    // A poll does not find the players of changed games: their waiters read the games themselves.
    let mut players_notified: Option<Instant> = None;
    while hub.strong_count() > 0 {
        let is_same;
        (listener, is_same) = live_listener(listener, database.as_ref()).await;
        has_missed |= !is_same;
        // The listener receives changes from here on; the poll finds earlier ones.
        let Some(present) = hub.upgrade() else { return };
        if has_missed && players_notified.is_none_or(|at| at.elapsed() >= PLAYERS_PAUSE) {
            present.notify_all_players();
            (has_missed, players_notified) = (false, Some(Instant::now()));
        }
        // No notification waits for the poll.
        let missed;
        ((), (listener, missed)) = join(poll_once(present, &pool, &outage), listen(&hub, listener)).await;
        has_missed |= missed;
    }
}

/// Returns the listener if it is alive, otherwise a new one if the database accepts it. Also returns whether it is the same one.
async fn live_listener(listener: Option<Listener>, database: Option<&Database>) -> (Option<Listener>, bool) {
    if let Some(mut listener) = listener
        && listener.is_alive().await
    {
        return (Some(listener), true);
    }
    let Some(database) = database else { return (None, false) };
    let listener = timeout(TIMEOUT, Listener::start(database)).await;
    (listener.ok().and_then(Result::ok), false)
}

/// Handles notifications until the next poll is due. Returns the listener unless its connection was lost, and whether changes may
/// have been missed.
async fn listen(hub: &Weak<Hub>, listener: Option<Listener>) -> (Option<Listener>, bool) {
    let begun = Instant::now();
    let Some(mut listener) = listener else {
        sleep_until(begun + PAUSE_UNNOTIFIED).await;
        return (None, true);
    };
    let (mut until, mut has_missed) = (begun + PAUSE, false);
    while let Ok(text) = timeout_at(until, listener.next()).await {
        match text.as_deref().map(Notification::read) {
            Some(Notification::Games(games)) => {
                let Some(hub) = hub.upgrade() else { break };
                for change in &games {
                    hub.notify_change(change);
                }
            }
            Some(Notification::Anything) => {
                has_missed = true;
                until = begun + PAUSE_UNNOTIFIED;
            }
            None => {
                // The pause comes first, because a lost database rarely returns at once.
                sleep_until(begun + PAUSE_UNNOTIFIED).await;
                return (None, true);
            }
        }
    }
    (Some(listener), has_missed)
}

/// Polls, and notes the outcome.
async fn poll_once(hub: Arc<Hub>, pool: &PgPool, outage: &Outage) {
    match timeout(TIMEOUT, poll(&hub, pool)).await {
        Ok(polled) => outage.note(&polled),
        Err(elapsed) => outage.failed(&elapsed.to_string()),
    }
}

/// Reads the versions of all games with waiters.
async fn poll(hub: &Arc<Hub>, pool: &PgPool) -> Result<(), DbError> {
    for batch in hub.games().chunks(BATCH_MAX) {
        let known: HashMap<_, _> = games::versions(pool, batch).await?.into_iter().collect();
        for game in batch {
            // A deleted game: its waiters find none.
            hub.notify(*game, known.get(game).copied().unwrap_or(u32::MAX));
        }
    }
    Ok(())
}
