//! Spans of statements.

use tracing::Span;

/// The span of a statement, named as OpenTelemetry names things: `summary` is what it does to which table, and nothing of
/// its values. It is there only if traces are exported or the log is at `debug`; otherwise this costs one comparison.
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
