//! The endpoints of games: create, show, list, change. What a command leads to is decided in `domain`.

pub mod asked;
pub mod change;
pub mod contested;
pub mod create;
pub mod find;
pub mod invitations;
pub mod lifecycle;
pub mod list;
pub mod list_query;
pub mod moves;
mod new_game;
pub mod offers;
pub mod page;
pub mod positions;
pub mod seek;
mod settle;
