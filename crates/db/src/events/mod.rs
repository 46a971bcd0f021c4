//! The logs of games, and what has happened in all games of a player.

pub mod game_log;
pub mod player_feed;
