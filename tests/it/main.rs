//! The service over real HTTP and a real PostgreSQL. The folders have the names of those in the crates of the REST API.

mod answer;
mod apps;
mod docs;
mod email;
mod events;
mod games;
mod layers;
mod operation;
mod operators;
mod page;
mod players;
mod push;
mod records;
mod request;
mod sign_in;
mod storage;
mod study;
mod support;
mod tidy;
mod variants;
mod webhooks;
