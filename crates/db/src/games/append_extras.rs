//! Appends that are stored in one transaction with something else.

use mancala_domain::{Change, Event, Game, GameId};
use sqlx::{PgConnection, PgPool};
use tracing::Instrument;
use uuid::Uuid;

use super::{
    announcer::Announcer,
    append::{self, Append, Appended},
    find::{Histories, load},
    insert::insert,
};
use crate::{
    connection::{DbError, statement},
    idempotency::{self, Keyed},
};

/// Rows that are stored in the transaction of an append. Few appends have extras, and moves never do.
#[derive(Clone, Debug, Default)]
pub struct AppendExtras {
    /// The answer to keep under an idempotency key.
    pub keyed: Option<Keyed>,
    /// A new game that begins with the append, with its first events.
    pub begun: Option<(Game, Vec<Event>)>,
}

/// As [`append`](super::append), together with the extras: either all of it is stored, durably, and announced, or nothing.
pub async fn append_with(
    pool: &PgPool,
    announcer: &Announcer,
    next: &Game,
    events: &[Event],
    extras: &AppendExtras,
) -> Result<Appended, DbError> {
    let append = Append::of(next, events);
    let mut transaction = pool.begin().await?;
    if let Some(keyed) = &extras.keyed
        && !idempotency::claim(&mut *transaction, keyed, next.updated_at()).await?
    {
        return Ok(Appended::KeyUsed);
    }
    let stored = append::store(&mut transaction, &[&append]).await?;
    if stored.games.is_empty() {
        return Ok(Appended::Conflict);
    }
    if let Some((game, log)) = &extras.begun
        && let [created, further @ ..] = log.as_slice()
    {
        let new =
            Game::replay(game.id(), [created]).map_err(|e| DbError::inconsistent("event", "kind", game.id().0, e))?;
        insert(&mut *transaction, &new, created, None, None).await?;
        if !further.is_empty() {
            append::store(&mut transaction, &[&Append::of(game, further)]).await?;
        }
    }
    transaction.commit().await?;
    announcer.appended([&append], &stored);
    if let Some((game, _)) = &extras.begun {
        announcer.created(game);
    }
    Ok(Appended::Stored)
}

/// Appends events to several games in the caller's transaction, which locks them before it reads them. `events` says which
/// events a game gets. Returns the changes, or `None` on a version conflict.
pub(crate) async fn append_to_all(
    connection: &mut PgConnection,
    ids: &[GameId],
    events: impl Fn(&Game) -> Vec<Event>,
) -> Result<Option<Vec<Change>>, DbError> {
    let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
    sqlx::query_scalar!("select id from game where id = any($1) order by id for no key update", &ids)
        .fetch_all(&mut *connection)
        .instrument(statement("lock games"))
        .await?;
    let mut appends = vec![];
    for mut game in load(&mut *connection, &ids, Histories::Skipped).await?.into_iter().map(|seated| seated.game) {
        let events = events(&game);
        if events.is_empty() {
            continue;
        }
        for event in &events {
            game.apply(event).map_err(|e| DbError::inconsistent("event", "kind", game.id().0, e))?;
        }
        appends.push(Append::of(&game, &events));
    }
    if appends.is_empty() {
        return Ok(Some(vec![]));
    }
    let stored = append::store(connection, &appends.iter().collect::<Vec<_>>()).await?;
    Ok((stored.games.len() == appends.len()).then(|| appends.iter().map(Append::change).collect()))
}
