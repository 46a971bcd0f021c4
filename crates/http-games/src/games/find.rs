//! Finds games for readers that may see them: in the cache, if the database confirms the version, or else in the database.

use std::{collections::HashMap, sync::Arc, time::Duration};

use actix_web::http::header::HeaderName;
use mancala_db::{
    DbError,
    games::{self, SeatedGame, lookups},
};
use mancala_domain::{Game, GameId, Opponent, PlayerId, Refusal, Status, Visibility};
use mancala_http::{
    answer::{
        headers::{KEPT_FOR_EVER, NOT_KEPT},
        problem::Problem,
    },
    state::{AppState, recent::Remembered},
};
use mancala_process::{clock::now, metrics::CacheLookup, repeats};
use sqlx::PgPool;
use tokio::time::timeout;

use super::settle::settle;

/// How long a reader waits for a permit. After that it reads without one, because the permits may be held for good.
pub const READ_PERMIT_TIMEOUT: Duration = Duration::from_secs(20);

/// The `Cache-Control` of a game's moves and positions. All caches may keep those of a finished public game for ever, unless it
/// can be deleted.
pub fn cache_control(game: &Game) -> (HeaderName, &'static str) {
    if game.status() == Status::Finished && game.terms().visibility == Visibility::Public && !is_imported(game) {
        KEPT_FOR_EVER
    } else {
        NOT_KEPT
    }
}

/// Whether a game was imported: only such games are ever deleted.
fn is_imported(game: &Game) -> bool {
    matches!(game.terms().opponent, Opponent::Imported { .. })
}

/// A game that the reader may see.
pub async fn find_visible(state: &AppState, id: GameId, reader: Option<PlayerId>) -> Result<Arc<Remembered>, Problem> {
    find_with_code(state, id, reader, None).await
}

/// A game that the reader may see, also because of a join code.
pub async fn find_with_code(
    state: &AppState,
    id: GameId,
    reader: Option<PlayerId>,
    join_code: Option<&str>,
) -> Result<Arc<Remembered>, Problem> {
    let readable = |found: Option<Arc<Remembered>>| {
        let found = found.ok_or(Refusal::Unknown)?;
        found.seated.game.check_readable(reader, join_code).map(|()| found)
    };
    let found = readable(find(state, id).await?).map_err(|refusal| Problem::from(&refusal))?;
    if found.seated.game.due(now()).is_empty() {
        return Ok(found);
    }
    // The first read after a deadline appends the due events.
    settle(state, &found.seated.game).await?;
    readable(find(state, id).await?).map_err(|refusal| Problem::from(&refusal))
}

/// A game whose past the reader may see. A cached game that is over needs no query: its log is complete. Only its players'
/// names may still change, and the past does not show them. An imported game may have been deleted by another process, so the database
/// confirms it.
pub async fn find_past(state: &AppState, id: GameId, reader: Option<PlayerId>) -> Result<Arc<Remembered>, Problem> {
    let is_complete = |found: &Arc<Remembered>| {
        let game = &found.seated.game;
        game.status().is_over() && !is_imported(game)
    };
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
pub async fn with_read_permit<T>(state: &AppState, work: impl Future<Output = T>) -> T {
    let _permit = timeout(READ_PERMIT_TIMEOUT, state.read_permits.acquire()).await;
    work.await
}

/// Reads the games with these ids from a database, in this order. A cached game that the database confirms as unchanged is not read again.
/// Deleted games and unreadable ones are left out.
pub async fn find_listed(state: &AppState, db: &PgPool, ids: &[GameId]) -> Result<Vec<Arc<Remembered>>, DbError> {
    let mut found: HashMap<_, _> = ids.iter().filter_map(|id| Some((*id, state.recent.get(*id)?))).collect();
    if !found.is_empty() {
        let cached: Vec<_> = found.keys().copied().collect();
        let confirmed = lookups::fingerprints(db, &cached).await?;
        found.retain(|id, known| confirmed.get(id).is_some_and(|present| present.matches(&known.seated)));
    }
    let unknown: Vec<_> = ids.iter().filter(|id| !found.contains_key(id)).copied().collect();
    state.metrics.games_looked_up(CacheLookup::Hit, found.len());
    state.metrics.games_looked_up(CacheLookup::Miss, unknown.len());
    if !unknown.is_empty() {
        let read = state.recent.begin_read();
        for (id, seated) in games::find_each(db, &unknown).await? {
            let Some(seated) = unless_damaged(id, seated) else { continue };
            let game = Remembered::looked_at(seated, read);
            keep_if_whole(state, &game);
            found.insert(game.seated.game.id(), game);
        }
        for deleted in unknown.iter().filter(|id| !found.contains_key(id)) {
            state.recent.remove(*deleted);
        }
    }
    Ok(ids.iter().filter_map(|id| found.remove(id)).collect())
}

/// A game of several, unless its row is damaged. A damaged row is logged, and the other games are shown without it.
fn unless_damaged(id: GameId, found: Result<SeatedGame, DbError>) -> Option<SeatedGame> {
    let error = match found {
        Ok(seated) => return Some(seated),
        Err(error) => error,
    };
    if let Some(line) = repeats::admit("games that lists lack", &error.to_string()) {
        tracing::error!(left_out = line.left_out, game.id = %id.0, "a list lacks a game that cannot be read: {error}");
    }
    None
}

/// Caches a game that was read for display. A running game is cached only with its history, which commands need, and only if its last ply
/// could be read.
fn keep_if_whole(state: &AppState, read: &Arc<Remembered>) {
    let game = &read.seated.game;
    let is_whole = game.ply() == 0 || read.seated.last_ply.is_some();
    if is_whole && (read.has_history || game.status().is_over()) {
        state.recent.keep(read);
    }
}

/// Finds the current state of a game. A cached game is not read again if the database confirms that it is unchanged. These lookups are
/// batched.
pub async fn find(state: &AppState, id: GameId) -> Result<Option<Arc<Remembered>>, DbError> {
    if let Some(remembered) = state.recent.get(id) {
        match state.worker.lookups.fingerprint(id).await {
            Ok(Some(fingerprint)) if fingerprint.matches(&remembered.seated) => {
                state.metrics.game_looked_up(CacheLookup::Hit);
                return Ok(Some(remembered));
            }
            // The game has changed; or the connection was lost, and the pool may have another one.
            Ok(_) | Err(DbError::ConnectionLost(_)) => {}
            Err(error) => return Err(error),
        }
    }
    state.metrics.game_looked_up(CacheLookup::Miss);
    let read = state.recent.begin_read();
    let found = games::find(&state.db, id).await?.map(|seated| Remembered::looked_at(seated, read));
    if found.is_none() {
        // Another process has deleted it.
        state.recent.remove(id);
    }
    if let Some(found) = &found {
        keep_if_whole(state, found);
    }
    Ok(found)
}
