//! Translates metrics from OpenMetrics to Prometheus' older text format.

/// Adds `_total` to the names in the descriptions of counters. OpenMetrics, which the library writes, leaves it out; the older
/// format names a description as its samples. Otherwise the two formats agree, and every reader knows the older one.
pub(super) fn prometheus_text(open_metrics: &str) -> String {
    let counters: Vec<&str> =
        open_metrics.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.strip_suffix(" counter")).collect();
    let mut text = String::with_capacity(open_metrics.len() + counters.len() * 16);
    for line in open_metrics.lines() {
        let described = line.strip_prefix("# HELP ").or_else(|| line.strip_prefix("# TYPE "));
        match described.and_then(|rest| rest.split_once(' ')) {
            Some((name, rest)) if counters.contains(&name) => {
                text.push_str(&line[..7]);
                text.push_str(name);
                text.push_str("_total ");
                text.push_str(rest);
            }
            _ => text.push_str(line),
        }
        text.push('\n');
    }
    text
}
