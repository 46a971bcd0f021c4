//! The REST API.
//!
//! A handler extracts the request, loads the game, asks the domain, appends and answers. Wire types live here and only
//! here, and so do the status codes of failures (`answer::problem`). This module knows the domain, the rules and the
//! database's functions. It holds no SQL and no rule of a game.

mod address;
mod answer;
mod apps;
mod docs;
mod email;
mod events;
mod fixed;
mod games;
mod layers;
mod openapi;
mod operation;
mod operators;
mod page;
mod paths;
mod players;
mod push;
mod records;
mod request;
mod routes;
mod serve;
mod service;
mod shared;
mod sign_in;
mod state;
mod study;
mod variants;
mod view;
mod watching;
mod webhooks;

pub use layers::{connections::KEEP_ALIVE, cors::ANY_ORIGIN};
pub use operation::scrape::serve_metrics;
pub use operators::key::{new_operator_key, operator_key_hash};
pub use page::Page;
pub use records::{
    import_forms::{Form, Refused, read_game},
    list_export::{ListForm, write_game},
};
pub use routes::{document, document_3_0};
pub use serve::serve;
pub use service::{RateLimits, Service};
pub use state::{
    ImportQuotas, Settings,
    clock_watch::ClockWatch,
    key_file::{Links as KeyLinks, read as read_key_file, write_new as write_new_key_file},
    mailing::Mailing,
    sign_in_file::{SignInFileError, read_issuers},
    tokens::{Caller, KeyError, PublicKey, Tokens, new_key},
};
pub use webhooks::message::write_message;
