//! The base of every part of a server process: its clock, its metrics and its log. Also the plans that divide its connections, files and
//! processors. Knows no game, no database and no HTTP.

#![forbid(unsafe_code)]

pub mod access_log;
pub mod clock;
pub mod connection_plan;
pub mod file_plan;
pub mod metrics;
pub mod outage;
pub mod pace;
pub mod priority;
pub mod repeats;
