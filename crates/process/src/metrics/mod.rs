//! Metrics of the process in Prometheus' text format.
//!
//! Every other module may count here; this one knows none of them. It gets numbers, and words from bounded sets (route
//! patterns, failure codes, variants), never text of a client.

mod families;
mod labels;
mod parts;
mod process;
mod registry;
mod text;
mod upkeep;
mod watched;

pub use labels::{
    AnalysisOutcome, AppendOutcome, CacheLookup, DeliveryOutcome, Grant, HintOutcome, IssuerOutcome, MailOutcome,
    Reader, TokenKind, Took,
};
pub use registry::Metrics;
pub use upkeep::{JobGauge, Upkeep};
pub use watched::{CacheSize, Connections, Waiters};
