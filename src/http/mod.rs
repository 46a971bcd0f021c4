//! The REST API.
//!
//! A handler reads: extract, load, ask the domain, append, answer. Wire types live here and only here, and so do the
//! status codes of failures (`error`). This module knows the domain, the rules and the database's functions; it holds
//! no SQL and no rule of a game.

mod answer;
mod events;
mod games;
mod layers;
mod openapi;
mod operation;
mod paths;
mod players;
mod records;
mod request;
mod routes;
mod serve;
mod state;
mod study;
mod variants;
mod view;
mod webhooks;

pub use layers::{connections::KEEP_ALIVE, cors::ANY_ORIGIN};
pub use operation::scrape::serve_metrics;
pub use records::{
    import_forms::{Form, Refused, read_game},
    list_export::{ListForm, write_game},
};
pub use routes::document;
pub use serve::{RateLimits, Service, serve};
pub use state::tokens::{Caller, KeyError, PublicKey, Tokens, new_key};
pub use webhooks::message::write_message;
