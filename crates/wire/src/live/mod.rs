//! Live updates: wakes the requests that wait for a game, or for any game of a player, after the commit of a change.
//!
//! The `Hub` is notified of every change that this process stores. `announce` sends these changes to the other
//! processes with NOTIFY. `follow` receives theirs, and polls the database for changes without a notification. A change
//! carries only versions; a woken request reads the game again. A waiter for any game of a player learns which games
//! changed, as far as that is known. `follow_revocations` reads which credentials were revoked: their streams end, and
//! their tokens are refused. This module knows the database's functions and the domain. It holds no SQL and knows
//! nothing of HTTP.

mod announcer;
mod audience;
mod changes;
mod follower;
mod hub;
mod revocation_follower;
mod revocations;
mod topic;

pub use announcer::announce;
pub use audience::{Audience, Holder, STREAMS_OF_ADDRESS_MAX, STREAMS_OF_PLAYER_MAX, StreamGuard};
pub use follower::follow;
pub use hub::{Client, Hub, Released, Topic, WAITERS_MAX, Waiter};
pub use revocation_follower::follow_revocations;
pub use revocations::{Revocations, Standing};
pub use topic::{Changed, NAMED_GAMES_MAX};
