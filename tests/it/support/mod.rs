//! What the tests share: a PostgreSQL, a server on it, its clients, and a stand-in for a webhook endpoint.

pub mod answer;
pub mod apns;
pub mod app;
pub mod apps;
pub mod binary;
pub mod calls;
pub mod clock;
pub mod cluster;
pub mod copies;
pub mod database;
pub mod detour;
pub mod endpoint;
pub mod fcm;
pub mod games;
pub mod issuer;
pub mod job;
pub mod key_server;
pub mod listener;
pub mod programs;
pub mod push;
pub mod push_service;
pub mod replay;
pub mod scrape;
pub mod smtp;
pub mod standby;
pub mod webhooks;
