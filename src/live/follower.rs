//! Changes that other processes have stored: heard of by notices, and asked for as long as somebody waits.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
    time::Duration,
};

use sqlx::{PgPool, postgres::PgConnectOptions};
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use super::{Hub, Standing, changes::Notice};
use crate::db::{DbError, connection::notifications::Listener, games, players};

/// The pause between two questions while notices arrive: they tell of changes, so this is only for one that got lost, and for
/// players whose streams are to end.
const PAUSE: Duration = Duration::from_secs(5);

/// The pause while they do not, or after one that did not say what has changed: how much later a change by another process is
/// noticed than one by this process.
const PAUSE_WITHOUT_NOTICES: Duration = Duration::from_secs(1);

/// The least pause between two times that all are woken who wait for any game of a player's: each of them asks for all of them.
const PLAYERS_PAUSE: Duration = Duration::from_secs(30);

/// How many games or players one query asks for: a few milliseconds' work.
const BATCH_MAX: usize = 1000;

/// How long an answer is waited for: longer than the pool and PostgreSQL let it take, so that only a connection that has gone
/// silent is given up.
const ANSWER_WAIT: Duration = Duration::from_secs(10);

/// Tells the hub what other processes have stored, until the hub is gone: as soon as a notice says so, and by asking the database
/// again and again at which version the games are that somebody waits for. While the database is away nobody is woken.
pub async fn follow(hub: Weak<Hub>, pool: PgPool, database: PgConnectOptions) {
    let mut failing = false;
    let (mut listener, mut has_missed) = (None, true);
    // Whose games have changed is not asked: who waits for any of a player's looks for himself.
    let mut players_told: Option<Instant> = None;
    while hub.strong_count() > 0 {
        let is_same;
        (listener, is_same) = listening(listener, &database).await;
        has_missed |= !is_same;
        // Whatever happens from here on is heard; what happened before is asked for.
        let Some(present) = hub.upgrade() else { return };
        if has_missed && players_told.is_none_or(|told| told.elapsed() >= PLAYERS_PAUSE) {
            present.tell_all_players();
            (has_missed, players_told) = (false, Some(Instant::now()));
        }
        let cause = match timeout(ANSWER_WAIT, ask(&present, &pool)).await {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("the database does not answer".to_owned()),
        };
        drop(present);
        if let Some(cause) = &cause
            && !failing
        {
            tracing::warn!(cause, "changes by other servers are not noticed until the database answers again");
        }
        failing = cause.is_some();
        let missed;
        (listener, missed) = hear(&hub, listener).await;
        has_missed |= missed;
    }
}

/// The listener if it is still alive, or a new one, if one can be had; and whether it is the same.
async fn listening(listener: Option<Listener>, database: &PgConnectOptions) -> (Option<Listener>, bool) {
    if let Some(mut listener) = listener
        && listener.is_alive().await
    {
        return (Some(listener), true);
    }
    let listener = timeout(ANSWER_WAIT, Listener::start(database)).await;
    (listener.ok().and_then(Result::ok), false)
}

/// Hears notices until it is time to ask again. Gives back the listener, unless it was lost, and says whether something may have
/// happened that no notice told.
async fn hear(hub: &Weak<Hub>, listener: Option<Listener>) -> (Option<Listener>, bool) {
    let begun = Instant::now();
    let Some(mut listener) = listener else {
        sleep_until(begun + PAUSE_WITHOUT_NOTICES).await;
        return (None, true);
    };
    let (mut until, mut has_missed) = (begun + PAUSE, false);
    while let Ok(notice) = timeout_at(until, listener.next()).await {
        match notice.as_deref().map(Notice::read) {
            Some(Notice::Games(games)) => {
                let Some(hub) = hub.upgrade() else { break };
                for change in &games {
                    hub.tell_change(change);
                }
            }
            Some(Notice::Anything) => {
                has_missed = true;
                until = begun + PAUSE_WITHOUT_NOTICES;
            }
            None => {
                // Not at once: a database that is away stays so for a while.
                sleep_until(begun + PAUSE_WITHOUT_NOTICES).await;
                return (None, true);
            }
        }
    }
    (Some(listener), has_missed)
}

/// Asks for the versions of all games that somebody waits for, and whether those who hold streams may still listen.
async fn ask(hub: &Arc<Hub>, pool: &PgPool) -> Result<(), DbError> {
    for batch in hub.games().chunks(BATCH_MAX) {
        for (game, version) in games::versions(pool, batch).await? {
            hub.tell(game, version);
        }
    }
    let audience = hub.audience();
    for batch in audience.players().chunks(BATCH_MAX) {
        let known: HashMap<_, _> = players::credentials(pool, batch).await?.into_iter().collect();
        for player in batch {
            let standing = known.get(player).map_or(Standing::Gone, |version| Standing::Credentials(*version));
            audience.tell(*player, standing);
        }
    }
    Ok(())
}
