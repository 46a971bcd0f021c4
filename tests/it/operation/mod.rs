//! The process as its operator sees it: options, health, metrics, traces and the way it stops.

pub mod metrics;
pub mod process;
pub mod stopping;
pub mod traces;
