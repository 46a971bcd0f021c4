//! What a decision depends on beside the game and the command.

use time::OffsetDateTime;

use crate::{Event, GameId, Ply};

/// How many offers of a kind a player makes between two plies: one, one more after a change of mind, and one by mistake. For
/// rematches it counts in the whole game, because they come after its last ply.
pub const OFFERS_MAX: u32 = 3;

/// What a decision depends on beside the game and the command. What an action does not depend on may be left as
/// [`Context::new`] has it.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The time of the decision.
    pub now: OffsetDateTime,
    /// Makes the id of the game that a rematch begins. The decision puts it into the slot of the game before.
    pub new_game_id: fn() -> GameId,
    /// For moves: the plies that the log has under their numbers. They show that a request is a repetition.
    pub recorded: &'a [Ply],
    /// For a takeback: the newest plies, oldest first.
    pub newest_plies: &'a [Ply],
    /// For an accepted takeback with a clock that has increments: the whole log.
    pub log: &'a [Event],
    /// Unfinished games of the player that joins; for a rematch, of the player that has most of them.
    pub running_games: u32,
    /// For a rematch: whether the opponent's account was erased.
    pub is_opponent_erased: bool,
    /// Whether there is a block between the player and the one that [`Game::approached_by`](crate::Game::approached_by) names.
    pub is_blocked: bool,
    /// For the end of a pause: whether a player of the game is suspended and does not move.
    pub is_stopped: bool,
    /// For an offer: how many of its kind the player has made since the last ply, pending or not.
    pub offers_made: u32,
}

impl Context<'_> {
    /// The context of an action that depends on no ply, no other game and no account.
    pub const fn new(now: OffsetDateTime, new_game_id: fn() -> GameId) -> Self {
        Self {
            now,
            new_game_id,
            recorded: &[],
            newest_plies: &[],
            log: &[],
            running_games: 0,
            is_opponent_erased: false,
            is_blocked: false,
            is_stopped: false,
            offers_made: 0,
        }
    }
}
