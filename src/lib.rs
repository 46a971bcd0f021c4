//! mancala-server: a game-service backend for Kalah, Oware, Congkak, Bao, Omweso, Toguz Kumalak and Bestemshe.
//!
//! The crates of the workspace, re-exported, and the modules of the service itself: live updates, jobs, the REST API.

#![forbid(unsafe_code)]

/// The rules of the games: boards, moves, results. Pure; knows nothing of players, time, storage or HTTP.
pub use mancala_rules as rules;

/// The languages in which the service speaks to people.
pub use mancala_texts as texts;

/// A played game and its players: commands, events and state. Pure; knows the rules, but no storage or HTTP.
pub use mancala_domain as domain;

/// The search: values of positions, best moves, and moves of a computer at each level. Pure; knows the rules.
pub use mancala_engine as engine;

/// Pictures of boards and games, as SVG. Pure; knows the rules.
pub use mancala_picture as picture;

/// PostgreSQL: every SQL statement, and the migrations.
pub use mancala_db as db;

/// The embedded PostgreSQL, which is the default database.
pub mod embedded;

/// Live updates: wakes the requests that wait for a game when it has changed.
pub mod live;

/// Sends webhooks to public addresses that players name. Knows none of the other modules.
pub mod webhook;

/// Tokens that others have signed, and their keys. Knows `webhook`, which carries its requests.
pub mod jose;

/// Sends mail by the operator's SMTP server. Knows the domain alone.
pub mod mail;
/// Sign-in by issuers of OpenID Connect. Knows `jose`, and `webhook`, which carries its requests.
pub mod openid;
/// Push notifications: what devices show, and how the services of push notifications are asked to show it.
pub mod push;

/// Hints: what each move of a position is worth, from the engine.
pub mod hints;

/// Keeps the engine from slowing down moves.
pub mod pace;

/// The work outside requests, such as settling games, playing for the computer, and long commands.
pub mod jobs;

/// The REST API: routes, wire types, errors, tokens and the OpenAPI document.
pub mod http;

/// The version and the commit of the running binary.
pub mod build_info;

/// The only clock.
pub mod clock;

/// The priority of threads whose work can wait.
pub mod priority;

/// How the connections to the database are divided.
pub mod connection_plan;

/// How the files that the process may open are divided.
pub mod file_plan;

/// The options of the command line and the environment.
pub mod config;

/// Metrics in Prometheus' text format.
pub mod metrics;

/// The access log on standard output.
pub mod access_log;

/// The begin and the end of an outage in the log.
pub mod outage;

/// How often a line of the log is repeated.
pub mod repeats;

/// Logs and traces.
pub mod telemetry;
