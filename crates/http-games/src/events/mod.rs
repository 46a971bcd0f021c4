//! Events of games and of players: pages, streams, and tickets for streams. Knows the HTTP side only: `db::events` reads the logs.

pub mod game_events;
mod game_stream;
pub mod player_events;
mod player_position;
mod player_reading;
mod player_stream;
pub mod resume;
pub mod stream;
pub mod tickets;
