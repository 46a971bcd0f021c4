//! Two players, locked, as a row between them needs them: persons that can play.

use mancala_domain::PlayerId;
use sqlx::PgConnection;
use tracing::Instrument;

use crate::connection::{DbError, statement};

/// The kind of a player that was looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// There is no such player.
    None,
    /// The computer, an erased player, a name of imported games, or a guest that was merged with an account.
    NoPerson,
    /// A guest or an account.
    Person,
}

/// Locks both players, in the order of their ids. So an erasure or a merge of either has already ended, or finds the row between them.
pub(super) async fn lock(connection: &mut PgConnection, one: PlayerId, other: PlayerId) -> Result<[Found; 2], DbError> {
    let rows = sqlx::query!(
        r#"
        select id, kind in ('guest', 'account') as "is_person!" from player where id in ($1, $2) order by id for share
        "#,
        one.0,
        other.0,
    )
    .fetch_all(&mut *connection)
    .instrument(statement("lock players"))
    .await?;
    // A separate statement: a merge may have stored a row during the wait for the locks.
    let merged = sqlx::query_scalar!("select guest_id from merged_guest where guest_id in ($1, $2)", one.0, other.0);
    let merged = merged.fetch_all(connection).instrument(statement("select merged_guest")).await?;
    Ok([one, other].map(|player| match rows.iter().find(|row| row.id == player.0) {
        None => Found::None,
        Some(row) if row.is_person && !merged.contains(&row.id) => Found::Person,
        Some(_) => Found::NoPerson,
    }))
}
