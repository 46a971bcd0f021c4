//! What the tests share: a PostgreSQL, a server on it, its clients, and a stand-in for a webhook endpoint.

pub mod app;
pub mod binary;
pub mod endpoint;
pub mod listener;
