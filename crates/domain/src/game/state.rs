//! All that the log says of a game, as plain data.

use mancala_rules::AnyPosition;
use time::OffsetDateTime;

use super::{GameResult, Offer, Status, Terms};
use crate::{BySeat, GameId, PlayerId, Time};

/// All that the log says of a game. As plain data it may hold anything; a [`Game`](crate::Game) is made of it by
/// [`Game::from_stored`](crate::Game::from_stored).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameState {
    /// The game's id.
    pub id: GameId,
    /// The terms, which were fixed when the game was created.
    pub terms: Terms,
    /// The last event's `seq`.
    pub version: u32,
    /// How far the game has come.
    pub status: Status,
    /// The player of each seat. Seats stay with a pie swap: see [`Game::seat_at`](crate::Game::seat_at).
    pub players: BySeat<Option<PlayerId>>,
    /// Which seats have played a move.
    pub moved: BySeat<bool>,
    /// The number of the last ply; 0 before the first.
    pub ply: u32,
    /// The position on the board.
    pub position: AnyPosition,
    /// The event since which positions count against repetition: that of the last ply whose position has no history, or
    /// the first event. `None` where the rules ask for no history.
    pub history_from_seq: Option<u32>,
    /// The clock. With unlimited time it never runs.
    pub time: Time,
    /// Pending offers: at most one of each kind.
    pub offers: Vec<Offer>,
    /// The game of the rematch.
    pub rematch: Option<GameId>,
    /// How the game ended; present when it is finished.
    pub result: Option<GameResult>,
    /// When the game was created.
    pub created_at: OffsetDateTime,
    /// When the second seat was taken.
    pub started_at: Option<OffsetDateTime>,
    /// When the last event happened.
    pub updated_at: OffsetDateTime,
    /// When the game ended, with a result or without.
    pub finished_at: Option<OffsetDateTime>,
    /// When the game was last analysed.
    pub analysed_at: Option<OffsetDateTime>,
    /// When an open game ends unless a player joins; `None` once a player has.
    pub expires_at: Option<OffsetDateTime>,
}

/// The notification that a game has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The game.
    pub game: GameId,
    /// Its version after the change.
    pub version: u32,
    /// The players of the game, and the invited player.
    pub people: [Option<PlayerId>; 2],
}
