//! mancala-server: a game-service backend for Kalah, Oware and Congkak.
//!
//! The modules in reading order: the games themselves, a played game and its people, where they are stored, who
//! waits for them, how they are reached.

/// The games: boards, moves, results. Pure; knows nothing of players, time, storage or HTTP.
pub use mancala_rules as rules;

/// A played game and its players: what may happen, and what follows. Pure; knows the rules, but no storage or HTTP.
pub use mancala_domain as domain;

/// The search: what a position is worth, which move is best, and moves for a computer of any strength. Pure; knows the rules.
pub use mancala_engine as engine;

/// Pictures of boards and games, as SVG. Pure; knows the rules.
pub use mancala_picture as picture;

/// PostgreSQL: every SQL statement, and the migrations.
pub use mancala_db as db;

/// The default database, and how it is reached.
pub mod embedded;

/// Who waits for which game, and is woken when it has changed.
pub mod live;

/// Sends to addresses that players name, and to no others. Knows nothing of ours.
pub mod webhook;

/// What is done without being asked, such as ending the games of the erased and playing for the computer; and what long commands do.
pub mod jobs;

/// The REST API: routes, wire types, errors, tokens and the OpenAPI document.
pub mod http;

/// The only clock.
pub mod clock;

/// Options of the command line and the environment.
pub mod config;

/// What the service counts, as Prometheus reads it. Everybody may count; it knows nobody.
pub mod metrics;

/// Logs and traces: text for a person at a terminal, JSON for everything else, spans for a collector.
pub mod telemetry;
