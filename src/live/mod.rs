//! Who waits for which game, or for any of a player's; wakes them after the commit.
//!
//! The `Hub` is told of every change that this process stores, once it is stored. `announce` tells the other processes, by
//! notices; `follow` hears theirs, and asks the database now and then for what no notice told. All of it carries versions only:
//! whoever is woken reads the game again. This module knows the database's functions and the domain; it holds no SQL and knows
//! nothing of HTTP.

mod announcer;
mod audience;
mod changes;
mod follower;
mod hub;

pub use announcer::announce;
pub use audience::{Audience, Holder, Listening, STREAMS_OF_ADDRESS_MAX, STREAMS_OF_PLAYER_MAX, Standing};
pub use follower::follow;
pub use hub::{Hub, Released, Topic, WAITERS_MAX, Waiter};
