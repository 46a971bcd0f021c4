//! What is sent to clients: the wire types of games, moves and events, and which waiting requests a change wakes. Knows no route.

#![forbid(unsafe_code)]

pub mod live;
pub mod view;
