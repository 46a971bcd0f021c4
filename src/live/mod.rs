//! Who waits for which game; wakes them after the commit.
//!
//! The `Hub` is told of every change that this process stores, once it is stored; `follow` asks the database for what
//! other processes have stored. It carries versions only: whoever is woken reads the game again. This module knows the
//! database's functions and the domain; it holds no SQL and knows nothing of HTTP.

mod follower;
mod hub;

pub use follower::follow;
pub use hub::{Hub, Released, WAITERS_MAX, Waiter};
