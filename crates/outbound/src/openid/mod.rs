//! Sign-in by others: issuers of OpenID Connect, as the operator configures them. It reads their documents, exchanges codes, and checks ID
//! tokens. It knows no player and no session.
//!
//! The checks are our own, in a few hundred lines on `jose`: docs/decisions/0035 says why.

mod client_secret;
mod documents;
mod failure;
mod id_token;
mod issuer;
mod settings;

pub use failure::Failure;
pub use issuer::{Exchange, Issuer, Issuers, Request, Subject};
pub use settings::{IssuerSettings, SettingsError, parse};
