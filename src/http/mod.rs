//! The REST API.
//!
//! The server: its workers, its routes, their document, and the page. The handlers are in `mancala-http-games` and `mancala-http-players`,
//! which build on `mancala-http`.

mod docs;
mod fixed;
mod openapi;
mod operation;
mod page;
mod routes;
mod serve;
mod service;
mod shared;
mod watching;

pub use mancala_http::{
    layers::{connections::KEEP_ALIVE, cors::ANY_ORIGIN},
    request::reader::Page,
    state::{
        ImportQuotas, Settings,
        clock_watch::ClockWatch,
        key_file::{Links as KeyLinks, read as read_key_file, write_new as write_new_key_file},
        mailing::Mailing,
        sign_in_file::{SignInFileError, read_issuers},
        tokens::{Caller, KeyError, PublicKey, Tokens, new_key},
    },
};
pub use mancala_http_games::{
    records::{
        import_forms::{Form, Refused, read_game},
        list_export::{ListForm, write_game},
    },
    webhooks::message::write_message,
};
pub use mancala_http_players::operators::key::{new_operator_key, operator_key_hash};
pub use operation::scrape::serve_metrics;
pub use routes::{document, document_3_0};
pub use serve::serve;
pub use service::{RateLimits, Service};
