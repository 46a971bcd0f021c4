//! The process as its operator sees it: options, health, metrics, traces and the way it stops.

pub mod access_log;
pub mod backups;
pub mod compatibility;
pub mod connections;
pub mod database;
pub mod keys;
pub mod lasting;
pub mod metrics;
pub mod mistakes;
pub mod options;
pub mod outage_log;
pub mod process;
pub mod readiness;
pub mod rights;
pub mod service_manager;
pub mod standby;
pub mod stopping;
pub mod traces;
pub mod upkeep;
