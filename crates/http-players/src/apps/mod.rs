//! Apps: other services whose users play here. An app's key opens these operations and the app's webhooks; the exchange of tokens needs no
//! key.

pub mod app;
pub mod exchange;
pub mod players;
mod subject_token;
pub mod tokens;
