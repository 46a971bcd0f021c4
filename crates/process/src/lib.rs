//! What every part of a server process stands on: its clock, its metrics, and the lines of its log. Also how its connections, files
//! and processors are divided. Knows no game, no database and no HTTP.

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
