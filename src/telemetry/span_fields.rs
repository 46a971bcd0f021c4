//! The fields of a span as a JSON object, for the log as JSON. Each request has a span, and most are never logged.
//!
//! The library's own format puts the values into a map first, which takes longer.

use std::{
    fmt::{self, Debug},
    mem,
};

use serde_json::Value;
use tracing::{
    field::{Field, Visit},
    span::Record,
};
use tracing_subscriber::{
    field::RecordFields,
    fmt::{FormatFields, FormattedFields, format::Writer},
};

/// Longer than the fields of most requests. The buffer then does not grow, and is copied once.
const USUAL_BYTES: usize = 512;

/// Writes the members of the object as they are recorded. A field that is recorded again follows as another member. The library takes the
/// last of equal names for a line of the log.
#[derive(Debug)]
pub(super) struct SpanFields;

impl<'writer> FormatFields<'writer> for SpanFields {
    fn format_fields<R: RecordFields>(&self, mut writer: Writer<'writer>, fields: R) -> fmt::Result {
        let mut members = Members { object: String::with_capacity(USUAL_BYTES) };
        members.object.push('{');
        fields.record(&mut members);
        members.object.push('}');
        writer.write_str(&members.object)
    }

    fn add_fields(&self, span: &'writer mut FormattedFields<Self>, fields: &Record<'_>) -> fmt::Result {
        let mut members = Members { object: mem::take(&mut span.fields) };
        let end = members.object.pop();
        debug_assert_eq!(end, Some('}'), "the fields of a span are an object");
        fields.record(&mut members);
        members.object.push('}');
        span.fields = members.object;
        Ok(())
    }
}

/// An object without its end, to which members are added.
struct Members {
    object: String,
}

impl Members {
    fn add_name(&mut self, field: &Field) {
        if !self.object.ends_with('{') {
            self.object.push(',');
        }
        // A field that is named like a keyword has the prefix of raw names.
        let name = field.name();
        self.push_text(name.strip_prefix("r#").unwrap_or(name));
        self.object.push(':');
    }

    fn add(&mut self, field: &Field, value: impl Into<Value>) {
        self.add_name(field);
        self.object.push_str(&value.into().to_string());
    }

    fn push_text(&mut self, text: &str) {
        if text.bytes().any(|byte| byte < b' ' || byte == b'"' || byte == b'\\') {
            self.object.push_str(&Value::from(text).to_string());
        } else {
            self.object.extend(["\"", text, "\""]);
        }
    }
}

impl Visit for Members {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.record_str(field, &format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add_name(field);
        self.push_text(value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        // JSON has no infinity: it becomes null.
        self.add(field, value);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::{Arc, Mutex},
    };

    use serde_json::json;
    use tracing::{Span, field::Empty, info, info_span, subscriber::with_default};
    use tracing_subscriber::{fmt, layer::SubscriberExt, registry};

    use super::*;

    /// The log of a test.
    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("no test panics here").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// The fields of a span, as a line of the log has them.
    fn logged(span: impl FnOnce() -> Span) -> Value {
        let log = Log::default();
        let writer = log.clone();
        let layer = fmt::layer().json().fmt_fields(SpanFields).with_writer(move || writer.clone());
        with_default(registry().with(layer), || span().in_scope(|| info!("a line")));
        let line: Value = serde_json::from_slice(&log.0.lock().expect("no test panics here")).expect("JSON");
        line["span"].clone()
    }

    #[test]
    fn every_kind_of_value_is_json() {
        let infinite = f64::INFINITY;
        let span = || {
            info_span!(
                "all", text = "a \"b\"\\\n\u{7f}ü", number = -3, count = 4_u64, share = 0.25, infinite, is = true,
                debug = ?[1], shown = %"x\ty", r#type = "raw", a.b = "dotted"
            )
        };
        assert_eq!(
            logged(span),
            json!({
                "name": "all", "text": "a \"b\"\\\n\u{7f}ü", "number": -3, "count": 4, "share": 0.25, "infinite": null,
                "is": true, "debug": "[1]", "shown": "x\ty", "type": "raw", "a.b": "dotted"
            })
        );
    }

    #[test]
    fn a_later_value_is_added() {
        let recorded = |span: Span| {
            span.record("late", 1);
            span.record("later", "two");
            span.record("late", 3);
            span
        };
        let expected = json!({ "name": "s", "early": 0, "late": 3, "later": "two" });
        assert_eq!(logged(|| recorded(info_span!("s", early = 0, late = Empty, later = Empty))), expected);
        let expected = json!({ "name": "s", "late": 3, "later": "two" });
        assert_eq!(logged(|| recorded(info_span!("s", late = Empty, later = Empty))), expected);
        assert_eq!(logged(|| info_span!("s", late = Empty)), json!({ "name": "s" }));
    }
}
