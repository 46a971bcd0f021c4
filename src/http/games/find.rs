//! Finds games: remembered and confirmed by the database, or loaded; and only for readers who may see them.

use std::{sync::Arc, time::Duration};

use actix_web::http::header::HeaderName;
use tokio::time::timeout;

use super::settle::settle;
use crate::{
    clock::now,
    db::{DbError, games},
    domain::{Game, GameId, PlayerId, Refusal, Status, Visibility},
    http::{
        answer::{
            headers::{KEPT_FOR_EVER, NOT_KEPT},
            problem::Problem,
        },
        state::{AppState, recent::Remembered},
    },
    metrics::CacheLookup,
};

/// How long a reader waits for a permit. After that it reads without one: what holds the permits will not end by waiting.
pub(crate) const READ_PERMIT_TIMEOUT: Duration = Duration::from_secs(20);

/// How long the moves and positions of a game may be kept: of a finished public one for ever, by everybody.
pub(crate) fn kept(game: &Game) -> (HeaderName, &'static str) {
    if game.status() == Status::Finished && game.terms().visibility == Visibility::Public {
        KEPT_FOR_EVER
    } else {
        NOT_KEPT
    }
}

/// A game that the reader may see.
pub(crate) async fn find_visible(
    state: &AppState,
    id: GameId,
    reader: Option<PlayerId>,
) -> Result<Arc<Remembered>, Problem> {
    let visible = |found: &Arc<Remembered>| found.seated.game.is_visible_to(reader);
    let mut found = find(state, id).await?.filter(visible);
    if let Some(due) = found.as_ref().filter(|found| !found.seated.game.due(now()).is_empty()) {
        // Whoever notices that a deadline has passed records it.
        settle(state, &due.seated.game).await?;
        found = find(state, id).await?.filter(visible);
    }
    found.ok_or_else(|| Problem::from(&Refusal::Unknown))
}

/// A game whose past the reader may see. Of one that is over and remembered, the database need not be asked: its log is
/// complete, and only its people's names may still change, which are not shown with it.
pub(crate) async fn find_past(
    state: &AppState,
    id: GameId,
    reader: Option<PlayerId>,
) -> Result<Arc<Remembered>, Problem> {
    let is_complete = |found: &Arc<Remembered>| found.seated.game.status().is_over();
    match state.recent.get(id).filter(is_complete) {
        Some(found) => {
            state.metrics.game_looked_up(CacheLookup::Hit);
            let visible = Some(found).filter(|found| found.seated.game.is_visible_to(reader));
            visible.ok_or_else(|| Problem::from(&Refusal::Unknown))
        }
        None => find_visible(state, id, reader).await,
    }
}

/// Does a read that many requests may want at the same moment, a few at a time: see [`AppState::read_permits`]. Without a
/// permit within [`READ_PERMIT_TIMEOUT`], it reads anyway.
pub(crate) async fn with_read_permit<T>(state: &AppState, work: impl Future<Output = T>) -> T {
    let _permit = timeout(READ_PERMIT_TIMEOUT, state.read_permits.acquire()).await;
    work.await
}

/// The game as it is now. One that is remembered need not be read again if the database says that it is still the same, which
/// it is asked for many at once.
pub(crate) async fn find(state: &AppState, id: GameId) -> Result<Option<Arc<Remembered>>, DbError> {
    if let Some(remembered) = state.recent.get(id) {
        match state.lookups.fingerprint(id).await {
            Ok(Some(fingerprint)) if fingerprint.matches(&remembered.seated) => {
                state.metrics.game_looked_up(CacheLookup::Hit);
                return Ok(Some(remembered));
            }
            // It has changed; or the connection was lost, and another one may be there.
            Ok(_) | Err(DbError::ConnectionLost(_)) => {}
            Err(error) => return Err(error),
        }
    }
    state.metrics.game_looked_up(CacheLookup::Miss);
    let read_at = now();
    let found = games::find(&state.db, id).await?.map(|seated| Remembered::looked_at(seated, read_at));
    // Who plays on asks for the history, and is not to find a game without it.
    if let Some(found) = found.as_ref().filter(|found| found.has_history || found.seated.game.status().is_over()) {
        state.recent.keep(found);
    }
    Ok(found)
}
