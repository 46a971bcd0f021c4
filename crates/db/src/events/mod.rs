//! The log of a game, and the feed of all events in a player's games.

pub mod game_log;
pub mod player_feed;
