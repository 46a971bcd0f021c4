//! Events of games and players: pages, and streams that stay open.

pub mod game_events;
pub mod player_events;
pub mod player_notices;
pub mod streams;
pub mod whole_game;
