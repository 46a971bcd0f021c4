//! Parts that many requests share: the caller, conditions, accepted types, preferences, and the body. Knows no route.

pub mod accept;
pub mod auth;
pub mod body;
pub mod conditional;
pub mod extract;
pub mod faults;
pub mod form;
pub mod idempotency;
mod json;
pub mod known;
pub mod language;
pub mod names;
pub mod origin;
pub mod player;
pub mod prefer;
pub mod reader;
mod shapes;
pub mod suspended;
