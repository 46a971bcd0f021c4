//! Spans of statements.

use tracing::Span;

/// The span of a statement, in OpenTelemetry's terms. `summary` is its operation and its tables, without any value. The
/// span exists only if traces are exported or the log is at `debug`; otherwise this costs one comparison.
pub(crate) fn statement(summary: &'static str) -> Span {
    tracing::debug_span!(
        "statement",
        otel.name = summary,
        otel.kind = "client",
        db.system.name = "postgresql",
        db.operation.name = summary.split(' ').next(),
        db.query.summary = summary,
    )
}
