//! Data for clients: the wire types of games, moves and events. Also decides which waiting requests a change wakes. Knows no route.

#![forbid(unsafe_code)]

pub mod live;
pub mod view;
