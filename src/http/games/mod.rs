//! The endpoints of games: create, show, list, change. What a command leads to is decided in `domain`.

pub(crate) mod asked;
pub(crate) mod change;
pub(crate) mod contested;
pub(crate) mod create;
pub(crate) mod find;
pub(crate) mod invitations;
pub(crate) mod lifecycle;
pub(crate) mod list;
pub(crate) mod list_query;
pub(crate) mod moves;
mod new_game;
pub(crate) mod offers;
pub(crate) mod page;
pub(crate) mod positions;
pub(crate) mod seek;
pub(crate) mod settle;
