//! mancala-server: a game-service backend for Kalah, Oware, Congkak, Bao, Omweso, Toguz Kumalak and Bestemshe.
//!
//! The crates of the workspace, re-exported, and the modules of the service itself: live updates, jobs, the REST API.

#![forbid(unsafe_code)]

/// The rules of the games: boards, moves, results. Pure; knows nothing of players, time, storage or HTTP.
pub use mancala_rules as rules;

/// A played game and its players: commands, events and state. Pure; knows the rules, but no storage or HTTP.
pub use mancala_domain as domain;

/// The search: values of positions, best moves, and moves of a computer at each level. Pure; knows the rules.
pub use mancala_engine as engine;

/// Pictures of boards and games, as SVG. Pure; knows the rules.
pub use mancala_picture as picture;

/// PostgreSQL: every SQL statement, and the migrations.
pub use mancala_db as db;

/// The base of every part of the process: clock, metrics, log, and the plans of connections and files.
pub use mancala_process::{access_log, clock, connection_plan, file_plan, metrics, outage, priority, repeats};

/// Requests that leave the service: webhooks, push notifications, mail, and requests to issuers of sign-ins.
pub use mancala_outbound::{jose, mail, openid, push, webhook};

/// Live updates: wakes the requests that wait for a game when it has changed.
pub use mancala_wire::live;

/// Hints: the value of each move in a position, from the engine.
pub use mancala_http_games::hints;

/// The work outside of requests, such as settling games, playing for the computer, and long commands.
pub use mancala_jobs as jobs;

/// The embedded PostgreSQL, which is the default database.
pub mod embedded;

/// The REST API: routes, wire types, errors, tokens and the OpenAPI document.
pub mod http;

/// The version and the commit of the running binary.
pub mod build_info;

/// The options of the command line and the environment.
pub mod config;

/// Logs and traces.
pub mod telemetry;
