//! Lists that a player keeps: of the players that it has blocked, and that it has muted. Knows no table of them.

use mancala_domain::{Player, PlayerId};
use sqlx::PgConnection;
use time::{OffsetDateTime, macros::datetime};
use uuid::Uuid;

use super::persons::{self, Found};
use crate::connection::DbError;

/// Later than anything stored.
const END: OffsetDateTime = datetime!(9999-12-31 23:59:59 UTC);

/// A player in a list of another one.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The listed player.
    pub player: Player,
    /// The time since when it is listed.
    pub at: OffsetDateTime,
}

/// Whether a player is in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// The player is on the list, by this call or an earlier one.
    Stored,
    /// The list is full.
    TooMany,
    /// The player that keeps the list is deleted.
    NoOwner,
    /// There is no player to list.
    NoPlayer,
    /// The player to list is no person that can play.
    NoPerson,
}

/// Locks the player that keeps the list and the one to list. Returns why the second cannot be listed, if it cannot.
pub(super) async fn lock(
    connection: &mut PgConnection,
    owner: PlayerId,
    player: PlayerId,
) -> Result<Option<Listing>, DbError> {
    Ok(match persons::lock(connection, owner, player).await? {
        [Found::Person, Found::Person] => None,
        [Found::Person, Found::NoPerson] => Some(Listing::NoPerson),
        [Found::Person, Found::None] => Some(Listing::NoPlayer),
        _ => Some(Listing::NoOwner),
    })
}

/// The place before which a page of a list lies that has the last one first: all of it without a place.
pub(super) fn place(after: Option<(OffsetDateTime, PlayerId)>) -> (OffsetDateTime, Uuid) {
    after.map_or((END, Uuid::max()), |(at, player)| (at, player.0))
}
