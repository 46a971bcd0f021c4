//! Games and their logs: stored, appended to, and read.

mod announcer;
mod append;
mod append_extras;
pub(crate) mod archived;
pub(crate) mod clock_rows;
pub(crate) mod columns;
pub mod computer_games;
pub mod computer_turns;
pub(crate) mod event_rows;
pub(crate) mod find;
pub(crate) mod fold;
mod game_rows;
pub mod held;
mod insert;
pub(crate) mod logs;
pub mod lookups;
mod of_player;
mod offers;
pub mod open_games;
pub(crate) mod plies;
pub mod seek;
pub(crate) mod term_rows;
pub mod wakes;
pub mod writers;

pub use announcer::Announcer;
pub use append::Appended;
pub(crate) use append_extras::append_to_all;
pub use append_extras::{AppendExtras, append_with};

pub use find::{find, find_all, find_each, find_whole, versions};
pub use game_rows::SeatedGame;
pub use insert::{Inserted, OpenGamesLimit, insert};
pub use of_player::{count_running, list_open, list_seated, list_unfinished};
pub use offers::count_offers;
pub use plies::{histories, log, plies};
pub use writers::append;
