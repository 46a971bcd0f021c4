//! Sign-in by issuers of OpenID Connect: what is believed, what is not, and what an issuer that fails costs.

mod beginning;
mod linking;
mod outages;
mod secrets;
mod sessions;
mod settings;
mod tokens;
