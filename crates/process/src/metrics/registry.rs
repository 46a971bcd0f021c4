//! All metrics of a process, and the methods that count.

use std::{fmt, sync::atomic::AtomicU64, time::Duration};

use prometheus_client::{encoding::text::encode_registry, metrics::gauge::Gauge, registry::Registry};

use super::{
    families::{Counters, IssuerLabels, RequestLabels, RouteLabels, registered},
    labels::{
        AnalysisOutcome, AppendOutcome, CacheLookup, ConnectionUse, DeliveryOutcome, Grant, HintOutcome, IssuerOutcome,
        Labelled, MailOutcome, Reader, TokenKind, Took,
    },
    parts::{Archive, Engine, Games, Outbound, Requests, SignIns},
    process::{Build, register_process},
    text::prometheus_text,
    upkeep::Upkeep,
    watched::Watched,
};

/// The prefix of all names but those that Prometheus defines.
const PREFIX: &str = "mancala";

/// The metrics of one process. Counting takes a few atomic operations.
pub struct Metrics {
    registry: Registry,
    build: Build,
    watched: Watched,
    upkeep: Upkeep,
    requests: Requests,
    games: Games,
    sign_ins: SignIns,
    outbound: Outbound,
    engine: Engine,
    archive: Archive,
    standby_reads: Counters<Reader>,
    clock_offset_seconds: Gauge<f64, AtomicU64>,
}

impl Metrics {
    /// The metrics of a process that started at this time, in seconds since 1970.
    pub fn new(started_at_s: i64) -> Self {
        let mut registry = Registry::default();
        register_process(&mut registry, started_at_s);
        let prefixed = registry.sub_registry_with_prefix(PREFIX);
        let (watched, upkeep) = (Watched::default(), Upkeep::default());
        watched.register(prefixed);
        upkeep.register(prefixed);
        Self {
            build: registered(
                prefixed,
                "build_info",
                "Always 1; the labels are the running version and its commit",
                Build::default(),
            ),
            watched,
            upkeep,
            requests: Requests::register(prefixed),
            games: Games::register(prefixed),
            sign_ins: SignIns::register(prefixed),
            outbound: Outbound::register(prefixed),
            engine: Engine::register(prefixed),
            archive: Archive::register(prefixed),
            standby_reads: Counters::register(
                prefixed,
                "standby_reads",
                "Reads that a standby may answer, by what has answered them",
                "by",
            ),
            clock_offset_seconds: registered(
                prefixed,
                "clock_offset_seconds",
                "How far this machine's time of day is ahead of the database's clock, which the server follows",
                Gauge::default(),
            ),
            registry,
        }
    }

    /// Sets which build is running.
    pub fn set_build(&self, version: &'static str, commit: &'static str) {
        self.build.get_or_create(&[("version", version), ("commit", commit)]).set(1);
    }

    /// Counts an answered request. `route` is the pattern of its path, never the path.
    pub fn request_answered(&self, method: &'static str, route: &'static str, status: u16, took: Took) {
        let labels = RouteLabels { method, route };
        match took {
            Took::Working(time) => self.requests.seconds.get_or_create(&labels).observe(time.as_secs_f64()),
            Took::Waiting(time) => self.requests.wait_seconds.observe(time.as_secs_f64()),
        }
        self.requests.answered.get_or_create(&RequestLabels { method, route, status }).inc();
    }

    /// Counts an answered failure by its code.
    pub fn request_refused(&self, code: &'static str) {
        self.requests.refusals.get_or_create(&[("code", code)]).inc();
    }

    pub fn append_ended(&self, outcome: AppendOutcome, took: Duration) {
        self.games.appends.count(outcome);
        self.games.append_seconds.observe(took.as_secs_f64());
    }

    /// Counts a group of appends that were sent to the database together.
    pub fn group_written(&self, appends: usize) {
        self.games.append_group_size.observe(f64::from(u32::try_from(appends).unwrap_or(u32::MAX)));
    }

    /// Counts a lookup of a game in the cache.
    pub fn game_looked_up(&self, lookup: CacheLookup) {
        self.games_looked_up(lookup, 1);
    }

    /// Counts the lookups of several games in the cache that ended alike.
    pub fn games_looked_up(&self, lookup: CacheLookup, games: usize) {
        match lookup {
            CacheLookup::Hit => self.games.cache_hits.inc_by(games as u64),
            CacheLookup::Miss => self.games.cache_misses.inc_by(games as u64),
        };
    }

    /// Counts a change that was decided again.
    pub fn retried(&self) {
        self.games.retries.inc();
    }

    pub fn move_played(&self, variant: &'static str) {
        self.games.moves.get_or_create(&[("variant", variant)]).inc();
    }

    pub fn token_issued(&self, grant: Grant) {
        self.sign_ins.tokens_issued.count(grant);
    }

    pub fn token_refused(&self, kind: TokenKind) {
        self.sign_ins.tokens_refused.count(kind);
    }

    pub fn webhook_sent(&self, outcome: DeliveryOutcome) {
        self.outbound.webhook_deliveries.count(outcome);
    }

    pub fn push_sent(&self, outcome: DeliveryOutcome) {
        self.outbound.pushes.count(outcome);
    }

    pub fn mail_ended(&self, outcome: MailOutcome) {
        self.outbound.mails.count(outcome);
    }

    /// Sets the age of the oldest mail that was not sent.
    pub fn set_oldest_mail(&self, seconds: i64) {
        self.outbound.oldest_mail_seconds.set(seconds);
    }

    /// The counters of these codes of failures and of these variants exist from now on: a rate sees their first increment.
    pub fn know_words(
        &self,
        codes: impl IntoIterator<Item = &'static str>,
        variants: impl IntoIterator<Item = &'static str>,
    ) {
        codes.into_iter().for_each(|code| drop(self.requests.refusals.get_or_create(&[("code", code)])));
        variants.into_iter().for_each(|variant| drop(self.games.moves.get_or_create(&[("variant", variant)])));
    }

    /// The counters of an issuer exist from now on.
    pub fn know_issuer(&self, issuer: &str) {
        for outcome in IssuerOutcome::ALL.iter().map(|outcome| outcome.word()) {
            drop(self.sign_ins.issuer_requests.get_or_create(&IssuerLabels { issuer: issuer.to_owned(), outcome }));
        }
    }

    /// Counts what an issuer has answered. `issuer` is the operator's id.
    pub fn issuer_asked(&self, issuer: &str, outcome: IssuerOutcome) {
        let labels = IssuerLabels { issuer: issuer.to_owned(), outcome: outcome.word() };
        self.sign_ins.issuer_requests.get_or_create(&labels).inc();
    }

    /// Counts connections to webhooks that were opened, and requests over kept ones.
    pub fn webhooks_connected(&self, opened: u64, reused: u64) {
        self.outbound.webhook_connections.count_by(ConnectionUse::Opened, opened);
        self.outbound.webhook_connections.count_by(ConnectionUse::Reused, reused);
    }

    /// Sets the number of connections to webhooks that are open.
    pub fn set_webhook_connections_open(&self, count: usize) {
        self.outbound.webhook_connections_open.set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// Sets the number of games in which the computer is to move, and for how long the oldest has waited.
    pub fn set_computer_turns_waiting(&self, count: i64, oldest_s: i64) {
        self.engine.turns_waiting.set(count);
        self.engine.oldest_turn_seconds.set(oldest_s);
    }

    /// Counts a computer's move, and the time since its turn began.
    pub fn computer_moved(&self, took: Duration) {
        self.engine.turn_seconds.observe(took.as_secs_f64());
    }

    pub fn analysis_ended(&self, outcome: AnalysisOutcome) {
        self.engine.analyses.count(outcome);
    }

    /// Counts a hint that ended.
    pub fn hint_ended(&self, outcome: HintOutcome) {
        self.engine.hints.count(outcome);
    }

    /// Counts a read that a standby may answer.
    pub fn standby_read(&self, by: Reader) {
        self.standby_reads.count(by);
    }

    /// Sets the number of analyses in the queue.
    pub fn set_analyses_waiting(&self, count: i64) {
        self.engine.analyses_waiting.set(count);
    }

    /// Sets the number of games that wait for the explorer, and how many of them wait after a failure.
    pub fn set_unexplored(&self, waiting: i64, put_off: i64) {
        self.archive.unexplored_games.set(waiting);
        self.archive.unexplored_games_put_off.set(put_off);
    }

    /// Counts games whose logs were archived, and those that failed.
    pub fn games_archived(&self, games: u64, failures: u64) {
        self.archive.archived.inc_by(games);
        self.archive.failures.inc_by(failures);
    }

    /// Sets how far the machine's time of day is ahead of the database's clock.
    pub fn set_clock_offset(&self, seconds: f64) {
        self.clock_offset_seconds.set(seconds);
    }

    /// The gauges of upkeep.
    pub fn upkeep(&self) -> &Upkeep {
        &self.upkeep
    }

    /// The gauges that are read from their owners.
    pub fn watched(&self) -> &Watched {
        &self.watched
    }

    /// Counts lines of the access log that were not written.
    pub fn access_lines_dropped(&self, lines: u64) {
        self.requests.access_lines_dropped.inc_by(lines);
    }

    /// All metrics in Prometheus' text format, version 0.0.4.
    pub fn text(&self) -> String {
        self.watched.read();
        let mut open_metrics = String::new();
        encode_registry(&mut open_metrics, &self.registry).expect("writing to a string does not fail");
        prometheus_text(&open_metrics)
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::{super::Waiters, *};

    #[test]
    fn every_sample_is_described_under_its_own_name() {
        let metrics = Metrics::new(15);
        metrics.request_answered("GET", "/v1/games/{id}", 200, Took::Working(Duration::from_millis(3)));
        metrics.request_answered("GET", "/v1/games/{id}", 304, Took::Waiting(Duration::from_secs(20)));
        metrics.request_refused("not_found");
        metrics.move_played("kalah");
        metrics.append_ended(AppendOutcome::Conflict, Duration::from_millis(1));
        metrics.token_issued(Grant::Refresh);
        metrics.watched().waiters(|| Some(Waiters { all: 1, streams: 1 }));
        let text = metrics.text();
        for line in [
            "process_start_time_seconds 15",
            "# TYPE mancala_http_requests_total counter",
            r#"mancala_http_requests_total{method="GET",route="/v1/games/{id}",status="200"} 1"#,
            r#"mancala_http_request_duration_seconds_bucket{le="0.005",method="GET",route="/v1/games/{id}"} 1"#,
            r#"mancala_http_request_duration_seconds_count{method="GET",route="/v1/games/{id}"} 1"#,
            r#"mancala_http_requests_total{method="GET",route="/v1/games/{id}",status="304"} 1"#,
            r#"mancala_http_wait_duration_seconds_bucket{le="30.0"} 1"#,
            r#"mancala_http_refusals_total{code="not_found"} 1"#,
            r#"mancala_moves_total{variant="kalah"} 1"#,
            r#"mancala_appends_total{outcome="conflict"} 1"#,
            r#"mancala_tokens_issued_total{grant="refresh"} 1"#,
            "mancala_waiters 1",
            "mancala_streams 1",
        ] {
            assert!(text.lines().any(|known| known == line), "{line} is missing in\n{text}");
        }
        let mut type_of = std::collections::BTreeMap::new();
        for line in text.lines() {
            if let Some((name, kind)) = line.strip_prefix("# TYPE ").and_then(|rest| rest.split_once(' ')) {
                assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
                assert!(type_of.insert(name, kind).is_none(), "{line}");
            } else if !line.starts_with("# HELP ") {
                let name = line.split(['{', ' ']).next().unwrap_or_default();
                let family = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
                let family = family.filter(|family| type_of.get(family) == Some(&"histogram")).unwrap_or(name);
                assert!(type_of.contains_key(family), "{line} is not described");
            }
        }
    }
}
