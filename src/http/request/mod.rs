//! Parts that many requests share: the caller, conditions, accepted types, preferences, and the body. Knows no route.

pub(crate) mod accept;
pub(crate) mod auth;
pub(crate) mod body;
pub(crate) mod conditional;
pub(crate) mod extract;
pub(crate) mod faults;
pub(crate) mod form;
pub(crate) mod idempotency;
mod json;
pub(crate) mod known;
pub(crate) mod language;
pub(crate) mod names;
pub(crate) mod origin;
pub(crate) mod player;
pub(crate) mod prefer;
mod shapes;
pub(crate) mod suspended;
