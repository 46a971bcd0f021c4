//! Events of games and of players: pages, streams, and tickets for streams. Knows the HTTP side only: `db::events` reads the logs.

pub mod game_events;
pub mod game_stream;
pub mod player_events;
pub mod player_position;
pub mod player_reading;
pub mod player_stream;
pub mod resume;
pub mod stream;
pub mod tickets;
