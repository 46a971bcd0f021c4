//! Events of games and of players: pages, streams, and tickets for streams. Knows the HTTP side only: `db::events` reads the logs.

pub(crate) mod game_events;
pub(crate) mod game_stream;
pub(crate) mod player_events;
pub(crate) mod player_position;
pub(crate) mod player_reading;
pub(crate) mod player_stream;
pub(crate) mod resume;
pub(crate) mod stream;
pub(crate) mod tickets;
