//! Appends that are stored in one transaction with something else.

use std::slice;

use mancala_domain::{Event, Game};
use sqlx::PgPool;

use super::{
    append::{self, Append, Appended},
    insert::insert,
};
use crate::{
    connection::DbError,
    idempotency::{self, Keyed},
};

/// What is stored in one transaction with an append: very few appends have it, and none of them is a move.
#[derive(Clone, Debug, Default)]
pub struct AppendExtras {
    /// The answer to keep under an idempotency key.
    pub keyed: Option<Keyed>,
    /// A new game that begins with the append, with its first events.
    pub begun: Option<(Game, [Event; 2])>,
}

/// As [`append`](super::append), together with the extras: either all of it is stored, durably, or nothing.
pub async fn append_with(
    pool: &PgPool,
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
    if append::store(&mut transaction, &[&append]).await?.games.is_empty() {
        return Ok(Appended::Conflict);
    }
    if let Some((game, [created, joined])) = &extras.begun {
        let new =
            Game::replay(game.id(), [created]).map_err(|e| DbError::inconsistent("event", "kind", game.id().0, e))?;
        insert(&mut *transaction, &new, created, None).await?;
        append::store(&mut transaction, &[&Append::of(game, slice::from_ref(joined))]).await?;
    }
    transaction.commit().await?;
    Ok(Appended::Stored)
}
