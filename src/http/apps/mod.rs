//! Apps: services of others whose users play here. An app's key opens what is here, and the app's webhooks.

pub(crate) mod app;
pub(crate) mod caller;
pub(crate) mod players;
pub(crate) mod tokens;
