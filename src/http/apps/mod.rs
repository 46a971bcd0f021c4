//! Apps: services of others whose users play here. An app's key opens what is here, and the app's webhooks; the exchange of
//! tokens needs none.

pub(crate) mod app;
pub(crate) mod caller;
pub(crate) mod exchange;
pub(crate) mod players;
mod subject_token;
pub(crate) mod tokens;
