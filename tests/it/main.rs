//! The service over real HTTP and a real PostgreSQL: one file a resource, beside what concerns them all.

mod accounts;
mod app;
mod bounds;
mod concurrency;
mod cors;
mod durability;
mod erasure;
mod errors;
mod export;
mod games;
mod idempotency;
mod invitations;
mod joining;
mod lists;
mod moves;
mod openapi;
mod operation;
mod players;
mod readme;
mod refresh;
mod storage;
mod tidy;
mod tokens;
mod variants;
mod vectors;
