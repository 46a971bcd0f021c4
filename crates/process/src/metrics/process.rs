//! The build, memory, processor time and files of this process, under the names that Prometheus' own clients use.

use std::fs;

use nix::sys::{
    resource::{Resource, UsageWho, getrlimit, getrusage},
    time::TimeVal,
};
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{
        counter::ConstCounter,
        family::Family,
        gauge::{ConstGauge, Gauge},
    },
    registry::Registry,
};

/// The files of this process, one entry each.
const OPEN_FILES: &str = "/proc/self/fd";

/// Facts about this process, memory among them.
const STATUS: &str = "/proc/self/status";

/// Registers when the process started, and which resources it uses.
pub(super) fn register_process(registry: &mut Registry, started_at_s: i64) {
    let started: Gauge = Gauge::default();
    started.set(started_at_s);
    registry.register("process_start_time_seconds", "Start time of the process in seconds since 1970", started);
    registry.register_collector(Box::new(Process));
}

/// Which build is running.
pub(super) type Build = Family<[(&'static str, &'static str); 2], Gauge>;

/// Reads the figures from the kernel each time the metrics are read. A figure that cannot be read is left out.
#[derive(Debug)]
struct Process;

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let status = fs::read_to_string(STATUS).unwrap_or_default();
        let mut gauge = |name: &str, help: &str, value: Option<u64>| match value {
            Some(value) => {
                let gauge = ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX));
                gauge.encode(encoder.encode_descriptor(name, help, None, gauge.metric_type())?)
            }
            None => Ok(()),
        };
        gauge("process_resident_memory_bytes", "Memory of the process in RAM", bytes(&status, "VmRSS:"))?;
        gauge("process_virtual_memory_bytes", "Address space of the process", bytes(&status, "VmSize:"))?;
        gauge("process_threads", "Threads of the process", field(&status, "Threads:"))?;
        // The folder that is being read has a descriptor of its own, which does not count.
        let open = fs::read_dir(OPEN_FILES).ok().map(|files| (files.count() as u64).saturating_sub(1));
        gauge("process_open_fds", "Open files of the process, connections included", open)?;
        let limit = getrlimit(Resource::RLIMIT_NOFILE).ok().map(|(soft, _)| soft);
        gauge("process_max_fds", "How many files the process may open", limit)?;
        let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return Ok(()) };
        let cpu = ConstCounter::new(seconds(usage.user_time()) + seconds(usage.system_time()));
        let help = "Processor time of the process in seconds, without that of the embedded PostgreSQL";
        cpu.encode(encoder.encode_descriptor("process_cpu_seconds", help, None, cpu.metric_type())?)
    }
}

/// A figure of the status.
fn field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// A figure of the status that is in KiB.
fn bytes(status: &str, name: &str) -> Option<u64> {
    Some(field(status, name)? * 1024)
}

fn seconds(time: TimeVal) -> f64 {
    let micros = i32::try_from(time.tv_usec()).map_or(0.0, f64::from);
    let whole = u32::try_from(time.tv_sec()).map_or(0.0, f64::from);
    whole + micros / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read_by_its_names() {
        let status = "Name:\tmancala\nVmSize:\t  2048 kB\nVmRSS:\t    12 kB\nThreads:\t7\n";
        assert_eq!(bytes(status, "VmRSS:"), Some(12 * 1024));
        assert_eq!((field(status, "Threads:"), field(status, "Absent:")), (Some(7), None));
    }
}
