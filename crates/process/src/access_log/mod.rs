//! The access log: one line for each answered request, on standard output.
//!
//! Workers hand entries to a queue and never wait. A thread formats and writes them. A full queue drops entries, and a metric counts
//! them.

mod entry;
mod settings;
mod writer;

pub use entry::{AccessLogEntry, CLIENT_CLOSED};
pub use settings::{Format, Level};
pub use writer::AccessLog;
