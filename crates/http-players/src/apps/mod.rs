//! Apps: services of others whose users play here. An app's key opens what is here, and the app's webhooks; the exchange of
//! tokens needs none.

pub mod app;
pub mod exchange;
pub mod players;
mod subject_token;
pub mod tokens;
