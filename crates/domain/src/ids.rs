//! Ids of games and players.

use uuid::Uuid;

/// A game's id, a UUIDv7: ids order games by their time of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GameId(pub Uuid);

/// A player's id, a UUIDv7.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlayerId(pub Uuid);
